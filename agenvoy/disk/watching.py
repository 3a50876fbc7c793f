"""What the kernel says of changes in folders (Linux's inotify): asked for, not waited for.

The kernel queues an event before the call that changes something returns. So whoever empties the queue knows of every
change that was made before, without a thread and without a delay. What it says nothing about: changes through a
mapping of a file's bytes whose descriptor was closed before, through another name of the file outside of the watched
folders, and on another machine. File systems with several machines are refused.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field

_LOCAL = frozenset(["ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "tmpfs", "zfs", "bcachefs", "jfs", "reiserfs"])
_SHARE = 4  # of the watches that the system allows a user, one part in so many: editors need theirs
_LIMIT = "/proc/sys/fs/inotify/max_user_watches"
_MOUNTS = "/proc/self/mountinfo"


class NoRoom(Exception):
    """Folders cannot be watched here (any more)."""


@dataclass(slots=True)
class Changes:
    """What changed since it was asked last.

    Args:
        names: per folder the entries that were made, removed, renamed, written to or given other attributes.
        moved: folders that were themselves removed, renamed, unmounted, or given other attributes.
        lost: the queue was full: anything may have changed.
    """

    names: dict[str, set[str]] = field(default_factory=dict)
    moved: set[str] = field(default_factory=set)
    lost: bool = False


class Watching:
    """Watches over folders, each by itself; close it when it is no longer needed.

    Raises:
        NoRoom: not on Linux, or the system allows no more.
    """

    def __init__(self) -> None:
        if sys.platform != "linux":
            raise NoRoom("folders are watched on Linux only")
        from inotify_simple import INotify, flags

        self._flags = flags
        self._mask = (
            flags.MODIFY | flags.ATTRIB | flags.CLOSE_WRITE | flags.MOVED_FROM | flags.MOVED_TO | flags.CREATE
            | flags.DELETE | flags.DELETE_SELF | flags.MOVE_SELF | flags.ONLYDIR
        )  # fmt: skip
        try:
            self._most = int(_read(_LIMIT)) // _SHARE
            self._queue = INotify(nonblocking=True)
        except (OSError, ValueError) as error:
            raise NoRoom(str(error)) from error
        self._folders: dict[int, str] = {}
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._folders)

    def close(self) -> None:
        """Watch nothing any more."""
        self._queue.close()

    def add(self, folder: str, fd: int) -> None:
        """Watch over a folder; what changes in it from now on is told.

        Args:
            folder: what it is called in `Changes`.
            fd: it, open.

        Raises:
            NoRoom: no more folders can be watched, or it is watched under another name (mounted twice).
        """
        if len(self._folders) >= self._most:
            raise NoRoom(f"more than {self._most} folders")
        try:
            number = self._queue.add_watch(f"/proc/self/fd/{fd}", self._mask)
        except OSError as error:
            raise NoRoom(str(error)) from error
        if self._folders.get(number, folder) != folder:
            raise NoRoom(f"{folder} is {self._folders[number]} too")
        self._folders[number] = folder
        self._numbers[folder] = number

    def drop(self, folder: str) -> None:
        """Watch a folder no longer; one that is gone is dropped by the system."""
        number = self._numbers.pop(folder, None)
        if number is None:
            return
        del self._folders[number]
        try:
            self._queue.rm_watch(number)
        except OSError:  # it went with its folder
            return

    def changes(self) -> Changes:
        """Everything that was done to the folders before this call and not told yet."""
        found, flags = Changes(), self._flags
        itself = flags.DELETE_SELF | flags.MOVE_SELF | flags.UNMOUNT
        for event in self._queue.read(timeout=0):
            if event.mask & flags.Q_OVERFLOW:
                found.lost = True
                continue
            folder = self._folders.get(event.wd)
            if folder is None or event.mask & flags.IGNORED:
                continue
            if event.mask & itself or not event.name:
                found.moved.add(folder)
            else:
                found.names.setdefault(folder, set()).add(event.name)
        return found


def mounts_below(root: str) -> tuple[str, ...] | None:
    """The mounts that a folder and what lies below it are on; None where one of them may be changed unseen.

    The answer changes when anything is mounted there or unmounted.
    """
    found, on = [], ("", "", "")
    for line in _read(_MOUNTS).splitlines():
        fields, _, rest = line.partition(" - ")
        number, _, _, _, point, *_ = fields.split(" ")
        point = _unescaped(point)
        kind = rest.partition(" ")[0]
        if root == point or root.startswith(point.rstrip("/") + "/"):
            if len(point) >= len(on[1]):  # the last one over the same point is the one that is seen
                on = (number, point, kind)
        elif point.startswith(root.rstrip("/") + "/"):
            found.append((number, point, kind))
    found.append(on)
    if any(kind not in _LOCAL for _, _, kind in found):
        return None
    return tuple(f"{number} {point}" for number, point, _ in found)


def _unescaped(point: str) -> str:
    """A mount point: the kernel writes blanks, tabs, line ends and backslashes as octal numbers."""
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, char)
    return point


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def look_of(path: str) -> tuple[int, ...] | None:
    """How a file looks from outside, to tell whether it is still the same, links followed; None where there is none."""
    try:
        found = os.stat(path)
    except OSError:  # absent, or not to be seen: the same to whoever reads it
        return None
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)
