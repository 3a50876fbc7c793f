"""Rows as they are shown, and the refusal of rows that a file does not have."""

from __future__ import annotations

from collections.abc import Sequence

from agenvoy.errors import AgenvoyError
from agenvoy.readers.base import Wish
from agenvoy.readers.picking import Row


def check(shown: str, wish: Wish, total: int) -> None:
    """Refuse what a file does not have; raises invalid_arguments.

    Args:
        shown: its path as answers spell it.
        wish: what is asked for.
        total: how many rows there are.
    """
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


def numbered(rows: Sequence[Row], cap: int) -> str:
    """`<row>\\t<line>` per row, `...` for gaps; a row beyond the cap is cut and says so.

    Args:
        rows: in order, at least one.
        cap: most bytes of one row.
    """
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
