"""Syncing many files while the next ones are written: the disk works beside the program instead of after it."""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

THREADS = 4  # syncs under way at once; a journalling file system joins them into fewer commits
AHEAD = 32  # files waiting for their sync, hence descriptors held open


class Syncer:
    """Takes descriptors of written files, and syncs and closes them in the background.

    `finish` must be called before any of the files is relied on.
    """

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(THREADS, "agenvoy-sync")
        self._waiting: deque[tuple[int, Future[None]]] = deque()
        self._failed: list[tuple[int, OSError]] = []

    def take(self, fd: int, owner: int) -> None:
        """Sync and close a descriptor; it belongs to the syncer from now on.

        Args:
            owner: what `finish` names a failed one by.
        """
        if len(self._waiting) >= AHEAD:
            self._settle()
        self._waiting.append((owner, self._pool.submit(_sync, fd)))

    def finish(self) -> list[tuple[int, OSError]]:
        """Wait for all of them; gives owners and errors of those that could not be synced."""
        while self._waiting:
            self._settle()
        self._pool.shutdown()
        return self._failed

    def _settle(self) -> None:
        owner, future = self._waiting.popleft()
        try:
            future.result()
        except OSError as error:
            self._failed.append((owner, error))


def _sync(fd: int) -> None:
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
