"""Blobs in memory: the second backend, for tests and for hosts that keep nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agenvoy.blobs import codec as codecs
from agenvoy.blobs.base import BlobDamaged, BlobMissing, Stored
from agenvoy.blobs.hashing import TwinHasher, hash_bytes


class MemoryBlobs:
    """Keeps each content as stored bytes in a dictionary.

    Args:
        folder: taken for likeness with the other backends; not used.
    """

    def __init__(self, folder: str = "") -> None:
        self.kept: dict[str, tuple[str, int, bytes]] = {}

    def put(self, blocks: Iterable[bytes]) -> Stored:
        """See `BlobStore.put`."""
        hasher, parts = TwinHasher(), []
        for block in blocks:
            hasher.update(block)
            parts.append(bytes(block))
        codec, stored = codecs.pack(b"".join(parts))
        self.kept.setdefault(hasher.name(), (codec, hasher.size, stored))
        codec, _, stored = self.kept[hasher.name()]
        return Stored(hasher.name(), hasher.proof(), hasher.size, len(stored), codec)

    def open(self, name: str, codec: str) -> Iterator[bytes]:
        """See `BlobStore.open`."""
        if name not in self.kept:
            raise BlobMissing(name)
        codec, size, stored = self.kept[name]
        try:
            data = codecs.unpack(codec, stored, size)
        except ValueError as error:
            raise BlobDamaged(f"{name}: {error}") from error
        if hash_bytes(data) != name:
            raise BlobDamaged(f"{name}: the bytes are not those that were stored")
        yield data

    def delete(self, name: str) -> bool:
        """See `BlobStore.delete`."""
        return self.kept.pop(name, None) is not None

    def names(self) -> Iterator[tuple[str, int]]:
        """See `BlobStore.names`."""
        for name in sorted(self.kept):
            yield name, len(self.kept[name][2])
