"""Presentations (OOXML, transitional and strict) by slide: title, shapes, tables, charts, notes, comments."""

from __future__ import annotations

from typing import Any, BinaryIO

from agenvoy.readers.extracting import corrupt
from agenvoy.readers.ooxml import (
    Element,
    Package,
    attribute,
    below,
    body_lines,
    child,
    choice,
    graphic_lines,
    name_of,
    paragraph_text,
    relation,
)
from agenvoy.readers.remote import DocumentReader

READER = DocumentReader("pptx")

_TITLES = ("title", "ctrTitle")
_UNSEEN = ("sldNum", "sldImg", "dt")  # placeholders that hold no text of the author
_DEEP = 40  # groups within each other


class Presentation:
    """An opened presentation; a slide is read when it is asked for."""

    kind, unit, style = "pptx", "slide", "block"
    silent = "holds no text: its slides seem to be pictures"

    def __init__(self, package: Package, slides: list[str]) -> None:
        self._package, self._slides = package, slides
        self.labels: dict[int, str] = {}
        self.sections: list[tuple[int, str]] = []
        self.extra: dict[str, Any] = {}
        for number, part in enumerate(slides, 1):
            root = package.optional(part)
            if root is not None and attribute(root, "show") in ("0", "false"):
                self.labels[number] = "hidden"
        if self.labels:
            self.extra["hidden_slides"] = list(self.labels)

    @property
    def total(self) -> int:
        """How many slides there are."""
        return len(self._slides)

    def text(self, number: int) -> str:
        """A slide's text; a damaged slide says so."""
        part = self._slides[number - 1]
        root = self._package.optional(part)
        if root is None:
            return "[this slide could not be read: its part is missing or damaged]"
        relations = self._package.relations(part)
        slide = _Slide(self._package, relations)
        tree = child(root, "cSld", "spTree")
        lines = slide.shapes(tree) if tree is not None else []
        cut = ["[this slide is damaged: only a part of it could be read]"] if part in self._package.damaged else []
        return "\n".join([*slide.titles, *lines, *self._beside(relations), *cut])

    def _beside(self, relations: dict[str, tuple[str, str]]) -> list[str]:
        """Speaker notes and comments."""
        lines: list[str] = []
        for kind, part in relations.values():
            root = self._package.optional(part) if kind in ("notesSlide", "comments", "comment") else None
            if root is None:
                continue
            if kind == "notesSlide":
                tree = child(root, "cSld", "spTree")
                notes = _Slide(self._package, self._package.relations(part))
                found = notes.shapes(tree) if tree is not None else []
                lines += [f"[notes] {line}" for line in [*notes.titles, *found]]
            else:
                lines += _comments(root)
        return lines


def open_document(stream: BinaryIO, password: str | None) -> Presentation:
    """Open a presentation; `password` is not used (encrypted ones come through `ole`).

    Raises:
        AgenvoyError: corrupt_document, too_large, encrypted_document.
    """
    package = Package(stream)
    main = package.main("ppt/presentation.xml")
    if not package.has(main):
        raise corrupt("it has no main part")
    relations = package.relations(main)
    listed = child(package.xml(main), "sldIdLst")
    parts = [relations.get(relation(entry), ("", ""))[1] for entry in listed] if listed is not None else []
    return Presentation(package, parts)


class _Slide:
    """The text of one slide's shapes."""

    def __init__(self, package: Package, relations: dict[str, tuple[str, str]]) -> None:
        self._package, self._relations = package, relations
        self.titles: list[str] = []
        self._depth = 0

    def shapes(self, tree: Element) -> list[str]:
        """The lines of all shapes but titles, which go to `titles`; groups and alternatives are entered."""
        lines: list[str] = []
        if self._depth > _DEEP:
            return lines
        self._depth += 1
        for shape in tree:
            name = name_of(shape)
            if name in ("sp", "cxnSp"):
                self._shape(shape, lines)
            elif name == "graphicFrame":
                lines += self._frame(shape)
            elif name == "grpSp":
                lines += self.shapes(shape)
            elif name == "AlternateContent":
                lines += self.shapes(choice(shape))
            elif name == "pic":
                lines += _picture(shape)
        self._depth -= 1
        return lines

    def _shape(self, shape: Element, lines: list[str]) -> None:
        place = next(below(shape, "ph"), None)
        kind = attribute(place, "type") if place is not None else ""
        body = child(shape, "txBody")
        if body is None or kind in _UNSEEN:
            return
        (self.titles if kind in _TITLES else lines).extend(body_lines(body))

    def _frame(self, frame: Element) -> list[str]:
        table = next(below(frame, "tbl"), None)
        if table is not None:
            return [line for row in below(table, "tr") if (line := _row(row)).strip(" |")]
        return graphic_lines(self._package, self._relations, frame)


def _row(row: Element) -> str:
    """A table's row; what a merged cell covers is empty."""
    cells: list[str] = []
    for cell in (e for e in row if name_of(e) == "tc"):
        covered = attribute(cell, "hMerge") in ("1", "true") or attribute(cell, "vMerge") in ("1", "true")
        body = child(cell, "txBody")
        cells.append("" if covered or body is None else " ".join(line.strip() for line in body_lines(body)))
    return " | ".join(cells)


def _picture(shape: Element) -> list[str]:
    described = next((attribute(e, "descr") for e in below(shape, "cNvPr") if attribute(e, "descr")), "")
    return [f"[picture] {' '.join(described.split())}"] if described else []


def _comments(root: Element) -> list[str]:
    """Comments of both kinds: the old ones with one text, the threaded ones with a body and replies."""
    lines: list[str] = []
    for comment in root.iter():
        name = name_of(comment)
        if name == "cm" and (old := child(comment, "text")) is not None:
            lines += [f"[comment] {old.text.strip()}"] if (old.text or "").strip() else []
        elif name in ("cm", "reply") and (body := child(comment, "txBody")) is not None:
            text = " ".join(filter(None, (paragraph_text(p) for p in body if name_of(p) == "p")))
            lines += [f"[comment] {text}"] if text else []
    return lines
