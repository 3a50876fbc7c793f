"""Wanted rows out of a stream of blocks, in bounded memory."""

from __future__ import annotations

from dataclasses import dataclass

_MARGIN = 128  # bytes of an answer that are left for its footer or the note on a cut row


@dataclass(frozen=True, slots=True)
class Row:
    """One picked row: its number from 1, its bytes (UTF-8, without newline), and how long it is uncut."""

    number: int
    line: bytes
    length: int


class RowPicker:
    """Picks ranges of rows from UTF-8 blocks and counts all rows.

    Args:
        ranges: first and last row of each wanted part, rising and apart from each other.
        mark: the byte that ends rows: LF (a CR before it belongs to the newline) or CR.
        max_rows, max_bytes: where picking stops, in rows and in bytes of text as it is shown.
    """

    def __init__(self, ranges: list[tuple[int, int]], mark: bytes, max_rows: int, max_bytes: int) -> None:
        self.rows: list[Row] = []
        self.stopped: int | None = None  # the first wanted row that found no room
        self._ranges = ranges
        self._mark = mark
        self._max_rows = max_rows
        self._max_bytes = max_bytes - _MARGIN
        self._used = 0
        self._at = 0  # index of the first range that is not behind us
        self._row = 1  # number of the row that the next byte belongs to
        self._line = bytearray()
        self._length = 0
        self._open = False  # the last byte seen was not a newline

    def feed(self, block: bytes) -> None:
        """Take in the next block."""
        pos, mark = 0, self._mark
        while pos < len(block):
            start = self._next_wanted()
            if start != self._row:
                left = block.count(mark, pos)
                if start is None or self._row + left < start:
                    self._row += left
                    break
                pos = _after(block, pos, mark, start - self._row)
                self._row = start
                continue
            end = block.find(mark, pos)
            self._take(block[pos : end if end >= 0 else len(block)])
            if end < 0:
                break
            self._close(ended=True)
            pos = end + 1
        if block:
            self._open = not block.endswith(mark)

    def finish(self) -> int:
        """Close an unterminated last row; gives the number of rows in all."""
        if self._open:
            if self._next_wanted() == self._row:
                self._close(ended=False)
            else:
                self._row += 1
            self._open = False
        return self._row - 1

    def _next_wanted(self) -> int | None:
        """The first wanted row from the current one on."""
        if self.stopped is not None:
            return None
        while self._at < len(self._ranges):
            first, last = self._ranges[self._at]
            if last >= self._row:
                return max(first, self._row)
            self._at += 1
        return None

    def _take(self, piece: bytes) -> None:
        room = self._max_bytes + 1 - len(self._line)
        self._length += len(piece)
        self._line += piece[: max(0, room)]

    def _close(self, *, ended: bool) -> None:
        line, length = bytes(self._line), self._length
        if ended and self._mark == b"\n" and line.endswith(b"\r") and length == len(line):
            line, length = line[:-1], length - 1
        self._line.clear()
        self._length = 0
        shown = length + len(str(self._row)) + 2  # the number, its tab and a newline
        if self.rows and (len(self.rows) >= self._max_rows or self._used + shown > self._max_bytes):
            self.stopped = self._row
        else:
            self.rows.append(Row(self._row, line[: self._max_bytes], length))
            self._used += shown
        self._row += 1


def _after(block: bytes, pos: int, mark: bytes, count: int) -> int:
    """The position behind the `count`-th mark from `pos` on, found by halving (counting is far faster than finding)."""
    low, high = pos, len(block)
    while low < high:
        middle = (low + high) // 2
        if block.count(mark, pos, middle) < count:
            low = middle + 1
        else:
            high = middle
    return low
