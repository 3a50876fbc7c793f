"""Rich text (RTF) by line, through striprtf."""

from __future__ import annotations

from typing import BinaryIO

from agenvoy.readers.base import Extract
from agenvoy.readers.extracting import bounded, corrupt
from agenvoy.readers.paging import Whole
from agenvoy.readers.remote import DocumentReader

READER = DocumentReader("rtf")

FILE_BYTES = 64 * 1024 * 1024  # most of it pictures written as digits, which are gone through one by one


def open_document(stream: BinaryIO, password: str | None) -> Whole:
    """Open a rich text; `password` is not used.

    Raises:
        AgenvoyError: corrupt_document, too_large.
    """
    from striprtf.striprtf import rtf_to_text

    data = bounded(stream, FILE_BYTES)
    try:
        # its own characters beyond ASCII are escaped, by the code page that the text names
        text = rtf_to_text(data.decode("latin-1"), errors="replace")  # type: ignore[no-untyped-call]
    except (ValueError, LookupError, IndexError, TypeError, OverflowError) as error:
        raise corrupt(f"its marks cannot be followed ({type(error).__name__}: {error})") from error
    lines = [line.rstrip() for line in text.encode("utf-8", "replace").decode().rstrip("\n").split("\n")]
    return Whole(Extract("rtf", "line", "row", lines if text.strip() else []))
