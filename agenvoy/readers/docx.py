"""Word documents (OOXML, transitional and strict) by line, in reading order.

A line is a paragraph (or a part of one, where it holds breaks) or a row of a table. Notes and comments stand behind the
paragraph that refers to them, headers ahead of the text and footers behind it, each marked. Insertions are in,
deletions out.
"""

from __future__ import annotations

from typing import BinaryIO

from agenvoy.readers.base import Extract
from agenvoy.readers.extracting import corrupt
from agenvoy.readers.lists import Numbering
from agenvoy.readers.ooxml import Element, Package, attribute, below, child, choice, graphic_lines, name_of
from agenvoy.readers.paging import Whole
from agenvoy.readers.remote import DocumentReader
from agenvoy.readers.symbols import symbol

READER = DocumentReader("docx")

_GONE = frozenset(
    {"del", "moveFrom", "delText", "instrText", "delInstrText", "rPr", "pPr", "sectPr", "tblPr", "tblGrid"}
)
_AS_IS = {"tab": "\t", "ptab": "\t", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
_NOTES = {"footnoteReference": "footnote", "endnoteReference": "endnote", "commentReference": "comment"}
_DEEP = 40  # tables and boxes within each other; deeper ones are a trap: their text is left out, and that is said


def open_document(stream: BinaryIO, password: str | None) -> Whole:
    """Open a Word document; `password` is not used (encrypted ones come through `ole`).

    Raises:
        AgenvoyError: corrupt_document, too_large, encrypted_document.
    """
    package = Package(stream)
    main = package.main("word/document.xml")
    if not package.has(main):
        raise corrupt("it has no main part")
    root = package.xml(main)
    body = child(root, "body")
    if body is None:
        raise corrupt("its main part has no body")
    walk = _Walk(package, main)
    lines = [*walk.margins("header"), *walk.block(body), *walk.margins("footer"), *package.damage()]
    return Whole(Extract("docx", "line", "row", lines))


class _Walk:
    """One pass over a part; `relations` belong to that part."""

    def __init__(self, package: Package, part: str, main: _Walk | None = None) -> None:
        self.package = package
        self.relations = package.relations(part)
        self.numbering: Numbering = main.numbering if main else Numbering(self._target("numbering"))
        self.notes: dict[tuple[str, str], str] = main.notes if main else {}
        self._after: list[str] = []  # lines that come behind the paragraph at hand: boxes, notes, charts
        self._depth = 0
        if main is None:
            for kind in ("footnotes", "endnotes", "comments"):
                self._collect(kind)

    def _target(self, kind: str) -> Element | None:
        return self.package.optional(next((t for k, t in self.relations.values() if k == kind), None))

    def _collect(self, kind: str) -> None:
        """The texts of footnotes, endnotes or comments, by id."""
        part = next((t for k, t in self.relations.values() if k == kind), None)
        root = self.package.optional(part)
        if root is None or part is None:
            return
        inner = _Walk(self.package, part, self)
        for note in root:
            if attribute(note, "type") in ("separator", "continuationSeparator", "continuationNotice"):
                continue
            text = " ".join(line.strip() for line in inner.block(note) if line.strip())
            author = attribute(note, "author")
            mark = f"{kind[:-1]} by {author}" if author else kind[:-1]
            self.notes[kind[:-1], attribute(note, "id")] = f"[{mark}] {text}" if text else ""

    def margins(self, kind: str) -> list[str]:
        """The lines of all headers or footers, each text once, marked."""
        lines: dict[str, None] = {}
        for found, part in self.relations.values():
            root = self.package.optional(part) if found == kind else None
            if root is not None:
                text = " ".join(line for line in _Walk(self.package, part, self).block(root) if line.strip())
                lines.update({f"[{kind}] {text}": None} if text else {})
        return list(lines)

    def block(self, container: Element) -> list[str]:
        """The lines of a container of paragraphs and tables."""
        if self._depth > _DEEP:
            text = any(name_of(element) == "t" and element.text for element in container.iter())
            return [f"[text nested more than {_DEEP} levels deep, which is not read]"] if text else []
        self._depth += 1
        lines: list[str] = []
        for element in container:
            name = name_of(element)
            if name == "p":
                lines += self.paragraph(element)
            elif name == "tbl":
                lines += self.table(element)
            elif name == "AlternateContent":
                for part in choice(element):
                    lines += self.block([part])
            elif name == "altChunk":
                lines.append("[an embedded document, which is not read]")
            elif name not in _GONE:
                lines += self.block(element)
        self._depth -= 1
        return lines

    def paragraph(self, element: Element) -> list[str]:
        """A paragraph's lines, with what hangs on it behind them."""
        before, self._after = self._after, []
        text = self.inline(element)
        mark = child(element, "pPr", "rPr", "del")
        lines = text.split("\n") if text or mark is None else []
        if lines and text.strip():
            lines[0] = self.numbering.prefix(element) + lines[0]
        if self._after and not text.strip():
            lines = []  # the paragraph only carries a box or a picture
        lines += self._after
        self._after = before
        return lines

    def inline(self, element: Element) -> str:
        """The text of runs, through whatever wraps them."""
        out: list[str] = []
        for part in element:
            name = name_of(part)
            if name == "t":
                out.append((part.text or "").replace("\n", " "))
            elif name in _GONE:
                continue
            elif name in _AS_IS:
                out.append(_AS_IS[name])
            elif name == "br":
                out.append("\n" if attribute(part, "type") in ("", "textWrapping") else "")
            elif name == "ruby":
                out.append(self._ruby(part))
            elif name == "sym":
                out.append(_symbol(part))
            elif name in _NOTES:
                note = self.notes.get((_NOTES[name], attribute(part, "id")), "")
                self._after += [note] if note else []
            elif name == "txbxContent":
                self._after += self.block(part)
            elif name in ("drawing", "pict", "object"):
                self._drawing(part)
            elif name == "AlternateContent":
                out += [self.inline([inner]) for inner in choice(element=part)]
            elif name == "r" and _hidden(part):
                text = self.inline(part)
                out.append(f"[hidden: {text}]" if text.strip() else text)
            elif len(part):
                out.append(self.inline(part))
        return "".join(out)

    def _drawing(self, element: Element) -> None:
        self._after += graphic_lines(self.package, self.relations, element)
        described = next((attribute(e, "descr") for e in below(element, "docPr") if attribute(e, "descr")), "")
        boxes = self.inline(element)  # text boxes put themselves behind the paragraph
        self._after += [boxes] if boxes.strip() else []
        if described and any(True for _ in below(element, "blip")):
            self._after.append(f"[picture] {' '.join(described.split())}")

    def _ruby(self, element: Element) -> str:
        base, reading = child(element, "rubyBase"), child(element, "rt")
        text = self.inline(base) if base is not None else ""
        above = self.inline(reading) if reading is not None else ""
        return f"{text}({above})" if above else text

    def table(self, element: Element) -> list[str]:
        """A table's rows, cells between bars; a merged cell stands once."""
        lines: list[str] = []
        for row in _through(element, "tr"):
            if child(row, "trPr", "del") is not None:
                continue
            before, self._after = self._after, []
            cells = [*_missing(row), *(self._cell(cell) for cell in _through(row, "tc"))]
            if any(cell.strip() for cell in cells):
                lines.append(" | ".join(cells))
            lines += self._after
            self._after = before
        return lines

    def _cell(self, cell: Element) -> str:
        settings = child(cell, "tcPr")
        if settings is not None:
            merge = child(settings, "vMerge")
            if merge is not None and attribute(merge, "val") != "restart":
                return ""
            if child(settings, "cellDel") is not None:
                return ""
        return " ".join(line.strip() for line in self.block(cell) if line.strip())


def _through(element: Element, wanted: str) -> list[Element]:
    """Rows of a table or cells of a row, also where content controls or change marks wrap them."""
    found: list[Element] = []
    for part in element:
        name = name_of(part)
        if name == wanted:
            found.append(part)
        elif name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag"):
            found += _through(part, wanted)
    return found


def _missing(row: Element) -> list[str]:
    """Empty cells for the columns that a row begins behind."""
    skipped = child(row, "trPr", "gridBefore")
    count = attribute(skipped, "val") if skipped is not None else ""
    return [""] * min(int(count), 64) if count.isdecimal() else []


def _hidden(run: Element) -> bool:
    mark = child(run, "rPr", "vanish")
    return mark is not None and attribute(mark, "val") not in ("0", "false", "off")


def _symbol(element: Element) -> str:
    """A character of a symbol font."""
    try:
        return symbol(attribute(element, "font"), int(attribute(element, "char"), 16))
    except ValueError:
        return "[a symbol without a number]"
