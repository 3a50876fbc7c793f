"""Bytes → text with locators: one module per format, told apart by what the bytes are, never by a suffix.

A new format is one module with a `READER` and one line here. Modules are imported when they are first needed,
because most of them bring a large library along.
"""

from __future__ import annotations

from importlib import import_module

from agenvoy.readers.base import Reader

READERS: dict[str, str] = {
    "text": "agenvoy.readers.text",
    "csv": "agenvoy.readers.csv",
    "pdf": "agenvoy.readers.pdf",
    "docx": "agenvoy.readers.docx",
    "pptx": "agenvoy.readers.pptx",
    "xlsx": "agenvoy.readers.xlsx",
    "ods": "agenvoy.readers.xlsx",
    "odt": "agenvoy.readers.opendocument",
    "odp": "agenvoy.readers.opendocument",
    "epub": "agenvoy.readers.epub",
    "ole": "agenvoy.readers.ole",
    "rtf": "agenvoy.readers.rtf",
    "ipynb": "agenvoy.readers.ipynb",
    "image": "agenvoy.readers.image",
    "media": "agenvoy.readers.media",
}


def reader_for(kind: str) -> Reader | None:
    """The reader of a kind (as `kinds.kind_of` names it); None where this version has none."""
    module = READERS.get(kind)
    if module is None:
        return None
    reader: Reader = import_module(module).READER
    return reader
