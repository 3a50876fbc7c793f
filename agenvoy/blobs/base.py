"""The contract of a blob backend: bytes kept by name, written once, read back verified or not at all.

A backend keeps contents too large for history.db. `put` is durable when it returns: a row that names the blob is
committed only afterwards. `tests/blobs/test_conformance.py` runs over every backend in `BACKENDS`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol


class BlobDamaged(Exception):
    """The bytes of a blob are there but are not those that its name and proof say."""


class BlobMissing(Exception):
    """A blob is not there."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What `put` kept: name (xxh3-128 hex), proof (SHA-256), size of the content and of what is stored, codec."""

    name: str
    proof: bytes
    size: int
    stored: int
    codec: str


class BlobStore(Protocol):
    """Contents by name."""

    def put(self, blocks: Iterable[bytes]) -> Stored:
        """Keep a content, durably; a content that is there already is not written again.

        Raises:
            OSError: it could not be kept (nothing half-written stays behind under a name).
        """

    def open(self, name: str, codec: str) -> Iterator[bytes]:
        """The content, block by block.

        Raises:
            BlobMissing: no such blob.
            BlobDamaged: while iterating, as soon as it shows, at the latest after the last block.
        """

    def delete(self, name: str) -> bool:
        """Remove a blob; False where there was none."""

    def names(self) -> Iterator[tuple[str, int]]:
        """Every blob: (name, stored bytes)."""
