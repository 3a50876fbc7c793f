"""Tables of text (CSV, TSV and their kin): a row is a record, shown as it is written; the header comes with each page.

Rows keep the file's own quotes and delimiters, so that what is shown can be used as an anchor of a patch.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agenvoy import textual
from agenvoy.readers.base import Extract, Reading, Source, Wish
from agenvoy.readers.dialect import Dialect, detect, fields
from agenvoy.readers.kinds import form_of_table, no_reader
from agenvoy.readers.picking import Row, RowPicker
from agenvoy.readers.records import HELD, RecordMarks
from agenvoy.readers.rows import check, numbered

NUL = "␀".encode()  # how a NUL is shown: as a picture of itself, because the character ends strings in many a program


class CsvReader:
    """Shows records as `<row>\\t<record>`."""

    dear = False

    def key(self, wish: Wish) -> str:
        """Nothing is kept: the file itself is its text."""
        return ""

    def extract(self, source: Source, wish: Wish) -> Extract:
        """All records; the file is held in memory."""
        form = _form(source)
        data = textual.to_utf8(b"".join(source.blocks()), form)
        data = data.replace(b"\r\n", b"\n") if b"\n" in data else data.replace(b"\r", b"\n")
        records = RecordMarks(_dialect(source, form)).feed(data, final=True).removesuffix(b"\n").split(b"\n")
        units = [record.replace(HELD, b"\n").replace(b"\0", NUL).decode("utf-8", "replace") for record in records]
        return Extract("csv", "row", "row", units)

    def read(self, source: Source, wish: Wish) -> Reading:
        """The wanted records; see `Reader.read`.

        Raises:
            AgenvoyError: binary_file; invalid_arguments, which tells how many records there are.
        """
        form = _form(source)
        dialect = _dialect(source, form)
        picker, stream = _scan(source, form, dialect, wish, b"\n")
        if stream.better is not None:
            form = stream.better
            dialect = _dialect(source, form)
            picker, stream = _scan(source, form, dialect, wish, b"\n")
        if stream.newline == "cr":
            picker, stream = _scan(source, form, dialect, wish, b"\r")
        total = picker.finish()
        check(source.shown, wish, total)
        return _reading(picker, total, wish, dialect, form.name, stream.newline)


READER = CsvReader()


def _form(source: Source) -> textual.TextForm:
    form = form_of_table(source)
    if form is None:
        raise no_reader(source, "binary", textual.looks_like(source.head))
    return form


_LOOKED_AT = 256 * 1024  # bytes at either end of a table by which its dialect is told


def _dialect(source: Source, form: textual.TextForm) -> Dialect:
    found = detect(textual.decode(source.head[:_LOOKED_AT], form), source.whole, source.shown)
    if found.delimiter or (source.whole and len(source.head) <= _LOOKED_AT):
        return found
    # a long preamble of single words: the table may begin behind it
    tail = textual.decode(source.tail(_LOOKED_AT)[: _LOOKED_AT // 2 * 2], form).partition("\n")[2]
    return replace(detect(tail, True, source.shown), header=False)


def _scan(
    source: Source, form: textual.TextForm, dialect: Dialect, wish: Wish, mark: bytes
) -> tuple[RowPicker, textual.Utf8Stream]:
    """One pass over the whole file."""
    # the header is shown on top of what was asked for
    picker = RowPicker(_ranges(wish, dialect), mark, wish.max_units + _shows_header(wish, dialect), wish.max_bytes)
    stream, marks = textual.Utf8Stream(form), RecordMarks(dialect, mark)
    for block in source.blocks():
        picker.feed(marks.feed(stream.feed(block)).replace(b"\0", NUL))
    picker.feed(marks.feed(stream.feed(b"", final=True), final=True).replace(b"\0", NUL))
    return picker, stream


def _shows_header(wish: Wish, dialect: Dialect) -> bool:
    return dialect.header and wish.offset > 1


def _ranges(wish: Wish, dialect: Dialect) -> list[tuple[int, int]]:
    first = max(1, wish.offset)
    count = wish.max_units if wish.limit is None else min(wish.limit, wish.max_units)
    last = first + max(1, count) - 1
    if not _shows_header(wish, dialect):
        return [(first, last)]
    return [(1, last)] if first == 2 else [(1, 1), (first, last)]


def _unheld(row: Row) -> Row:
    """The row with its inner newlines as LF."""
    line = row.line.replace(b"\r" + HELD, HELD)
    return replace(row, line=line.replace(HELD, b"\n"), length=row.length - len(row.line) + len(line))


def _reading(picker: RowPicker, total: int, wish: Wish, dialect: Dialect, encoding: str, newline: str) -> Reading:
    rows = [_unheld(row) for row in picker.rows]
    extra: dict[str, Any] = {
        "delimiter": dialect.delimiter or None,
        "quote": dialect.quote,
        "columns": dialect.columns,
        "header": dialect.header,
    }
    widths = [len(fields(row.line.decode("utf-8", "replace"), dialect.delimiter, dialect.quote)) for row in rows]
    if dialect.delimiter and rows and (min(widths) != dialect.columns or max(widths) != dialect.columns):
        extra["ragged"] = [min(widths), max(widths)]  # the fewest and most fields of the records shown
    if not rows:
        return Reading("csv", "row", 0, 0, 0, None, "[the file is empty]", encoding, "none", extra)
    wanted = [row.number for row in rows if row.number >= wish.offset]
    first, last = (wanted[0], wanted[-1]) if wanted else (wish.offset, wish.offset)
    following = last + 1 if last < total else None
    text = numbered(rows, wish.max_bytes)
    if following is not None:
        text += f"\n[rows {first}-{last} of {total}; call again with offset={following} for more]"
    return Reading("csv", "row", total, first, last, following, text, encoding, newline, extra)
