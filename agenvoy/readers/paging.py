"""The wanted part of a document's units as text: numbered rows, or blocks under headings, up to a number of bytes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from agenvoy.errors import AgenvoyError
from agenvoy.readers.base import Extract, Reading, Style, Wish

_MARGIN = 256  # bytes of an answer left for its footer
BUDGET_S = 20.0  # seconds after which a call gives the units that it has; the rest comes with the next one


class Document(Protocol):
    """An opened document: as `Extract`, but each unit's text is made when it is asked for."""

    kind: str
    unit: str
    style: Style
    labels: dict[int, str]
    sections: list[tuple[int, str]]
    extra: dict[str, Any]
    silent: str

    @property
    def total(self) -> int:
        """How many units there are."""

    def text(self, number: int) -> str:
        """The text of a unit, counted from 1; empty where it has none."""


class Whole:
    """A document whose text is there already."""

    def __init__(self, extract: Extract) -> None:
        self.kind, self.unit, self.style = extract.kind, extract.unit, extract.style
        self.labels, self.sections, self.extra = extract.labels, extract.sections, extract.extra
        self.silent = extract.silent
        self._units = extract.units

    @property
    def total(self) -> int:
        """How many units there are."""
        return len(self._units)

    def text(self, number: int) -> str:
        """The text of a unit, counted from 1."""
        return self._units[number - 1]


def everything(document: Document) -> Extract:
    """The whole text of a document."""
    units = [document.text(number) for number in range(1, document.total + 1)]
    return Extract(
        document.kind,
        document.unit,
        document.style,
        units,
        dict(document.labels),
        list(document.sections),
        dict(document.extra),
        document.silent,
    )


def page(
    document: Document, wish: Wish, shown: str, now: Callable[[], float] = time.monotonic, budget_s: float = BUDGET_S
) -> Reading:
    """The wanted units.

    Args:
        document: where they come from.
        wish: offset, limit and max_bytes count.
        shown: the file's path as answers spell it.
        now, budget_s: a clock in seconds, and how long units are collected.

    Raises:
        AgenvoyError: invalid_arguments for units that the document does not have; no_text where it has no text at all.
    """
    total = document.total
    _check(document, wish, shown)
    end = total if wish.limit is None else min(total, wish.offset + wish.limit - 1)
    parts: list[str] = []
    used, last, any_text, stop = 0, wish.offset - 1, False, now() + budget_s
    for number in range(wish.offset, end + 1):
        text = document.text(number)
        any_text = any_text or bool(text.strip())
        part = _heading(document, number, first=not parts) + _shown(document, number, text)
        size = len(part.encode("utf-8", "replace")) + 1
        if parts and (used + size > wish.max_bytes - _MARGIN or now() > stop):
            break
        parts.append(part if size <= wish.max_bytes - _MARGIN else _cut(part, wish.max_bytes - _MARGIN))
        used, last = used + size, number
    if not any_text and (total == 0 or (wish.offset == 1 and last == total)):
        raise no_text(document, shown)
    return _reading(document, wish, parts, last)


def no_text(document: Document, shown: str) -> AgenvoyError:
    """What is said of a document without any text."""
    total = document.total
    count = f" ({total:,} {document.unit}{'' if total == 1 else 's'})" if total else ""
    return AgenvoyError(
        "no_text",
        f"{shown}{count} {document.silent}",
        "use a program that recognises text in pictures, where it holds pictures",
        **{f"{document.unit}s": total},
    )


def _check(document: Document, wish: Wish, shown: str) -> None:
    total, unit = document.total, document.unit
    size = f"{shown} has {total:,} {unit}{'' if total == 1 else 's'}"
    hint = f"use {unit} numbers from 1 to {max(total, 1)}"
    if wish.offset < 1 or wish.offset > max(total, 1):
        raise AgenvoyError("invalid_arguments", f"offset={wish.offset} is not a {unit}: {size}", hint, total=total)
    if wish.limit is not None and wish.limit < 1:
        raise AgenvoyError("invalid_arguments", f"limit={wish.limit} asks for nothing; {size}", hint, total=total)


def _heading(document: Document, number: int, *, first: bool) -> str:
    """The title of the section that begins here, or that a page begins in."""
    sections: Mapping[int, str] = dict(document.sections)
    if first:
        begun = [title for start, title in document.sections if start <= number]
        return f"[{begun[-1]}]\n" if begun else ""
    return f"[{sections[number]}]\n" if number in sections else ""


def _shown(document: Document, number: int, text: str) -> str:
    if document.style == "row":
        return f"{number}\t{text}"
    if document.style == "plain":
        return text
    label = document.labels.get(number, "")
    head = f"[{document.unit} {number} of {document.total}{', ' + label if label else ''}"
    return f"{head}]\n{text}\n" if text.strip() else f"{head}: no text]\n"


def _cut(part: str, most: int) -> str:
    data = part.encode("utf-8", "replace")
    kept = data[: most - 64].decode("utf-8", "ignore")
    return f"{kept} [cut: {most - 64} of {len(data)} bytes shown]"


def _reading(document: Document, wish: Wish, parts: list[str], last: int) -> Reading:
    total, first = document.total, wish.offset
    following = last + 1 if last < total else None
    text = "\n".join(parts).rstrip("\n")
    if following is not None:
        text += f"\n[{document.unit}s {first}-{last} of {total}; call again with offset={following} for more]"
    return Reading(document.kind, document.unit, total, first, last, following, text, extra=dict(document.extra))
