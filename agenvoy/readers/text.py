"""Plain text of any encoding and any size: rows, streamed."""

from __future__ import annotations

from collections.abc import Sequence

from agenvoy import textual
from agenvoy.errors import AgenvoyError
from agenvoy.readers.base import Reading, Source, Wish
from agenvoy.readers.kinds import no_reader
from agenvoy.readers.picking import Row, RowPicker


class TextReader:
    """Shows rows as `<row>\\t<line>`."""

    def read(self, source: Source, wish: Wish) -> Reading:
        """The wanted rows; see `Reader.read`.

        Raises:
            AgenvoyError: binary_file; invalid_arguments, which tells how many rows there are.
        """
        form = textual.sniff(source.head, source.whole)
        if form is None:
            raise no_reader(source, "binary", textual.looks_like(source.head))
        ranges = _ranges(wish)
        picker, stream = _scan(source, form, ranges, b"\n", wish)
        if stream.better is not None:
            form = stream.better
            picker, stream = _scan(source, form, ranges, b"\n", wish)
        if stream.newline == "cr":
            picker, stream = _scan(source, form, ranges, b"\r", wish)
        total = picker.finish()
        _check(source.shown, wish, total)
        return _reading(picker, total, wish, form, stream.newline)


READER = TextReader()


def _scan(
    source: Source, form: textual.TextForm, ranges: list[tuple[int, int]], mark: bytes, wish: Wish
) -> tuple[RowPicker, textual.Utf8Stream]:
    """One pass over the whole file."""
    picker = RowPicker(ranges, mark, wish.max_units, wish.max_bytes)
    stream = textual.Utf8Stream(form)
    for block in source.blocks():
        picker.feed(stream.feed(block))
    picker.feed(stream.feed(b"", final=True))
    return picker, stream


def _ranges(wish: Wish) -> list[tuple[int, int]]:
    """The wanted rows, as ranges that neither touch nor overlap."""
    if wish.around is None:
        first = max(1, wish.offset)
        count = wish.max_units if wish.limit is None else min(wish.limit, wish.max_units)
        return [(first, first + max(1, count) - 1)]
    merged: list[tuple[int, int]] = []
    for row in sorted(set(wish.around)):
        first, last = max(1, row - wish.context), row + wish.context
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    return merged


def _check(shown: str, wish: Wish, total: int) -> None:
    """Refuse what the file does not have; only now is known how many rows there are."""
    size = f"{shown} has {total:,} row{'' if total == 1 else 's'}"
    last = max(total, 1)  # an empty file may be read from row 1
    if wish.around is not None:
        if not wish.around or wish.context < 0:
            raise _refused(f"around needs a row and a context of 0 or more; {size}", total)
        if bad := next((row for row in wish.around if not 1 <= row <= last), None):
            raise _refused(f"there is no row {bad}: {size}", total)
        if 0 in wish.around:
            raise _refused(f"rows are counted from 1; {size}", total)
        return
    if wish.offset < 1 or wish.offset > last:
        raise _refused(f"offset={wish.offset} is not a row: {size}", total)
    if wish.limit is not None and wish.limit < 1:
        raise _refused(f"limit={wish.limit} asks for nothing; {size}", total)


def _refused(message: str, total: int) -> AgenvoyError:
    return AgenvoyError("invalid_arguments", message, f"use row numbers from 1 to {max(total, 1)}", total=total)


def _reading(picker: RowPicker, total: int, wish: Wish, form: textual.TextForm, newline: str) -> Reading:
    rows = picker.rows
    if not rows:
        return Reading("text", "line", 0, 0, 0, None, "[the file is empty]", form.name, "none")
    first, last = rows[0].number, rows[-1].number
    following = picker.stopped if wish.around is not None else (last + 1 if last < total else None)
    text = _shown(rows, wish.max_bytes)
    if following is not None:
        text += f"\n[lines {first}-{last} of {total}; call again with offset={following} for more]"
    return Reading("text", "line", total, first, last, following, text, form.name, newline)


def _shown(rows: Sequence[Row], cap: int) -> str:
    """`<row>\\t<line>` per row, `...` for gaps; a row beyond the cap is cut and says so."""
    parts: list[str] = []
    before = rows[0].number - 1
    for row in rows:
        if row.number != before + 1:
            parts.append("...")
        before = row.number
        line = row.line
        if row.length > len(line):
            line = _whole_characters(line)
            cut = f" [row cut: {len(line)} of {row.length} bytes shown]"
        else:
            cut = ""
        parts.append(f"{row.number}\t{line.decode('utf-8', 'replace')}{cut}")
    return "\n".join(parts)


def _whole_characters(line: bytes) -> bytes:
    """The bytes without a character that a cut left incomplete at their end."""
    end = len(line)
    while end and end > len(line) - 4 and line[end - 1] & 0xC0 == 0x80:
        end -= 1
    if end and line[end - 1] >= 0xC0:
        width = 2 if line[end - 1] < 0xE0 else 3 if line[end - 1] < 0xF0 else 4
        return line if end - 1 + width <= len(line) else line[: end - 1]
    return line
