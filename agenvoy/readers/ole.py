"""OLE files: encrypted Office documents, which are opened with their password, and old Excel workbooks."""

from __future__ import annotations

import io
from typing import Any, BinaryIO

from agenvoy.errors import AgenvoyError
from agenvoy.readers.extracting import corrupt, encrypted
from agenvoy.readers.extracting import open_document as open_kind
from agenvoy.readers.paging import Document
from agenvoy.readers.remote import DocumentReader

READER = DocumentReader("ole")

# The stream that tells the format, and what the format is called.
_OLD = {"WordDocument": "an old Word document (.doc)", "PowerPoint Document": "an old presentation (.ppt)"}
_PARTS = ((b"word/", "docx"), (b"ppt/", "pptx"), (b"xl/", "xlsx"))
UNPACKED = 512 * 1024 * 1024  # bytes of a decrypted package


def open_document(stream: BinaryIO, password: str | None) -> Document:
    """Open what is inside.

    Raises:
        AgenvoyError: encrypted_document, corrupt_document, unsupported_type.
    """
    import olefile

    try:
        with olefile.OleFileIO(stream) as ole:
            names = {path[0] for path in ole.listdir()}
    except (OSError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise corrupt(f"the OLE file cannot be opened ({error})") from error
    stream.seek(0)
    if "EncryptedPackage" in names:
        return _decrypted(stream, password)
    if names & {"Workbook", "Book"}:
        return open_kind("xlsx", stream, password)
    what = next((words for name, words in _OLD.items() if name in names), "an OLE file of another program")
    raise AgenvoyError("unsupported_type", f"is {what}, which this version does not read", "save it in a newer format")


def _decrypted(stream: BinaryIO, password: str | None) -> Document:
    import msoffcrypto
    from msoffcrypto import exceptions

    if password is None:
        raise encrypted(False)
    plain = io.BytesIO()
    try:
        office: Any = msoffcrypto.OfficeFile(stream)
        office.load_key(password=password, verify_password=True)
        office.decrypt(plain)
    except exceptions.InvalidKeyError:
        raise encrypted(True) from None
    except Exception as error:
        raise corrupt(f"it cannot be decrypted ({type(error).__name__}: {error})") from error
    data = plain.getvalue()
    kind = next((kind for mark, kind in _PARTS if mark in data), None)
    if kind is None:
        raise corrupt("what it encrypts is no Office document")
    plain.seek(0)
    return open_kind(kind, plain, None)
