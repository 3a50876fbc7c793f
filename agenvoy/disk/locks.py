"""One lock per real path, from a fixed set of files in the store that are never deleted.

A lock on the file itself would die when the file is renamed away, and deleting lock files lets two processes hold
"the" lock at once. Sorted order keeps holders of several from waiting for each other in a ring. The kernel drops
a dead process's locks.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from agenvoy.errors import AgenvoyError

SLOTS = 128  # few enough to hold all at once under the common limit of 1,024 descriptors


def path_key(path: str) -> bytes:
    """The lock key of a real path."""
    return b"p" + os.fsencode(path)


def inode_key(device: int, inode: int) -> bytes:
    """The lock key of a file with several names."""
    return f"i{device}:{inode}".encode()


def _slot(key: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(key, digest_size=4).digest(), "big") % SLOTS


class Locks:
    """The lock files of one store.

    Args:
        store: the store's folder.
        wait_s: seconds to wait for all locks of one call together, then `store_busy`.
    """

    def __init__(self, store: str, wait_s: float) -> None:
        self.folder = os.path.join(store, "locks")
        self.wait_s = wait_s

    @contextmanager
    def hold(self, keys: Iterable[bytes], *, wait_s: float | None = None) -> Iterator[None]:
        """Hold the locks of all keys.

        Raises:
            AgenvoyError: store_busy when another process or thread keeps one longer than the wait.
        """
        slots = sorted({_slot(key) for key in keys})
        deadline = time.monotonic() + (self.wait_s if wait_s is None else wait_s)
        held: list[int] = []
        try:
            held.append(self._open("maintenance"))
            self._wait(held[-1], deadline, fcntl.LOCK_SH)
            for slot in slots:
                held.append(self._open(f"{slot:02x}"))
                self._wait(held[-1], deadline)
            yield
        finally:
            for fd in held:
                os.close(fd)

    @contextmanager
    def beside(self) -> Iterator[None]:
        """Keep maintenance away while contents are on their way into the store; others may do the same."""
        fd = self._open("maintenance")
        try:
            self._wait(fd, time.monotonic() + self.wait_s, fcntl.LOCK_SH)
            yield
        finally:
            os.close(fd)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the store for maintenance: nobody holds a path or is `beside`; raises store_busy."""
        fd = self._open("maintenance")
        try:
            self._wait(fd, time.monotonic() + self.wait_s)
            yield
        finally:
            os.close(fd)

    def _open(self, name: str) -> int:
        path = os.path.join(self.folder, name)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(path, flags, 0o600)
        except FileNotFoundError:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            return os.open(path, flags, 0o600)

    @staticmethod
    def _wait(fd: int, deadline: float, how: int = fcntl.LOCK_EX) -> None:
        pause = 0.0005
        while True:
            try:
                fcntl.flock(fd, how | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise AgenvoyError(
                        "store_busy", "another process is changing the same file", "try again in a moment"
                    ) from None
                time.sleep(pause)
                pause = min(pause * 2, 0.02)
