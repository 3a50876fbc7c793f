"""Raw bytes of files in one buffer that is used again and again: most files are ruled out there, and never decoded.

Fresh memory for every file costs more than reading it: the system has to clear each page first.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from agenvoy.textual import sniff
from agenvoy.workspace.sources import BLOCK, HEAD

MOST = 32 << 20  # bytes; larger files are not held in memory
_FIRST = 1 << 20  # bytes of the buffer at first
_PROVED = 256  # bytes by which a text in EBCDIC would have shown a letter or digit
RULED_OUT, STRANGE = -1, -2
_REGULAR, _KIND = stat.S_IFREG, 0o170000


class Sieve:
    """Reads files and rules out those that cannot hold a match.

    Args:
        literals: ASCII bytes of which every match holds at least one; empty: nothing is ruled out.
    """

    def __init__(self, literals: Sequence[bytes]) -> None:
        self._literals = literals
        self._buffer = bytearray(_FIRST)
        self._view = memoryview(self._buffer)
        self._whole = (self._view,)

    def read(self, fd: int, status: os.stat_result) -> int:
        """Read a file; gives its length, `RULED_OUT`, or `STRANGE`: linked, of another kind, binary, too large.

        Args:
            fd: open at its beginning.
            status: of it.

        Raises:
            OSError: it cannot be read.
        """
        size = status.st_size
        if status.st_nlink != 1 or status.st_mode & _KIND != _REGULAR or size > MOST:
            return STRANGE
        if size > HEAD:
            return self._large(fd, size)
        buffer = self._buffer
        read = os.readv(fd, self._whole)
        if self._literals:
            for literal in self._literals:
                if buffer.find(literal, 0, read) >= 0:
                    return read if read <= HEAD else STRANGE
            if buffer.find(0, 0, read) < 0 and buffer[:_PROVED].isascii() and not buffer.startswith(b"%PDF-", 0, read):
                return RULED_OUT if read <= HEAD else STRANGE
        return read if read <= HEAD else STRANGE  # it grew meanwhile

    def _large(self, fd: int, size: int) -> int:
        if size >= len(self._buffer):
            self._view.release()
            self._buffer = bytearray(size + 1)
            self._view = memoryview(self._buffer)
            self._whole = (self._view,)
        read = os.readv(fd, (self._view[:HEAD],))
        if self._buffer.find(0, 0, read) >= 0:
            return STRANGE
        while more := os.readv(fd, (self._view[read : size + 1],)):
            read += more
            if read > size:  # it grew
                return STRANGE
        lacks = self.lacks(read)
        if read <= BLOCK:
            return RULED_OUT if lacks else read
        # A text of many MiB is searched in pieces, and in the form that its beginning has.
        return RULED_OUT if lacks and sniff(bytes(self._view[:HEAD]), False) is not None else STRANGE

    def lacks(self, size: int) -> bool:
        """Whether no text of the file that was just read could hold any of the literals, nor is it binary.

        Without a NUL there is no ASCII character in UTF-16 or UTF-32. EBCDIC, which `textual` may tell by its letters,
        has none below 0x80; every other encoding writes ASCII as itself.

        Args:
            size: what `read` gave.
        """
        buffer = self._buffer
        for literal in self._literals:
            if buffer.find(literal, 0, size) >= 0:
                return False
        if not self._literals or buffer.find(0, 0, size) >= 0 or buffer.startswith(b"%PDF-", 0, size):
            return False
        return buffer[:_PROVED].isascii() or _is_utf8(self.data(size))

    def plain(self, fd: int, status: os.stat_result) -> bytes | None:
        """A file's bytes, where any literal that they do not hold would rule it out; None for every other file.

        Args:
            fd, status: see `read`.

        Raises:
            OSError: it cannot be read.
        """
        size = status.st_size
        if status.st_nlink != 1 or status.st_mode & _KIND != _REGULAR or size > MOST:
            return None
        data = b""
        while more := os.read(fd, max(size + 1 - len(data), 1)):
            data += more
            if len(data) > size or b"\0" in more:
                return None
        if data.startswith(b"%PDF-") or not (data[:_PROVED].isascii() or _is_utf8(data)):
            return None
        if len(data) > BLOCK and sniff(data[:HEAD], False) is None:
            return None
        return data

    def data(self, size: int) -> bytes:
        """The file that was just read."""
        return bytes(self._view[:size])


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
