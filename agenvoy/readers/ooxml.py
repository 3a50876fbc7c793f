"""Packages of XML parts (OOXML, OpenDocument, EPUB): opening them within limits, relationships, drawing text.

Elements are compared by local name, so that the strict and the transitional namespaces of OOXML read alike. Parts are
parsed by lxml: no entity is expanded, nothing is fetched, and a part with a document type is refused (OOXML has none).
"""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO
from urllib.parse import unquote

from agenvoy.readers.extracting import corrupt, encrypted, too_large

PART_BYTES = 48 * 1024 * 1024  # of one part, unpacked; lxml needs some ten times as much for the tree
ALL_BYTES = 256 * 1024 * 1024  # of all parts that are looked at
PARTS = 20_000  # entries of the archive

Element = Any  # lxml ships no types


def name_of(element: Element) -> str:
    """The local name of an element; empty for comments, instructions and entities."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def attribute(element: Element, name: str) -> str:
    """An attribute by its local name; empty where there is none."""
    found = element.get(name)
    if found is None:
        found = next((value for key, value in element.attrib.items() if key.rpartition("}")[2] == name), "")
    return str(found)


def relation(element: Element, name: str = "id") -> str:
    """An attribute of the relationships namespace (`r:id`, `r:dm` …); empty where there is none."""
    return next(
        (str(v) for k, v in element.attrib.items() if k.endswith("}" + name) and "relationships" in k),
        "",
    )


def child(element: Element, *names: str) -> Element | None:
    """The element reached by local names, step by step; None where one is missing."""
    for name in names:
        element = next((e for e in element if name_of(e) == name), None)
        if element is None:
            return None
    return element


def below(element: Element, name: str) -> Iterator[Element]:
    """All descendants of a local name, in order."""
    return (e for e in element.iter("{*}" + name))


def choice(element: Element) -> list[Element]:
    """What counts of `mc:AlternateContent`: its first choice, or the fallback where that holds no text at all."""
    options = [e for e in element if name_of(e) in ("Choice", "Fallback")]
    for option in options:
        if any((e.text or "").strip() for e in option.iter("{*}t")) or any(relation(e) for e in option.iter()):
            return list(option)
    return list(options[0]) if options else []


class Package:
    """An opened archive.

    Args:
        stream: the file.

    Raises:
        AgenvoyError: corrupt_document, too_large, encrypted_document.
    """

    def __init__(self, stream: BinaryIO) -> None:
        try:
            self._zip = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, UnicodeError) as error:
            raise corrupt(f"the ZIP archive cannot be opened ({error})") from error
        members = self._zip.infolist()
        if len(members) > PARTS:
            raise too_large(f"{len(members):,} parts")
        self._members = {member.filename.lstrip("/").lower(): member for member in members}
        self._room = ALL_BYTES
        self.damaged: list[str] = []  # parts that could be read in part only
        if any(member.flag_bits & 1 for member in members):
            raise encrypted(False)

    def names(self) -> list[str]:
        """The parts' names, in lower case."""
        return list(self._members)

    def has(self, name: str) -> bool:
        """Whether there is a part of this name (case does not matter)."""
        return name.lower() in self._members

    def data(self, name: str) -> bytes:
        """A part's bytes; raises KeyError for a missing one, and what the package's opening raises."""
        member = self._members[name.lower()]
        most = min(PART_BYTES, self._room)
        if member.file_size > most:
            raise too_large(f"its part {name} unpacks to {member.file_size:,} bytes")
        try:
            with self._zip.open(member) as part:
                data = part.read(most + 1)  # what the archive says of the size may be a lie
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError) as error:
            raise corrupt(f"its part {name} cannot be unpacked ({error})") from error
        if len(data) > most:
            raise too_large(f"its part {name} unpacks to more than {most:,} bytes")
        self._room -= len(data)
        return data

    def xml(self, name: str) -> Element:
        """The root element of a part; raises as `data` does, and corrupt_document for what is no XML."""
        root, sound = parse(self.data(name), name)
        if not sound and name not in self.damaged:
            self.damaged.append(name)
        return root

    def damage(self) -> list[str]:
        """A line for each part of which only the beginning could be read, so that a gap is never silent."""
        return [f"[this document is damaged: its part {name} could be read in part only]" for name in self.damaged]

    def optional(self, name: str | None) -> Element | None:
        """The root of a part that may be missing or damaged: such a part costs itself, not the document."""
        from agenvoy.errors import AgenvoyError

        if not name or not self.has(name):
            return None
        try:
            return self.xml(name)
        except AgenvoyError:
            return None

    def check_parts(self) -> None:
        """Refuse a package whose XML is too much in all or defines entities: for readers that unpack it themselves.

        Raises:
            AgenvoyError: too_large, corrupt_document.
        """
        parts = [m for m in self._members.values() if m.filename.lower().endswith((".xml", ".rels", ".bin"))]
        size = sum(member.file_size for member in parts)
        if size > ALL_BYTES:
            raise too_large(f"it unpacks to {size:,} bytes")
        for member in parts:
            try:
                with self._zip.open(member) as part:
                    head = part.read(4096)
            except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError):
                continue  # the reader itself says what that part costs
            if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
                raise corrupt(f"its part {member.filename} defines entities, which no workbook does")

    def relations(self, part: str) -> dict[str, tuple[str, str]]:
        """The relationships of a part: id -> (last step of the type, target part or address)."""
        folder, name = posixpath.split(part)
        root = self.optional(posixpath.join(folder, "_rels", name + ".rels"))
        found: dict[str, tuple[str, str]] = {}
        for element in root if root is not None else ():
            kind = attribute(element, "Type").rpartition("/")[2]
            target = attribute(element, "Target")
            if attribute(element, "TargetMode") != "External":
                path = target if target.startswith("/") else posixpath.join(folder, unquote(target))
                target = posixpath.normpath(path).lstrip("/")
            found[attribute(element, "Id")] = (kind, target)
        return found

    def main(self, default: str) -> str:
        """The name of the main part: what the package's relationships say, else `default`."""
        for kind, target in self.relations("").values():
            if kind == "officeDocument" and self.has(target):
                return target
        return default


def parse(data: bytes, name: str) -> tuple[Element, bool]:
    """The root element of an XML text, and whether it is sound; a damaged one is read as far as it can be.

    Raises:
        AgenvoyError: corrupt_document.
    """
    from lxml import etree

    options = {"resolve_entities": False, "no_network": True, "load_dtd": False, "remove_pis": True}
    sound = True
    try:
        root = etree.fromstring(data, etree.XMLParser(**options))
    except (etree.XMLSyntaxError, ValueError) as error:
        if b"<!ENTITY" in data[:65536] or b"<!DOCTYPE" in data[:65536]:
            raise corrupt(f"its part {name} defines entities, which no document does") from error
        try:
            root = etree.fromstring(data, etree.XMLParser(recover=True, **options))
        except (etree.XMLSyntaxError, ValueError):
            root = None
        sound = False
        if root is None:
            raise corrupt(f"its part {name} is no XML ({error})") from error
    if root.getroottree().docinfo.internalDTD is not None and b"<!ENTITY" in data[:65536]:
        raise corrupt(f"its part {name} defines entities, which no document does")
    return root, sound


def paragraph_text(paragraph: Element) -> str:
    """The text of a drawing's paragraph (`a:p`): runs, fields, line breaks."""
    out: list[str] = []
    for element in paragraph.iter():
        name = name_of(element)
        if name == "t":
            out.append(element.text or "")
        elif name == "br":
            out.append("\n")
        elif name == "tab" and name_of(element.getparent()) != "tabLst":
            out.append("\t")
    return "".join(out)


def body_lines(body: Element) -> list[str]:
    """The paragraphs of a drawing's text body, list levels indented by two blanks each."""
    lines: list[str] = []
    for paragraph in (e for e in body if name_of(e) == "p"):
        text = paragraph_text(paragraph)
        settings = child(paragraph, "pPr")
        level = attribute(settings, "lvl") if settings is not None else ""
        indent = "  " * min(int(level), 8) if level.isdigit() else ""
        lines += [indent + line for line in text.split("\n") if line.strip()]
    return lines


def chart_lines(root: Element) -> list[str]:
    """The text of a chart part: titles, then each series with its categories and values."""
    lines: list[str] = []
    for title in below(root, "title"):
        text = " ".join(filter(None, (paragraph_text(p) for p in below(title, "p")))) or " ".join(_cached(title))
        lines += [f"[chart] {text}"] if text.strip() else []
    for series in below(root, "ser"):
        heading = child(series, "tx")
        name = " ".join(_cached(heading)) if heading is not None else ""
        category, values = child(series, "cat"), child(series, "val")
        labels = _cached(category) if category is not None else []
        figures = [_figure(text) for text in _cached(values)] if values is not None else []
        pairs = [f"{a}: {b}" for a, b in zip(labels, figures, strict=False)] or figures or labels
        text = ": ".join(filter(None, (name, ", ".join(pairs))))
        lines += [f"[chart series] {text}"] if text else []
    return lines


def _figure(text: str) -> str:
    """A number without the noise of its binary form (2.4000000000000004)."""
    try:
        return f"{float(text):.12g}"
    except ValueError:
        return text


def _cached(element: Element) -> list[str]:
    return [e.text for e in below(element, "v") if e.text]


def diagram_lines(root: Element) -> list[str]:
    """The text of a SmartArt part: one line per point, in the order of the part."""
    lines: list[str] = []
    for point in below(root, "pt"):
        body = child(point, "t")
        text = " ".join(filter(None, (paragraph_text(p) for p in body))) if body is not None else ""
        lines += [f"[diagram] {text}"] if text.strip() else []
    return lines


def graphic_lines(package: Package, relations: dict[str, tuple[str, str]], graphic: Element) -> list[str]:
    """The text of a chart or SmartArt that an element refers to; empty where there is neither.

    Args:
        package: the document.
        relations: of the part that the element stands in.
        graphic: the `a:graphicData` or an element around it.
    """
    lines: list[str] = []
    for element in graphic.iter():
        name = name_of(element)
        if name == "chart" and relation(element):
            root = package.optional(relations.get(relation(element), ("", ""))[1])
            lines += chart_lines(root) if root is not None else []
        elif name == "relIds":
            root = package.optional(relations.get(relation(element, "dm"), ("", ""))[1])
            lines += diagram_lines(root) if root is not None else []
    return lines
