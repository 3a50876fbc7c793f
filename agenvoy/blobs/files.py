"""Blobs as files: `<folder>/ab/abcdef…`, written as temp → sync → rename → sync folder.

The sync before the rename keeps a power cut from leaving a name with no bytes; the sync of the folder keeps the
name itself. A temporary file left by a dead process has no name that is ever read, and `sweep` removes it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from io import RawIOBase
from itertools import chain

from agenvoy.blobs import codec as codecs
from agenvoy.blobs.base import BlobDamaged, BlobMissing, Stored
from agenvoy.blobs.hashing import TwinHasher, new_hasher
from agenvoy.blobs.sealing import MAGIC, Keyring

BLOCK = 1024 * 1024  # bytes read at a time: large enough to hide the call, small enough to hold several
_TEMP = "incoming"


class FileBlobs:
    """The default backend.

    Args:
        folder: where blobs live; made with mode 0700 when first needed.
        keyring: the key of sealed blobs.
    """

    def __init__(self, folder: str, keyring: Keyring | None = None) -> None:
        self.folder = folder
        self.keyring = keyring or Keyring()
        self._later: set[str] | None = None

    def path(self, name: str) -> str:
        """Where a blob lies."""
        return os.path.join(self.folder, name[:2], name)

    def put(self, blocks: Iterable[bytes]) -> Stored:
        """See `BlobStore.put`."""
        import zstandard

        incoming = os.path.join(self.folder, _TEMP)
        make_private(incoming)
        temp = os.path.join(incoming, f"{os.getpid()}-{os.urandom(6).hex()}")
        hasher, deflater, stored = TwinHasher(), zstandard.ZstdCompressor(level=codecs.LEVEL).compressobj(), 0
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(fd, "wb", buffering=BLOCK) as out:
                for block in blocks:
                    hasher.update(block)
                    stored += out.write(deflater.compress(block))
                stored += out.write(deflater.flush())
                out.flush()
                os.fsync(fd)
            self._name(temp, hasher.name())
        except BaseException:
            if os.path.lexists(temp):
                os.unlink(temp)
            raise
        return Stored(hasher.name(), hasher.proof(), hasher.size, stored, codecs.ZSTD)

    def _name(self, temp: str, name: str) -> None:
        """Give a complete file its name; an equal one that is there already is kept unless it is damaged."""
        final = self.path(name)
        if os.path.exists(final) and self._sound(name):
            os.unlink(temp)
            return
        make_private(os.path.dirname(final))
        os.rename(temp, final)
        folders = (os.path.dirname(final), self.folder)
        if self._later is not None:
            self._later.update(folders)
            return
        for folder in folders:
            sync_folder(folder)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Several `put`s whose names become durable at the end, with one sync a folder."""
        self._later = set()
        try:
            yield
        finally:
            folders, self._later = self._later, None
            for folder in sorted(folders):
                sync_folder(folder)

    def _sound(self, name: str) -> bool:
        try:
            for _ in self.open(name, codecs.ZSTD):
                pass
        except (BlobDamaged, BlobMissing, OSError):
            return False
        return True

    def open(self, name: str, codec: str) -> Iterator[bytes]:
        """See `BlobStore.open`."""
        try:
            fd = os.open(self.path(name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            raise BlobMissing(name) from None
        hasher = new_hasher()
        with open(fd, "rb", buffering=0) as file:
            try:
                for block in codecs.unpack_stream(codec, self._stored(file)):
                    hasher.update(block)
                    yield block
            except ValueError as error:
                raise BlobDamaged(f"{name}: {error}") from error
        if hasher.hexdigest() != name.partition("-")[0]:
            raise BlobDamaged(f"{name}: the bytes are not those that were stored")

    def _stored(self, file: RawIOBase) -> Iterator[bytes]:
        """The bytes of a blob file, unsealed where they are sealed."""
        blocks = iter(lambda: file.read(BLOCK) or b"", b"")
        first = next(blocks, b"")
        whole = chain((first,), blocks)
        return self.keyring.unseal(whole) if first.startswith(MAGIC) else whole

    def seal(self, name: str) -> None:
        """Put a sealed file in place of a blob; one that is sealed already stays.

        Raises:
            BlobMissing: no such blob.
            KeyMissing, OSError: it could not be sealed; it is there as before.
        """
        incoming = os.path.join(self.folder, _TEMP)
        make_private(incoming)
        temp = os.path.join(incoming, f"{os.getpid()}-{os.urandom(6).hex()}")
        try:
            with open(self.path(name), "rb", buffering=0) as file:
                blocks = iter(lambda: file.read(BLOCK) or b"", b"")
                first = next(blocks, b"")
                if first.startswith(MAGIC):
                    return
                fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                with open(fd, "wb", buffering=BLOCK) as out:
                    out.writelines(self.keyring.seal(chain((first,), blocks)))
                    out.flush()
                    os.fsync(fd)
            os.rename(temp, self.path(name))
            sync_folder(os.path.dirname(self.path(name)))
        except FileNotFoundError:
            raise BlobMissing(name) from None
        finally:
            if os.path.lexists(temp):
                os.unlink(temp)

    def delete(self, name: str) -> bool:
        """See `BlobStore.delete`."""
        try:
            os.unlink(self.path(name))
        except FileNotFoundError:
            return False
        return True

    def names(self) -> Iterator[tuple[str, int]]:
        """See `BlobStore.names`."""
        if not os.path.isdir(self.folder):
            return
        for shelf in sorted(os.scandir(self.folder), key=lambda e: e.name):
            if shelf.is_dir(follow_symlinks=False) and shelf.name != _TEMP:
                for entry in sorted(os.scandir(shelf.path), key=lambda e: e.name):
                    yield entry.name, entry.stat(follow_symlinks=False).st_size

    def sweep(self) -> int:
        """Remove what dead processes left half-written; gives the number of files removed."""
        removed = 0
        incoming = os.path.join(self.folder, _TEMP)
        if os.path.isdir(incoming):
            for entry in os.scandir(incoming):
                pid = entry.name.partition("-")[0]
                if not (pid.isdigit() and process_alive(int(pid))):
                    os.unlink(entry.path)
                    removed += 1
        return removed


def process_alive(pid: int) -> bool:
    """Whether a process of that number runs (whoever it is by now)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def make_private(path: str) -> None:
    """A folder and its parents as far as they are missing, each with mode 0700 (`makedirs` does so for the last)."""
    if not os.path.isdir(path):
        make_private(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.mkdir(path, 0o700)


def sync_folder(path: str) -> None:
    """Make the names in a folder durable."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:  # names may be changed in it, but not read: then everything is synced
        os.sync()
        return
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
