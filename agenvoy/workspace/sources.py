"""Files as pieces of text for the searcher: UTF-8, rows ended by LF, never more than some 64 MiB at a time."""

from __future__ import annotations

import codecs
import mmap
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

from agenvoy import textual
from agenvoy.disk.jail import Jail, inside, open_folder
from agenvoy.search.searcher import Found, Piece

BLOCK = 8 * 1024 * 1024  # bytes read at once; a smaller file is one piece
OVERLAP = 64 * 1024  # bytes of a row longer than a block that are searched twice: a longer match may be missed there
WHOLE = 64 * 1024 * 1024  # bytes; the largest file that a multi-line search copies, larger ones are mapped
HEAD = 65536  # bytes by which `textual` judges
_NUL_WINDOW = 8192  # contract: a NUL in the first 8 KiB means binary
_EBCDIC = 256  # bytes by which a text in EBCDIC would have shown a letter or digit
FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF8)


class NotText(Exception):
    """A file that is not searched; the argument is the reason as `skipped` counts it."""


def pieces(fd: int, size: int, literals: tuple[bytes, ...], multiline: bool) -> Iterator[Piece]:
    """The text of an open file.

    Args:
        fd: descriptor of a regular file; it must stay open while the pieces are taken.
        size: its size in bytes.
        literals: ASCII bytes of which every hit holds at least one; empty where none is known.
        multiline: whether the whole text must be one piece.

    Raises:
        NotText: binary, or too large for a multi-line search.
        OSError: it cannot be read.
    """
    if size <= BLOCK:
        data = _read(fd, size, _looks_binary)
        return iter([] if literals and lacks(data, literals) else [Piece(text_of(data))])
    form = textual.sniff(os.pread(fd, HEAD, 0), False)
    if form is None:
        raise NotText("binary")
    if not multiline:
        return _streamed(fd, form)
    if size <= WHOLE:
        return iter([Piece(_rows_by_lf(textual.to_utf8(_read(fd, size), form)))])
    if form.encoding != "utf-8":
        raise NotText("too_large")
    return iter([Piece(mmap.mmap(fd, 0, access=mmap.ACCESS_READ))])


Units = Callable[[int, str, Callable[[], bool]], tuple[str, Iterable[tuple[int, str]]]]
"""A document's text from its open descriptor, its shown path and a clock that tells when the time is over: what its
units are called (page, slide, row), and pairs of number and text."""


def document(units: Iterable[tuple[int, str]]) -> tuple[Piece, list[int]]:
    """A document as one piece, and the unit that each of its lines belongs to (a page has many lines)."""
    lines: list[str] = []
    numbers: list[int] = []
    for number, text in units:
        parts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        lines += parts
        numbers += [number] * len(parts)
    return Piece("\n".join(lines).encode("utf-8", "replace")), numbers


def by_unit(found: Found, numbers: list[int], unit: str) -> Found:
    """What was found with line numbers turned into numbers of units, which `read_files` takes as `offset`."""
    rows = [replace(row, line=numbers[row.line - 1]) for row in found.rows]
    return Found(found.count, list(dict.fromkeys(numbers[n - 1] for n in found.lines)), rows, found.complete, unit)


def _read(fd: int, size: int, stop: Callable[[bytes], bool] = lambda head: False) -> bytes:
    """At most `size` bytes from the start; less where the file was cut meanwhile or `stop` says so of its head."""
    data = os.read(fd, min(size, HEAD))
    if size <= HEAD or stop(data):
        return data
    parts, missing = [data], size - len(data)
    while missing > 0 and (more := os.read(fd, missing)):
        parts.append(more)
        missing -= len(more)
    return b"".join(parts)


def _looks_binary(head: bytes) -> bool:
    """Binary beyond doubt, so that the rest of a large program or archive need not be read."""
    return head.find(b"\0", 0, _NUL_WINDOW) >= 0 and textual.sniff(head, False) is None


def lacks(data: bytes, literals: Sequence[bytes]) -> bool:
    """Whether a small file needs no decoding, because no text of it could hold any of the literals, nor is it binary.

    Without a NUL there is no ASCII character in UTF-16 or UTF-32. EBCDIC, which `textual` may tell by its letters, has
    none below 0x80; every other encoding writes ASCII as itself.

    Args:
        data: the whole file.
        literals: ASCII bytes.
    """
    for literal in literals:
        if literal in data:
            return False
    return data.find(b"\0") < 0 and not data.startswith(b"%PDF-") and (data[:_EBCDIC].isascii() or _is_utf8(data))


def text_of(data: bytes) -> bytes:
    """A whole small file as UTF-8, rows ended by LF.

    Raises:
        NotText: binary.
    """
    if data.find(b"\0", 0, _NUL_WINDOW) >= 0 or data.startswith(_MARKS):
        data = _decoded(data)
    elif data.startswith(b"%PDF-"):  # may well be without NUL
        raise NotText("binary")
    elif not data.isascii() and not _is_utf8(data):
        data = _decoded(data)
    return _rows_by_lf(data)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _decoded(data: bytes) -> bytes:
    form = textual.sniff(data[:HEAD], len(data) <= HEAD)
    if form is None:
        raise NotText("binary")
    return textual.to_utf8(data, form)


def _rows_by_lf(data: bytes) -> bytes:
    """CRLF, or CR where there is no LF at all, as LF: row numbers and texts stay what the reader says."""
    if b"\r" not in data:
        return data
    return data.replace(b"\r\n", b"\n") if b"\n" in data else data.replace(b"\r", b"\n")


def _blocks(fd: int, form: textual.TextForm) -> Iterator[bytes]:
    """The file's text as UTF-8 without its mark, block by block."""
    decoder = None if form.encoding == "utf-8" else codecs.getincrementaldecoder(form.encoding)("replace")
    at = len(form.bom)
    while block := os.pread(fd, BLOCK, at):
        at += len(block)
        yield block if decoder is None else decoder.decode(block).encode("utf-8", "replace")


def _streamed(fd: int, form: textual.TextForm) -> Iterator[Piece]:
    """A large file, cut at row ends; a row longer than a block comes in overlapping pieces."""
    only_cr = not any(b"\n" in block for block in _blocks(fd, form))
    carry, begun = b"", False
    for block in _blocks(fd, form):
        carry += block.replace(b"\r", b"\n") if only_cr else block
        cut = carry.rfind(b"\n") + 1
        if cut:
            rows = carry[:cut]
            yield Piece(rows.replace(b"\r\n", b"\n") if b"\r" in rows else rows, open_start=begun)
            carry, begun = carry[cut:], False
        if len(carry) >= BLOCK:
            yield Piece(carry, open_start=begun, open_end=True)
            carry, begun = carry[-OVERLAP:], True
    if carry:
        yield Piece(carry, open_start=begun)


_DEEPEST = 64  # folders that are kept open on the way to one
_PASS = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LIST = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Chain:
    """Opens folders for listing without following a link anywhere.

    The folders on the way stay open, so that the next folder, most often a neighbour, costs one call.

    Args:
        root: the allowed root; the chain begins there.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._open: list[tuple[str, int]] = []

    def open(self, folder: str) -> int:
        """A descriptor of a folder below the root, which stays the chain's.

        Raises:
            OSError: it cannot be opened, also where a link has come into its way.
        """
        while self._open and not inside(folder, self._open[-1][0]):
            os.close(self._open.pop()[1])
        if not self._open:
            flags = (_LIST if folder == self._root else _PASS) & ~os.O_NOFOLLOW
            self._open.append((self._root, os.open(self._root, flags)))
        here, fd = self._open[-1]
        if folder == here:  # it may have been opened on the way only, or been listed before
            self._open[-1] = (here, os.open(".", _LIST, dir_fd=fd))
            os.close(fd)
            return self._open[-1][1]
        parts = folder[len(here.rstrip("/")) + 1 :].split("/")
        for left, part in zip(reversed(range(len(parts))), parts, strict=True):
            below = os.open(part, _PASS if left else _LIST, dir_fd=fd)
            here = f"{here.rstrip('/')}/{part}"
            if len(self._open) >= _DEEPEST:
                os.close(self._open.pop()[1])
            self._open.append((here, below))
            fd = below
        return fd

    def close(self) -> None:
        """Close all."""
        while self._open:
            os.close(self._open.pop()[1])


class Opener:
    """Opens files without following a link anywhere; the folder of the last one is kept open for the next."""

    def __init__(self, jail: Jail) -> None:
        self._roots = jail.settings.roots
        self._stack = ExitStack()
        self._folder: str | None = None
        self._fd = -1

    def __enter__(self) -> Opener:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what is open."""
        self._stack.close()
        self._folder = None

    def open(self, path: str) -> int:
        """A descriptor of a file. Raises OSError, also where a link has come into its way since it was listed."""
        folder = os.path.dirname(path)
        if folder != self._folder:
            self._stack.close()
            self._folder = None
            root = next(r for r in self._roots if inside(path, r))
            self._fd = self._stack.enter_context(open_folder(folder, root))
            self._folder = folder
        return os.open(os.path.basename(path), FLAGS, dir_fd=self._fd)
