"""What every match of a pattern must hold: bytes that are looked for before the pattern itself.

A small reading of RE2's syntax, and a careful one: whatever is not plainly understood gives no literal, and then the
pattern is tried everywhere. Only ASCII counts: in every encoding but UTF-16, UTF-32 and EBCDIC it stands as itself.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

MOST = 8  # alternatives; with more, looking for each costs more than the pattern itself
_SPECIAL = frozenset(".[]()*+?{}|^$\\")
_CLASSES = frozenset("dDsSwWbBAzC")  # escapes of one letter that match no fixed text
_FOLDED_BEYOND_ASCII = frozenset("kKsS")  # in any case they are also U+212A and U+017F, which are no ASCII
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


class _Unsure(Exception):
    """Something that this module does not read."""


@dataclass(frozen=True, slots=True)
class _Node:
    """What a part of a pattern matches: `exact` text only, or anything that holds one of `needs`."""

    exact: str | None = None
    needs: frozenset[str] = frozenset()


_ANY = _Node()
_EMPTY = _Node(exact="")


def whole_literal(pattern: str) -> str | None:
    """The text that a pattern matches and nothing else; None where it may match something else (case counts)."""
    try:
        found = _Reader(pattern).read().exact
    except _Unsure:
        return None
    return found if found and "\n" not in found and found.isascii() else None


@functools.lru_cache(maxsize=64)
def required(pattern: str) -> tuple[bytes, ...]:
    """ASCII texts of which every match holds at least one; empty where none can be told (case counts).

    Args:
        pattern: RE2 syntax.
    """
    try:
        found = _Reader(pattern).read()
    except _Unsure:
        return ()
    needs = _needs(found)
    return tuple(sorted(text.encode("ascii") for text in needs))


@functools.lru_cache(maxsize=64)
def required_in_any_case(pattern: str, case_sensitive: bool) -> tuple[str, ...]:
    """Lower-case ASCII texts of which every match holds at least one in some case; empty where none can be told.

    Args:
        pattern: RE2 syntax; `(?i)` at its beginning is understood.
        case_sensitive: whether case counts otherwise.
    """
    folded = pattern.startswith("(?i)") or not case_sensitive
    try:
        found = _Reader(pattern.removeprefix("(?i)"), _FOLDED_BEYOND_ASCII if folded else frozenset()).read()
    except _Unsure:
        return ()
    return tuple(sorted({text.lower() for text in _needs(found)}))


def _needs(node: _Node) -> frozenset[str]:
    """The texts of which a match holds one; an exact text is needed itself, as far as it is ASCII."""
    if node.exact is None:
        return node.needs
    runs = "".join(c if c.isascii() and c not in "\r\n" else "\n" for c in node.exact).split("\n")
    best = max(runs, key=len)
    return frozenset([best]) if best else frozenset()


def _worth(needs: frozenset[str]) -> tuple[int, int]:
    """Longer is better, then fewer."""
    return (min(map(len, needs)), -len(needs)) if needs else (0, 0)


class _Reader:
    """One pattern, from left to right."""

    def __init__(self, pattern: str, unsure: frozenset[str] = frozenset()) -> None:
        self.text = pattern
        self.unsure = unsure  # characters that may stand for others
        self.at = 0

    def read(self) -> _Node:
        node = self._either()
        if self.at < len(self.text):
            raise _Unsure
        return node

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _either(self) -> _Node:
        branches = [self._sequence()]
        while self._peek() == "|":
            self.at += 1
            branches.append(self._sequence())
        if len(branches) == 1:
            return branches[0]
        needs = [_needs(branch) for branch in branches]
        every = frozenset().union(*needs)
        return _Node(needs=every) if all(needs) and len(every) <= MOST else _ANY

    def _sequence(self) -> _Node:
        """Atoms one behind the other: neighbours that are exact make one text."""
        run: str | None = ""
        best: frozenset[str] = frozenset()
        only = True  # whether all of it is one exact text
        while self._peek() not in ("", "|", ")"):
            node, again = self._atom()
            if node.exact is not None and run is not None:
                run += node.exact
                if not again:
                    continue
            only = False
            best = max(best, _needs(_Node(exact=run or "")), _needs(node), key=_worth)
            run = ""
        if only:
            return _Node(exact=run)
        return _Node(needs=max(best, _needs(_Node(exact=run or "")), key=_worth))

    def _atom(self) -> tuple[_Node, bool]:
        """One atom with its repetition, and whether what follows does not join its text."""
        node = self._single()
        least, once = self._repetition()
        if once:
            return node, False
        return (node, True) if least else (_ANY, True)

    def _repetition(self) -> tuple[int, bool]:
        """How often at least, and whether exactly once because nothing is said."""
        char = self._peek()
        if char not in ("*", "+", "?", "{"):
            return 1, True
        if char == "{":
            least = self._counted()
        else:
            least = 1 if char == "+" else 0
            self.at += 1
        if self._peek() == "?":
            self.at += 1
        if self._peek() in ("*", "+", "?", "{"):
            raise _Unsure
        return least, False

    def _counted(self) -> int:
        end = self.text.find("}", self.at)
        low, _, high = self.text[self.at + 1 : end].partition(",")
        if end < 0 or not (low.isascii() and low.isdigit()) or (high and not (high.isascii() and high.isdigit())):
            raise _Unsure
        self.at = end + 1
        return int(low)

    def _single(self) -> _Node:
        char = self._peek()
        self.at += 1
        if char == "\\":
            return self._escape()
        if char == "(":
            return self._group()
        if char == "[":
            return self._set()
        if char == ".":
            return _ANY
        if char in "^$":
            return _ANY  # matches nothing by itself, but keeps neighbours from being taken for one literal
        if char in _SPECIAL:
            raise _Unsure
        return _ANY if char in self.unsure else _Node(exact=char)

    def _escape(self) -> _Node:
        char = self._peek()
        self.at += 1
        if char in _CONTROL:
            return _Node(exact=_CONTROL[char])
        if char and char in _CLASSES:
            return _ANY
        if not char or char.isalnum() or not char.isascii():
            raise _Unsure
        return _Node(exact=char)

    def _group(self) -> _Node:
        if self._peek() == "?":
            if self.text.startswith("?:", self.at):
                self.at += 2
            else:
                raise _Unsure
        node = self._either()
        if self._peek() != ")":
            raise _Unsure
        self.at += 1
        return node

    def _set(self) -> _Node:
        """A set of characters: none is told; only its end is looked for."""
        if self._peek() == "^":
            self.at += 1
        if self._peek() == "]":
            self.at += 1
        while (char := self._peek()) != "]":
            if char in ("", "["):  # [:alpha:] and the like
                raise _Unsure
            if char == "\\" and self.text[self.at + 1 : self.at + 2] not in _CLASSES | frozenset("]\\-[.tnrfv"):
                raise _Unsure
            self.at += 2 if char == "\\" else 1
        self.at += 1
        return _ANY
