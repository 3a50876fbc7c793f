"""Workbooks (XLSX, XLSB, XLS, ODS) by row, sheet after sheet, through calamine: the values that were last computed."""

from __future__ import annotations

import datetime
from typing import Any, BinaryIO

from agenvoy.readers.base import Extract
from agenvoy.readers.extracting import corrupt, encrypted, too_large
from agenvoy.readers.ooxml import Package, attribute, below, child
from agenvoy.readers.paging import Whole
from agenvoy.readers.remote import DocumentReader

READER = DocumentReader("xlsx")

CELLS = 20_000_000  # of one sheet, empty ones between included; some 10 bytes each while they are read


def open_document(stream: BinaryIO, password: str | None) -> Whole:
    """Open a workbook; `password` is not used (encrypted ones come through `ole`).

    Raises:
        AgenvoyError: corrupt_document, too_large, encrypted_document.
    """
    package = None
    if stream.read(2) == b"PK":
        package = Package(stream)
        package.check_parts()
    stream.seek(0)
    kind = "xls" if package is None else "ods" if package.has("content.xml") else "xlsx"
    return read_workbook(stream, kind, package)


def read_workbook(stream: BinaryIO, kind: str, package: Package | None = None) -> Whole:
    """All sheets of a workbook in any of calamine's formats.

    Args:
        stream: the file.
        kind: what the answer calls it.
        package: the same as a package, for the comments of XLSX; None where it is none.
    """
    import python_calamine as calamine

    try:
        book = calamine.load_workbook(stream)
        metadata = book.sheets_metadata
    except calamine.PasswordError:
        raise encrypted(False) from None
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise corrupt(f"the workbook cannot be opened ({error})") from error
    comments = _comments(package) if package is not None else {}
    rows: list[str] = []
    sections: list[tuple[int, str]] = []
    for position, sheet in enumerate(metadata):
        visible = _visibility(sheet)
        hidden = f", {visible}" if visible else ""
        first = len(rows) + 1
        try:
            found = _rows(book.get_sheet_by_index(position))
        except (calamine.CalamineError, OSError, ValueError) as error:
            found = [f"[this sheet could not be read: {error}]"]
        found += comments.get(position, [])
        where = f"; its row 1 is row {first} here" if first > 1 and found else ""
        sections.append((first, f"sheet {sheet.name}{hidden}{where}"))
        rows += found or ["[this sheet is empty]"]
    if all(row == "[this sheet is empty]" for row in rows):
        rows = []
    names = [[sheet.name, _visibility(sheet) or None] for sheet in metadata]
    return Whole(Extract(kind, "row", "row", rows, {}, sections if rows else [], {"sheets": names}))


def _visibility(sheet: Any) -> str:
    """`hidden` or `veryhidden` (which only a macro shows); empty for a visible sheet."""
    told = str(sheet.visible).rpartition(".")[2].lower()
    return "" if told == "visible" else told


def _rows(sheet: Any) -> list[str]:
    if sheet.total_height * sheet.total_width > CELLS:
        raise too_large(f"a sheet of {sheet.total_height:,} rows and {sheet.total_width:,} columns")
    rows = ["\t".join(map(_cell, row)).rstrip("\t") for row in sheet.to_python(skip_empty_area=False)]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _cell(value: Any) -> str:
    """A cell's value as text: whole numbers without a point, days without a time at midnight."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(" ")
    return " ".join(str(value).split("\n")).replace("\t", " ").replace("\r", "")


def _comments(package: Package) -> dict[int, list[str]]:
    """The comments of each sheet, by its position."""
    main = package.main("xl/workbook.xml")
    book = package.optional(main)
    if book is None:
        return {}
    relations = package.relations(main)
    found: dict[int, list[str]] = {}
    for position, sheet in enumerate(below(book, "sheet")):
        part = relations.get(attribute(sheet, "id"), ("", ""))[1]
        for kind, target in package.relations(part).values() if part else ():
            root = package.optional(target) if kind == "comments" else None
            for comment in below(root, "comment") if root is not None else ():
                body = child(comment, "text")
                text = "".join(e.text or "" for e in below(body, "t")) if body is not None else ""
                line = f"[comment {attribute(comment, 'ref')}] {' '.join(text.split())}"
                found.setdefault(position, []).append(line)
    return found
