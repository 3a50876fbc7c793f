"""Bytes → text with locators: one module per format, told apart by what the bytes are, never by a suffix.

A new format is one module with a `READER` and one line here. Modules are imported when they are first needed,
because most of them bring a large library along.
"""

from __future__ import annotations

from importlib import import_module

from agenvoy.readers.base import Reader

READERS: dict[str, str] = {
    "text": "agenvoy.readers.text",
}


def reader_for(kind: str) -> Reader | None:
    """The reader of a kind (as `kinds.kind_of` names it); None where this version has none."""
    module = READERS.get(kind)
    if module is None:
        return None
    reader: Reader = import_module(module).READER
    return reader
