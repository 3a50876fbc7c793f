"""Bytes by their hash: the `BlobStore` protocol and its backends."""

from agenvoy.blobs.base import BlobDamaged, BlobMissing, BlobStore, Stored
from agenvoy.blobs.files import FileBlobs
from agenvoy.blobs.memory import MemoryBlobs
from agenvoy.blobs.sealing import KeyMissing, Keyring

BACKENDS: dict[str, type[FileBlobs] | type[MemoryBlobs]] = {"files": FileBlobs, "memory": MemoryBlobs}

__all__ = [
    "BACKENDS",
    "BlobDamaged",
    "BlobMissing",
    "BlobStore",
    "FileBlobs",
    "KeyMissing",
    "Keyring",
    "MemoryBlobs",
    "Stored",
]
