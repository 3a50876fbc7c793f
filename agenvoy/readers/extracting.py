"""What a worker does with a document: open the file that it was handed, have its format's module read it, page.

Each format module has `open_document(stream, password) -> Document`. This runs in the worker only; the parent talks
to it through `remote`.
"""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib import import_module
from typing import Any, BinaryIO

from agenvoy.errors import AgenvoyError
from agenvoy.readers import READERS
from agenvoy.readers.base import Wish
from agenvoy.readers.paging import Document, everything, page


class FileOf(io.RawIOBase):
    """A read-only file over a descriptor that other processes share: it never moves the common position."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._at = 0
        self._size = os.fstat(fd).st_size

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move this reader's own position."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise OSError("a position ahead of the file")
        self._at = base + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read at the own position."""
        data = os.pread(self._fd, len(buffer), self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def stream_of(fd: int) -> BinaryIO:
    """A buffered stream over a shared descriptor."""
    return io.BufferedReader(FileOf(fd), 1 << 16)


def read(fd: int, job: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> tuple[dict[str, Any], bytes]:
    """A page of a document, as the members of a `Reading`.

    Args:
        fd: the document.
        job: kind, shown, and offset, limit, password, max_bytes of the wish.
        tell: is told of progress.
    """
    wish = Wish(offset=job["offset"], limit=job["limit"], password=job["password"], max_bytes=job["max_bytes"])
    return asdict(page(_opened(fd, job), wish, job["shown"])), b""


def whole(fd: int, job: dict[str, Any], tell: Callable[[dict[str, Any]], None]) -> tuple[dict[str, Any], bytes]:
    """All text of a document, as the members of an `Extract`; arguments as for `read`."""
    document = _opened(fd, job)
    extract = asdict(everything(document))
    extract["labels"] = list(extract["labels"].items())  # JSON has no numbers as names
    return extract, b""


_RACY_NS = 2_000_000_000  # a file changed so lately may change again without its times telling (git's rule)
_LAST: list[tuple[tuple[Any, ...], Document, int]] = []  # the worker's: what it is, the document, its own descriptor


def _opened(fd: int, job: dict[str, Any]) -> Document:
    """The document; the one of the last job is kept open, because its next page is what is mostly asked for next."""
    found = os.fstat(fd)
    same = (
        job["kind"],
        job["password"],
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )
    if _LAST and _LAST[0][0] == same:
        return _LAST[0][1]
    while _LAST:
        os.close(_LAST.pop()[2])
    own = os.dup(fd)
    try:
        document = _open(own, job)
    except BaseException:
        os.close(own)
        raise
    if time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) > _RACY_NS:
        _LAST.append((same, document, own))
        return document
    _LAST.append(((), document, own))  # open until the next job, but found by none
    return document


def _open(fd: int, job: dict[str, Any]) -> Document:
    try:
        return open_document(job["kind"], stream_of(fd), job["password"])
    except AgenvoyError as error:
        raise AgenvoyError(error.code, f"{job['shown']} {error.message}", error.hint, **error.details) from error
    except RecursionError as error:
        raise AgenvoyError(
            "corrupt_document",
            f"{job['shown']} is damaged: its parts refer to each other in a circle",
            "repair it with the program that made it",
        ) from error


def open_document(kind: str, stream: BinaryIO, password: str | None) -> Document:
    """Open a document of a known kind; errors name no path (`is damaged: …`)."""
    document: Document = import_module(READERS[kind]).open_document(stream, password)
    return document


def bounded(stream: BinaryIO, most: int) -> bytes:
    """All of a document that is read as a whole; raises too_large beyond so many bytes."""
    data = stream.read(most + 1)
    if len(data) > most:
        raise too_large(f"more than {most:,} bytes")
    return data


def corrupt(why: str) -> AgenvoyError:
    """The error of a document that cannot be read; `why` follows "is damaged: "."""
    return AgenvoyError("corrupt_document", f"is damaged: {why}", "repair it with the program that made it")


def too_large(why: str) -> AgenvoyError:
    """The error of a document that would take too much memory or time."""
    return AgenvoyError("too_large", f"is too large to be read: {why}", "split it, or read it with another program")


def encrypted(given: bool) -> AgenvoyError:
    """The error of a document whose password is missing, or wrong where one was given."""
    if given:
        return AgenvoyError("encrypted_document", "is encrypted, and the password does not open it", "ask the user")
    return AgenvoyError(
        "encrypted_document", "is encrypted", 'ask the user for its password: files=[{"path": …, "password": …}]'
    )
