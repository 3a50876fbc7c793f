"""OpenDocument texts by line and presentations by slide, from the package's own XML."""

from __future__ import annotations

from typing import BinaryIO

from agenvoy.readers.base import Extract
from agenvoy.readers.extracting import corrupt, encrypted
from agenvoy.readers.ooxml import Element, Package, attribute, below, child, name_of
from agenvoy.readers.paging import Whole
from agenvoy.readers.remote import DocumentReader

READER = DocumentReader("odt")

# What is not part of the text as it is read: deletions, forms, indexes of styles.
_GONE = frozenset(
    ("tracked-changes", "forms", "sequence-decls", "variable-decls", "user-field-decls", "bibliography-mark")
)
_DEEP = 40  # lists, tables and frames within each other
_REPEATS = 64  # a cell that stands more often is padding up to the sheet's edge


def open_document(stream: BinaryIO, password: str | None) -> Whole:
    """Open a text or a presentation; encrypted ones are refused, with or without a password.

    Raises:
        AgenvoyError: corrupt_document, encrypted_document, too_large.
    """
    package = Package(stream)
    manifest = package.optional("META-INF/manifest.xml")
    if manifest is not None and any(True for _ in below(manifest, "encryption-data")):
        raise encrypted(password is not None)
    if not package.has("content.xml"):
        raise corrupt("it has no content part")
    body = child(package.xml("content.xml"), "body")
    text = child(body, "text") if body is not None else None
    if text is not None:
        margins = _margins(package)
        lines = [*margins["header"], *_Walk().block(text), *margins["footer"], *package.damage()]
        return Whole(Extract("odt", "line", "row", lines))
    show = child(body, "presentation") if body is not None else None
    if show is None:
        raise corrupt("its content is neither a text nor a presentation")
    pages = [page for page in show if name_of(page) == "page"]
    slides = ["\n".join(_slide(page)) for page in pages]
    if slides:
        slides[-1] = "\n".join([slides[-1], *package.damage()])
    return Whole(Extract("odp", "slide", "block", slides))


def _slide(page: Element) -> list[str]:
    walk = _Walk()
    notes = [line for part in page if name_of(part) == "notes" for line in walk.block(part)]
    lines = [line for part in page if name_of(part) != "notes" for line in walk.block([part])]
    return [line for line in lines if line.strip()] + [f"[notes] {line}" for line in notes if line.strip()]


def _margins(package: Package) -> dict[str, list[str]]:
    """Headers and footers of the master pages, each text once."""
    found: dict[str, list[str]] = {"header": [], "footer": []}
    styles = package.optional("styles.xml")
    for kind, lines in found.items():
        for element in below(styles, kind) if styles is not None else ():
            text = " ".join(line for line in _Walk().block(element) if line.strip())
            line = f"[{kind}] {text}"
            if text and line not in lines:
                lines.append(line)
    return found


class _Walk:
    """One pass over a body."""

    def __init__(self) -> None:
        self._after: list[str] = []  # notes, comments and boxes of the paragraph at hand
        self._depth = 0

    def block(self, container: Element | list[Element]) -> list[str]:
        """The lines of paragraphs, lists, tables and frames."""
        if self._depth > _DEEP:
            return []
        self._depth += 1
        lines: list[str] = []
        for element in container:
            name = name_of(element)
            if name in ("p", "h"):
                lines += self._paragraph(element)
            elif name == "table":
                lines += self._table(element)
            elif name in ("list-item", "list-header"):
                lines += self._item(element)
            elif name and name not in _GONE:
                lines += self.block(element)
        self._depth -= 1
        return lines

    def _item(self, element: Element) -> list[str]:
        lines: list[str] = []
        for part in element:
            found = self.block([part])
            nested = name_of(part) == "list"
            lines += [f"  {line}" for line in found] if nested else [f"• {line}" if line else line for line in found]
        return lines

    def _paragraph(self, element: Element) -> list[str]:
        before, self._after = self._after, []
        text = self._inline(element)
        lines = text.split("\n") if text.strip() or not self._after else []
        lines += self._after
        self._after = before
        return lines

    def _inline(self, element: Element) -> str:
        out = [_folded(element.text)]
        for part in element:
            name = name_of(part)
            if name == "s":
                count = attribute(part, "c")
                out.append(" " * min(int(count) if count.isdecimal() else 1, 1000))
            elif name in ("tab", "line-break"):
                out.append("\t" if name == "tab" else "\n")
            elif name in ("note", "annotation"):
                self._note(part, name)
            elif name in ("frame", "text-box", "custom-shape"):
                self._after += [line for line in self.block([part]) if line.strip()]
            elif name == "ruby":
                base, above = child(part, "ruby-base"), child(part, "ruby-text")
                reading = f"({self._inline(above)})" if above is not None else ""
                out.append((self._inline(base) if base is not None else "") + reading)
            elif name and name not in _GONE:
                out.append(self._inline(part))
            out.append(_folded(part.tail))
        return "".join(out)

    def _note(self, element: Element, name: str) -> None:
        kind = "comment" if name == "annotation" else attribute(element, "note-class") or "note"
        body = child(element, "note-body") if name == "note" else element
        text = " ".join(line for line in _Walk().block(body) if line.strip()) if body is not None else ""
        self._after += [f"[{kind}] {text}"] if text else []

    def _table(self, element: Element) -> list[str]:
        lines: list[str] = []
        for row in below(element, "table-row"):
            if next(row.iterancestors("{*}table")) is not element:
                continue  # a row of a table inside a cell, which stands in that cell
            cells: list[str] = []
            for cell in (e for e in row if name_of(e) in ("table-cell", "covered-table-cell")):
                count = attribute(cell, "number-columns-repeated")
                text = " ".join(line.strip() for line in self.block(cell) if line.strip())
                cells += [text] * min(int(count) if count.isdecimal() else 1, _REPEATS)
            line = " | ".join(cells)
            lines += [line] if line.strip(" |") else []
        return lines


def _folded(text: str | None) -> str:
    """White space as OpenDocument counts it: any run is one blank."""
    if not text:
        return ""
    core = " ".join(text.split())
    return (" " if text[0].isspace() else "") + core + (" " if core and text[-1].isspace() else "")
