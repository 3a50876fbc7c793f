"""Plain text of any encoding and any size: rows, streamed."""

from __future__ import annotations

from agenvoy import textual
from agenvoy.readers.base import Extract, Reading, Source, Wish
from agenvoy.readers.kinds import no_reader
from agenvoy.readers.picking import RowPicker
from agenvoy.readers.rows import check, numbered


class TextReader:
    """Shows rows as `<row>\\t<line>`."""

    dear = False

    def key(self, wish: Wish) -> str:
        """Nothing is kept: the file itself is its text."""
        return ""

    def extract(self, source: Source, wish: Wish) -> Extract:
        """All rows; a search reads texts by itself, so this is for small ones."""
        form = textual.sniff(source.head, source.whole)
        if form is None:
            raise no_reader(source, "binary", textual.looks_like(source.head))
        rows = textual.rows(textual.printable(textual.decode(b"".join(source.blocks()), form)))
        return Extract("text", "line", "row", [line for line, _ in rows])

    def read(self, source: Source, wish: Wish) -> Reading:
        """The wanted rows; see `Reader.read`.

        Raises:
            AgenvoyError: binary_file; invalid_arguments, which tells how many rows there are.
        """
        form = textual.sniff(source.head, source.whole)
        if form is None:
            raise no_reader(source, "binary", textual.looks_like(source.head))
        plain = _plain(source, form, wish)
        if plain is not None:
            return plain
        ranges = _ranges(wish)
        picker, stream = _scan(source, form, ranges, b"\n", wish)
        if stream.better is not None:
            form = stream.better
            picker, stream = _scan(source, form, ranges, b"\n", wish)
        if stream.newline == "cr":
            picker, stream = _scan(source, form, ranges, b"\r", wish)
        total = picker.finish()
        check(source.shown, wish, total)
        return _reading(picker, total, wish, form, stream.newline)


READER = TextReader()


def _plain(source: Source, form: textual.TextForm, wish: Wish) -> Reading | None:
    """A small file that is asked for whole, UTF-8 with LF: most reads; None: the general way has to look at it."""
    data = source.head
    whole = source.whole and wish.around is None and wish.limit is None and wish.offset == 1
    if not whole or not data or form.name != "utf-8" or form.errors != "strict" or b"\r" in data:
        return None
    total = data.count(b"\n") + (not data.endswith(b"\n"))
    if total > wish.max_units or len(data) + 16 * total > wish.max_bytes:
        return None
    source.drain()
    lines = data.removesuffix(b"\n").decode("utf-8").split("\n")
    text = "\n".join(f"{number}\t{line}" for number, line in enumerate(lines, 1))
    newline = "lf" if b"\n" in data else "none"
    return Reading("text", "line", total, 1, total, None, text, form.name, newline)


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


def _reading(picker: RowPicker, total: int, wish: Wish, form: textual.TextForm, newline: str) -> Reading:
    rows = picker.rows
    if not rows:
        return Reading("text", "line", 0, 0, 0, None, "[the file is empty]", form.name, "none")
    first, last = rows[0].number, rows[-1].number
    following = picker.stopped if wish.around is not None else (last + 1 if last < total else None)
    text = numbered(rows, wish.max_bytes)
    if following is not None:
        text += f"\n[lines {first}-{last} of {total}; call again with offset={following} for more]"
    return Reading("text", "line", total, first, last, following, text, form.name, newline)
