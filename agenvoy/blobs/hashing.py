"""Names of contents: xxh3-128, fast; and SHA-256 beside it, which proves what the fast name only claims."""

from __future__ import annotations

import hashlib
from typing import Protocol


class Hasher(Protocol):
    """What `new_hasher` gives: feed bytes, then ask for the name."""

    def update(self, data: bytes, /) -> None:
        """Take in the next bytes."""

    def hexdigest(self) -> str:
        """The name of all bytes so far: 32 hex digits."""


def new_hasher() -> Hasher:
    """A hasher for a content's name (xxh3-128)."""
    import xxhash

    hasher: Hasher = xxhash.xxh3_128()
    return hasher


def hash_bytes(data: bytes) -> str:
    """The name of a content: xxh3-128 as 32 hex digits."""
    import xxhash

    return str(xxhash.xxh3_128_hexdigest(data))


class TwinHasher:
    """Both digests over one pass: the name and the proof."""

    def __init__(self) -> None:
        self._fast = new_hasher()
        self._strong = hashlib.sha256()
        self.size = 0

    def update(self, data: bytes) -> None:
        """Take in the next bytes."""
        self._fast.update(data)
        self._strong.update(data)
        self.size += len(data)

    def name(self) -> str:
        """xxh3-128 as 32 hex digits."""
        return self._fast.hexdigest()

    def proof(self) -> bytes:
        """SHA-256, 32 bytes."""
        return self._strong.digest()
