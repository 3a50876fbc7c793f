"""What stands ahead of a list's paragraphs in Word: numbers that count on, letters, bullets."""

from __future__ import annotations

import re
from collections import defaultdict

from agenvoy.readers.ooxml import Element, attribute, child, name_of

_PLACE = re.compile(r"%(\d)")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_MOST = 1_000_000  # a larger number is damage


class Numbering:
    """Counts the lists of one document.

    Args:
        root: the numbering part; None where the document has none.
    """

    def __init__(self, root: Element | None) -> None:
        self._levels: dict[str, dict[int, tuple[str, str, int]]] = {}  # abstract list -> level -> format, text, start
        self._lists: dict[str, str] = {}  # list -> abstract list
        self._starts: dict[tuple[str, int], int] = {}  # a list's own start of a level
        self._counts: dict[str, dict[int, int]] = defaultdict(dict)
        self._begun: set[str] = set()
        for element in root if root is not None else ():
            if name_of(element) == "abstractNum":
                self._levels[attribute(element, "abstractNumId")] = dict(_level(e) for e in element if _is_level(e))
            elif name_of(element) == "num":
                self._list(element)

    def _list(self, element: Element) -> None:
        number, abstract = attribute(element, "numId"), child(element, "abstractNumId")
        self._lists[number] = attribute(abstract, "val") if abstract is not None else ""
        for override in (e for e in element if name_of(e) == "lvlOverride"):
            start = child(override, "startOverride")
            if start is not None:
                self._starts[number, _whole(attribute(override, "ilvl"))] = _whole(attribute(start, "val"))

    def prefix(self, paragraph: Element) -> str:
        """What is printed ahead of a paragraph (`2. `, `• ` …), indented by its level; counts it."""
        properties = child(paragraph, "pPr", "numPr")
        which = child(properties, "numId") if properties is not None else None
        if properties is None or which is None:
            return ""
        number, depth = attribute(which, "val"), child(properties, "ilvl")
        level = min(_whole(attribute(depth, "val")) if depth is not None else 0, 8)
        abstract = self._lists.get(number)
        known = self._levels.get(abstract or "", {}).get(level)
        if abstract is None or known is None:
            return ""
        kind, text, start = known
        counts = self._counts[abstract]
        if number not in self._begun:
            self._begun.add(number)
            for (owner, at), value in self._starts.items():
                if owner == number:
                    counts[at] = value - 1
        counts[level] = counts.get(level, start - 1) + 1
        for deeper in [at for at in counts if at > level]:
            del counts[deeper]
        return "  " * level + self._printed(abstract, kind, text, counts)

    def _printed(self, abstract: str, kind: str, text: str, counts: dict[int, int]) -> str:
        if kind == "bullet":
            return "• "
        if kind == "none":
            return ""
        levels = self._levels[abstract]

        def number(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            form, _, start = levels.get(at, ("decimal", "", 1))
            return spelled(counts.get(at, start), form)

        shown = _PLACE.sub(number, text)
        return f"{shown} " if shown.strip() else ""


def _is_level(element: Element) -> bool:
    return name_of(element) == "lvl"


def _level(element: Element) -> tuple[int, tuple[str, str, int]]:
    def value(name: str, default: str) -> str:
        found = child(element, name)
        return attribute(found, "val") if found is not None else default

    return _whole(attribute(element, "ilvl")), (
        value("numFmt", "decimal"),
        value("lvlText", ""),
        _whole(value("start", "1")),
    )


def _whole(text: str) -> int:
    return min(int(text), _MOST) if text.isdecimal() else 0


def spelled(number: int, form: str) -> str:
    """A number in a list's format (`decimal`, `lowerLetter`, `upperRoman` …); unknown formats count in digits."""
    if form in ("lowerLetter", "upperLetter") and 0 < number < 1000:
        letters = chr(97 + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letters.upper() if form.startswith("upper") else letters
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        out = ""
        for value, sign in _ROMAN:
            while number >= value:
                out, number = out + sign, number - value
        return out.upper() if form.startswith("upper") else out
    return f"{number:02d}" if form == "decimalZero" else str(number)
