"""What all readers have in common: the file they are given, what is wanted of it, what they give back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from agenvoy.types import Image

BLOCK = 1024 * 1024  # bytes of one read; more is not faster, and keeps a large file's reading below 100 MB
HEAD = 1024 * 1024  # bytes that are looked at to tell what a file is; as much as a patch can hold (contract: 1 MiB)


@dataclass(slots=True)
class Source:
    """An opened file.

    Args:
        fd: its descriptor; the reader moves its position, and closes nothing.
        shown: its path as answers spell it.
        head: its first bytes, at most `HEAD`.
        whole: whether `head` is all of it.
        on_bytes: sees every byte of the file once, in order, whatever part was asked for.
        size: bytes of the file; known after the first pass where the system does not tell (files of /proc).
    """

    fd: int
    shown: str
    head: bytes
    whole: bool
    on_bytes: Callable[[bytes], None]
    size: int
    _told: bool = field(default=False, init=False)

    @classmethod
    def open(cls, fd: int, shown: str, on_bytes: Callable[[bytes], None]) -> Source:
        """Look at the first bytes of `fd`."""
        parts: list[bytes] = []
        room = HEAD + 1  # one more tells whether that is everything
        while room and (part := os.read(fd, room)):
            parts.append(part)
            room -= len(part)
        head = b"".join(parts)
        whole = room > 0
        return cls(fd, shown, head[:HEAD], whole, on_bytes, len(head) if whole else os.fstat(fd).st_size)

    def blocks(self) -> Iterator[bytes]:
        """All bytes from the start, in blocks; the first time `on_bytes` sees them too."""
        telling, self._told = not self._told, True
        seen = 0
        for block in self._read():
            seen += len(block)
            if telling:
                self.on_bytes(block)
            yield block
        if telling:
            self.size = seen

    def _read(self) -> Iterator[bytes]:
        if self.whole:
            if self.head:
                yield self.head
            return
        os.lseek(self.fd, 0, os.SEEK_SET)
        while block := os.read(self.fd, BLOCK):
            yield block

    def tail(self, count: int) -> bytes:
        """The last bytes, at most `count`."""
        if self.whole:
            return self.head[-count:]
        end = os.fstat(self.fd).st_size
        return os.pread(self.fd, count, max(0, end - count))

    def drain(self) -> None:
        """Show `on_bytes` what it has not seen: called once a reader is done."""
        if not self._told:
            for _ in self.blocks():
                pass


@dataclass(frozen=True, slots=True)
class Wish:
    """Which part of a file is wanted.

    Args:
        offset: first unit (row, page, slide …), from 1.
        limit: most units; None: as many as fit.
        around: rows to be shown with their surroundings (plain text only; offset and limit are then ignored).
        context: rows on each side of those.
        password: of an encrypted document.
        max_units, max_bytes: most rows of a text and bytes of text of one answer.
        options: settings of readers (`audio_model` …).
        progress: is told of what takes long: seconds done and seconds in all.
        check: is called often while a worker is waited for, and raises to give up.
    """

    offset: int = 1
    limit: int | None = None
    around: Sequence[int] | None = None
    context: int = 20
    password: str | None = None
    max_units: int = 2048
    max_bytes: int = 1024 * 1024
    options: Mapping[str, str] = field(default_factory=dict)
    progress: Callable[[float, float], None] | None = None
    check: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: members as the contract's entry has them; `extra` are further ones (dialect, language …).

    `images` are for a model to look at.
    """

    kind: str
    unit: str
    total: int
    first: int
    last: int
    next_offset: int | None
    text: str
    encoding: str | None = None
    newline: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    images: tuple[Image, ...] = ()


Style = Literal["row", "block", "plain"]
"""How units are shown: numbered rows, blocks under a heading (pages, slides), or as they are (a transcript)."""


@dataclass(slots=True)
class Extract:
    """The whole text of a document.

    Args:
        kind, unit: as in `Reading`.
        style: how units are shown.
        units: the text of each unit, in order.
        labels: what a unit's heading adds (`hidden`), by number.
        sections: titles that stand ahead of a unit, as number and title, rising (the sheets of a workbook).
        extra: further members of the entry.
        silent: what is said where no unit has text.
    """

    kind: str
    unit: str
    style: Style
    units: Sequence[str]
    labels: dict[int, str] = field(default_factory=dict)
    sections: list[tuple[int, str]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    silent: str = "holds no text"


class Reader(Protocol):
    """A format's reader; each module in `readers` has one as `READER`.

    `dear` tells that its text is so costly to get that it is got once, as a whole, and kept.
    """

    dear: bool

    def key(self, wish: Wish) -> str:
        """What texts of this reader are kept by, beside the file's content; empty where keeping gains nothing."""

    def extract(self, source: Source, wish: Wish) -> Extract:
        """The whole text of a file, for searching; raises as `read` does."""

    def read(self, source: Source, wish: Wish) -> Reading:
        """The wanted part of a file.

        Raises:
            AgenvoyError: what the contract says of the format (corrupt_document, encrypted_document …), and
                invalid_arguments for an offset or limit that the file does not have.
        """
