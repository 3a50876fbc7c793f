"""EPUB books by chapter: the text of each document in the book's own order."""

from __future__ import annotations

import posixpath
from typing import Any, BinaryIO
from urllib.parse import unquote

from agenvoy.errors import AgenvoyError
from agenvoy.readers.extracting import corrupt, encrypted
from agenvoy.readers.ooxml import Element, Package, attribute, below, name_of, parse
from agenvoy.readers.remote import DocumentReader

READER = DocumentReader("epub")

_BLOCKS = frozenset(
    ("p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "tr", "br", "pre", "blockquote", "section", "dt", "dd", "hr")
)
_GONE = frozenset(("head", "script", "style", "rt", "rp"))


class Book:
    """An opened book; a chapter is read when it is asked for."""

    kind, unit, style = "epub", "chapter", "block"
    silent = "holds no text: its pages seem to be pictures"

    def __init__(self, package: Package, chapters: list[str]) -> None:
        self._package, self._chapters = package, chapters
        self.labels: dict[int, str] = {}
        self.sections: list[tuple[int, str]] = []
        self.extra: dict[str, Any] = {}

    @property
    def total(self) -> int:
        """How many chapters there are."""
        return len(self._chapters)

    def text(self, number: int) -> str:
        """A chapter's text; a damaged one says so."""
        name = self._chapters[number - 1]
        try:
            root = _html(self._package.data(name), name)
        except (AgenvoyError, KeyError):
            return "[this chapter could not be read: its part is missing or damaged]"
        lines = (" ".join(line.split()) for line in _text(root).split("\n"))
        return "\n".join(line for line in lines if line)


def open_document(stream: BinaryIO, password: str | None) -> Book:
    """Open a book; `password` is not used.

    Raises:
        AgenvoyError: corrupt_document, encrypted_document (rights management), too_large.
    """
    package = Package(stream)
    container = package.optional("META-INF/container.xml")
    roots = [attribute(e, "full-path") for e in below(container, "rootfile")] if container is not None else []
    main = next((name for name in roots if package.has(name)), None)
    if main is None:
        raise corrupt("it has no list of contents")
    if package.has("META-INF/rights.xml"):
        raise encrypted(password is not None)
    root = package.xml(main)
    folder = posixpath.dirname(main)
    items = {attribute(e, "id"): unquote(attribute(e, "href")) for e in below(root, "item")}
    order = [items[attribute(e, "idref")] for e in below(root, "itemref") if attribute(e, "idref") in items]
    chapters = [posixpath.normpath(posixpath.join(folder, name)) for name in order]
    if not chapters:
        raise corrupt("it has no chapters")
    return Book(package, chapters)


def _html(data: bytes, name: str) -> Element:
    """A chapter as XML, or as HTML where it is none (named entities, open tags)."""
    try:
        root, sound = parse(data, name)
        if sound:
            return root
        raise corrupt("not well-formed")
    except AgenvoyError:
        from lxml import html

        root = html.document_fromstring(data, parser=html.HTMLParser(no_network=True, huge_tree=False))
        return root


def _text(root: Element) -> str:
    """The text of an element; blocks begin and end lines. Iterative, as markup may nest without end."""
    from lxml import etree

    out: list[str] = []
    skipping = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        name = name_of(element)
        if event == "start":
            skipping += name in _GONE
            out.append("\n" if name in _BLOCKS else "\t" if name in ("td", "th") else "")
            out.append("" if skipping or not name else " ".join((element.text or "").split("\n")))
        else:
            skipping -= name in _GONE
            out.append("\n" if name in _BLOCKS else "")
            out.append("" if skipping else " ".join((element.tail or "").split("\n")))
    return "".join(out)
