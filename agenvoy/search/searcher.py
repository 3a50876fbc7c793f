"""Finding lines in bytes: whole buffers at once, rows looked at only around a match.

A source of text comes as pieces: UTF-8, rows ended by LF, each piece but the last ending at a row's end. A row longer
than a piece comes as several that overlap (`open_start`, `open_end`); it still counts as one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agenvoy.search.matcher import Matcher

ROW_BYTES = 512  # contract: a longer line is cut to 512 bytes around its first match
FIRST_LINES = 5  # contract: `lines` holds the first five line numbers
_CHECK = 256  # matches between two looks at the clock
_BIG = 1 << 20  # bytes; more than this is worth a look at the clock by itself
_LF = 0x0A


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of rows.

    Args:
        data: UTF-8, rows ended by LF; bytes or a memory map.
        open_start: the first row began in the piece before (whose end this one repeats).
        open_end: the last row goes on in the piece behind.
    """

    data: Any
    open_start: bool = False
    open_end: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A row that matches, by offsets in its piece: `start` to `end`, its first match from `at` to `to`."""

    line: int
    start: int
    end: int
    at: int
    to: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row to be shown: its number, its text, whether it is a neighbour only, whether it was cut."""

    line: int
    text: str
    context: bool = False
    cut: bool = False


@dataclass(slots=True)
class Found:
    """What one text gave: the number of matching rows, the first few row numbers, the rows asked for.

    `complete` is false where the time ran out within the text; `unit` is what the numbers count where it is not lines.
    """

    count: int = 0
    lines: list[int] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    complete: bool = True
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which matching rows are to be shown: the ordinals `first` to `last` (excluded), with `context` neighbours."""

    first: int = 0
    last: int = 0
    context: int = 0


class _Late(Exception):
    """The time ran out within a piece."""


def search(pieces: Iterable[Piece], matchers: Sequence[Matcher], wanted: Wanted, expired: Callable[[], bool]) -> Found:
    """Search one text.

    Args:
        pieces: the text, in order.
        matchers: patterns; a row that any of them matches is one hit.
        wanted: the rows to be shown; all are counted.
        expired: whether the time is over.
    """
    found, neighbours, line, last = Found(), _Neighbours(wanted.context), 1, 0
    for piece in pieces:
        shown: dict[int, Span] = {}
        try:
            for span in _spans(piece, matchers, line, expired):
                if span.line == last:  # the same long row, met again in the next piece
                    continue
                last = span.line
                if len(found.lines) < FIRST_LINES:
                    found.lines.append(span.line)
                if wanted.first <= found.count < wanted.last:
                    shown[span.line] = span
                found.count += 1
        except _Late:
            found.complete = False
        found.rows.extend(neighbours.around(piece, line, shown))
        if not found.complete:
            break
        if len(piece.data) > _BIG and expired():
            found.complete = False
            break
        line += _count(piece.data)
    return found


def tally(data: bytes, matcher: Matcher, expired: Callable[[], bool]) -> Found:
    """What `search` gives for one whole text and one pattern line by line, where no row is to be shown.

    Args:
        data: UTF-8, rows ended by LF.
        matcher: not a multi-line one.
        expired: whether the time is over.
    """
    found, size, begin, line, counted = Found(), len(data), 0, 1, 0
    find, lines = matcher.find, found.lines
    while begin <= size:
        match = find(data, begin)
        if match is None or (match[0] == size and (size == 0 or data[size - 1] == _LF)):
            break
        found.count += 1
        if found.count <= FIRST_LINES:
            line += data.count(b"\n", counted, match[0])
            counted = match[0]
            lines.append(line)
        end = data.find(b"\n", match[0])
        if end < 0:
            break
        begin = end + 1
        if found.count % _CHECK == 0 and expired():
            found.complete = False
            break
    return found


def _spans(piece: Piece, matchers: Sequence[Matcher], line: int, expired: Callable[[], bool]) -> Iterator[Span]:
    """The matching rows of a piece, ascending."""
    if len(matchers) == 1:
        return _one(piece, matchers[0], line, expired)
    merged: dict[int, Span] = {}
    for matcher in matchers:
        for span in _one(piece, matcher, line, expired):
            merged.setdefault(span.line, span)
    return iter([merged[n] for n in sorted(merged)])


def _one(piece: Piece, matcher: Matcher, line: int, expired: Callable[[], bool]) -> Iterator[Span]:
    data, size = piece.data, len(piece.data)
    begin = 1 if piece.open_start else 0  # the byte ahead tells `^` that the row began earlier
    stop = size - 1 if piece.open_end else size  # and the byte behind tells `$` that it goes on
    start, end, tries = 0, -1, 0
    while begin <= stop:
        match = matcher.find(data, begin, stop)
        if match is None:
            return
        at, to = match
        if at == size and (size == 0 or data[size - 1] == _LF):  # behind the last row's end there is no row
            return
        if at > end:
            before, start = start, max(data.rfind(b"\n", max(end, 0), at) + 1, 0)
            line, end = line + _count(data, before, start), _row_end(data, at)
            yield Span(line, start, end, at, min(to, end))
        while end < min(to, size) - 1:  # every row that the match covers
            line, start, end = line + 1, end + 1, _row_end(data, end + 1)
            yield Span(line, start, end, start, min(to, end))
        begin = max(to, at + 1) if matcher.multiline else end + 1
        tries += 1
        if tries % _CHECK == 0 and expired():
            raise _Late


def _row_end(data: Any, at: int) -> int:
    end: int = data.find(b"\n", at)
    return len(data) if end < 0 else end


def _count(data: Any, start: int = 0, end: int | None = None) -> int:
    """Line feeds in a stretch; a memory map is gone through in slices, so as not to be copied whole."""
    stop = len(data) if end is None else end
    if isinstance(data, bytes):
        return data.count(b"\n", start, stop)
    return sum(data[i : min(i + _BIG, stop)].count(b"\n") for i in range(start, stop, _BIG))


def row_of(piece: Piece, span: Span, context: bool = False) -> Row:
    """The row of a span as it is shown: whole, or `ROW_BYTES` bytes around its first match between `…`."""
    data, start, end = piece.data, span.start, span.end
    ahead, behind = piece.open_start and start == 0, piece.open_end and end == len(data)
    low, high = start, end
    if end - start > ROW_BYTES:
        length = min(span.to - span.at, ROW_BYTES)
        low = max(start, span.at - (ROW_BYTES - length) // 2)
        high = min(end, low + ROW_BYTES)
        low = max(start, high - ROW_BYTES)
        while low < high and low > start and data[low] & 0xC0 == 0x80:  # a UTF-8 character goes on here
            low += 1
        while high > low and high < end and data[high] & 0xC0 == 0x80:
            high -= 1
    ahead, behind = ahead or low > start, behind or high < end
    text = bytes(data[low:high]).decode("utf-8", "replace")
    return Row(span.line, "…" * ahead + text + "…" * behind, context, ahead or behind)


class _Neighbours:
    """Rows to be shown with their neighbours, also across the border of two pieces."""

    def __init__(self, context: int) -> None:
        self.context = context
        self.before: list[Row] = []  # the last rows of the piece before
        self.until = 0  # rows up to this number are still due
        self.done = 0  # rows up to this number are shown already

    def around(self, piece: Piece, first: int, shown: dict[int, Span]) -> list[Row]:
        """The rows of one piece that are to be shown, with those owed from and to the piece before it."""
        if not self.context:
            return [row_of(piece, span) for span in shown.values()]
        rows: dict[int, Row] = {}
        for row in _below(piece, first - 1, -1, self.until - first + 1):
            rows[row.line] = row
        for number, span in shown.items():
            near = [*_above(piece, number, span.start, self.context), *_below(piece, number, span.end, self.context)]
            for row in [*(r for r in self.before if r.line >= number - self.context), *near]:
                rows.setdefault(row.line, row)
            self.until = number + self.context
        rows.update((number, row_of(piece, span)) for number, span in shown.items())
        ordered = [rows[n] for n in sorted(rows) if n > self.done]
        if ordered:
            self.done = ordered[-1].line
        size = len(piece.data)
        ends = size > 0 and piece.data[size - 1] == _LF
        number = first + _count(piece.data) + (0 if ends else 1)
        self.before = list(_above(piece, number, size if ends else size + 1, self.context))
        return ordered


def _above(piece: Piece, number: int, start: int, most: int) -> Iterator[Row]:
    """Up to `most` rows that end ahead of the row `number`, which begins at `start`."""
    while most > 0 and start > 0:
        end = start - 1
        start = piece.data.rfind(b"\n", 0, end) + 1
        number, most = number - 1, most - 1
        yield row_of(piece, Span(number, start, end, start, start), context=True)


def _below(piece: Piece, number: int, end: int, most: int) -> Iterator[Row]:
    """Up to `most` rows that follow the row `number`, whose LF is at `end`."""
    while most > 0 and end + 1 < len(piece.data):
        start, end = end + 1, _row_end(piece.data, end + 1)
        number, most = number + 1, most - 1
        yield row_of(piece, Span(number, start, end, start, start), context=True)
