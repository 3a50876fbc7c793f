"""Three-way merge of texts, by lines.

Both sides are compared with the base; where their changes touch different lines both are taken, the same change on
both sides once. Two different changes overlap when they claim a common line, or both insert at the same point: then
there is no merge, and a person decides. (The library for this, merge3, is under the GPL.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MAX_BYTES = 8 * 1024 * 1024  # comparing lines is quadratic at worst; a larger text is a conflict, said as such


@dataclass(frozen=True, slots=True)
class Hunk:
    """Base lines [start, end) are replaced by `lines`."""

    start: int
    end: int
    lines: tuple[bytes, ...]


def merge(base: bytes, one: bytes, other: bytes) -> bytes | None:
    """The base with the changes of both sides; None where they overlap, or where a side is no text.

    Args:
        base, one, other: contents of files, in one encoding.
    """
    if one == other or other == base:
        return one
    if one == base:
        return other
    split = _splitter(base, one, other)
    if split is None or max(map(len, (base, one, other))) > MAX_BYTES:
        return None
    lines = [_lines(data, split) for data in (base, one, other)]
    merged = _weave(lines[0], hunks(lines[0], lines[1]), hunks(lines[0], lines[2]))
    return None if merged is None else b"".join(merged)


def _splitter(*sides: bytes) -> bytes | None:
    """The newline in the sides' common encoding; None for binary content."""
    for mark, newline in ((b"\xff\xfe", b"\n\0"), (b"\xfe\xff", b"\0\n")):
        if all(side.startswith(mark) and len(side) % 2 == 0 for side in sides):
            return newline
    return None if any(b"\0" in side for side in sides) else b"\n"


def _lines(data: bytes, newline: bytes) -> list[bytes]:
    """Lines with their newline; of a 16-bit encoding only at whole characters."""
    width, found, start = len(newline), [], 0
    at = data.find(newline)
    while at != -1:
        if at % width:
            at = data.find(newline, at + 1)
            continue
        found.append(data[start : at + width])
        start = at + width
        at = data.find(newline, start)
    if start < len(data):
        found.append(data[start:])
    return found


def hunks(base: Sequence[bytes], side: Sequence[bytes]) -> list[Hunk]:
    """What a side changed, in the order of the base's lines."""
    from difflib import SequenceMatcher

    head = 0
    while head < min(len(base), len(side)) and base[head] == side[head]:
        head += 1
    tail = 0
    while tail < min(len(base), len(side)) - head and base[-1 - tail] == side[-1 - tail]:
        tail += 1
    old, new = base[head : len(base) - tail], side[head : len(side) - tail]
    # without the junk heuristic the alignment is the best one; on long stretches its cost would be quadratic
    matcher = SequenceMatcher(None, old, new, autojunk=len(old) * len(new) > 4_000_000)
    return [
        Hunk(head + a, head + b, tuple(new[c:d])) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal"
    ]


def _weave(base: Sequence[bytes], ones: list[Hunk], others: list[Hunk]) -> list[bytes] | None:
    merged: list[bytes] = []
    at = i = k = 0
    while i < len(ones) or k < len(others):
        one = ones[i] if i < len(ones) else None
        other = others[k] if k < len(others) else None
        if one is not None and other is not None:
            if one == other:
                k += 1
                other = None
            elif _overlap(one, other):
                return None
        if other is None or (one is not None and (one.start, one.end) <= (other.start, other.end)):
            assert one is not None
            hunk, i = one, i + 1
        else:
            hunk, k = other, k + 1
        merged += base[at : hunk.start]
        merged += hunk.lines
        at = hunk.end
    return [*merged, *base[at:]]


def _overlap(one: Hunk, other: Hunk) -> bool:
    if one.start == one.end and other.start == other.end:
        return one.start == other.start
    if one.start == one.end:
        return other.start < one.start < other.end
    if other.start == other.end:
        return one.start < other.start < one.end
    return max(one.start, other.start) < min(one.end, other.end)
