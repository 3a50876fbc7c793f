"""Contents kept encrypted: AES-256-GCM over blocks, under one key of the user that lies outside the store.

    magic (8) · prefix (7, random) · block · block …      block = AES-256-GCM(up to 1 MiB) with 16 bytes of tag

The nonce of a block is the prefix, its number (4 bytes) and whether it is the last (1 byte): the STREAM construction
(Hoang, Reyhanitabar, Rogaway, Vizár 2015), as age and Tink use it. So no block can be left out, moved or cut off.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

MAGIC = b"AGVSEAL\x01"  # no zstd frame begins so: blob files tell by it whether they are sealed
SUFFIX = "+aes256gcm"  # of the codec, where the stored bytes do not tell by themselves
_BLOCK, _TAG, _PREFIX, _KEY = 1024 * 1024, 16, 7, 32


class KeyMissing(Exception):
    """The key is not there, or is no key; the message says where it should be."""


class Keyring:
    """The user's key.

    Args:
        path: its file, 32 bytes, mode 0600; made with random bytes when the first content is sealed. Empty: none.
    """

    def __init__(self, path: str = "") -> None:
        self.path = path
        self._key = b""

    def key(self, *, make: bool = False) -> bytes:
        """The key's 32 bytes.

        Args:
            make: whether a key that is not there is made.

        Raises:
            KeyMissing: see there.
            OSError: it could not be read or made.
        """
        if not self._key:
            try:
                self._key = _read(self.path)
            except FileNotFoundError:
                if not make or not self.path:
                    raise KeyMissing(f"the key {self.path or 'for encrypted contents'} is not there") from None
                _make(self.path)
                self._key = _read(self.path)
        return self._key

    def seal(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """Stored bytes, sealed; raises as `key` does."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        cipher, prefix = AESGCM(self.key(make=True)), os.urandom(_PREFIX)
        yield MAGIC + prefix
        number, held = 0, b""
        for block in _sized(blocks, _BLOCK):
            if held:
                yield cipher.encrypt(_nonce(prefix, number, last=False), held, None)
                number += 1
            held = block
        yield cipher.encrypt(_nonce(prefix, number, last=True), held, None)

    def unseal(self, blocks: Iterable[bytes]) -> Iterator[bytes]:
        """The stored bytes again; raises ValueError for damaged ones, and as `key` does."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        cipher = AESGCM(self.key())
        stream = iter(blocks)
        head = b""
        while len(head) < len(MAGIC) + _PREFIX:
            more = next(stream, b"")
            if not more:
                raise ValueError("the sealed bytes are cut")
            head += more
        prefix, rest = head[len(MAGIC) : len(MAGIC) + _PREFIX], head[len(MAGIC) + _PREFIX :]
        if not head.startswith(MAGIC):
            raise ValueError("these are no sealed bytes")
        number, held = 0, b""
        try:
            for block in _sized(_with(rest, stream), _BLOCK + _TAG):
                if held:
                    yield cipher.decrypt(_nonce(prefix, number, last=False), held, None)
                    number += 1
                held = block
            yield cipher.decrypt(_nonce(prefix, number, last=True), held, None)
        except InvalidTag:
            raise ValueError("the sealed bytes are damaged, or were sealed with another key") from None


def _nonce(prefix: bytes, number: int, *, last: bool) -> bytes:
    return prefix + number.to_bytes(4, "big") + bytes([last])


def _with(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _sized(blocks: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The same bytes in blocks of one size; only the last may be shorter."""
    held = bytearray()
    for block in blocks:
        held += block
        while len(held) >= size:
            yield bytes(held[:size])
            del held[:size]
    if held:
        yield bytes(held)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        found = file.read(_KEY + 1)
    if len(found) != _KEY:
        raise KeyMissing(f"{path} is no key: it must be {_KEY} bytes long")
    return found


def _make(path: str) -> None:
    """A new key, complete and durable before it has its name; another process may have been faster."""
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    temp = f"{path}.{os.getpid()}-{os.urandom(6).hex()}"
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(fd, "wb") as file:
            file.write(os.urandom(_KEY))
            file.flush()
            os.fsync(fd)
        try:
            os.link(temp, path)
        except FileExistsError:
            return
        at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(at)
        finally:
            os.close(at)
    finally:
        os.unlink(temp)
