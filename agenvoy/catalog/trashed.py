"""The register of the trash, and of names that share one inode."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trashed:
    """A removed file: the version that holds its last state, its old path, where it lies, bytes, when."""

    version: int
    path: str
    place: str
    size: int
    at: int


def insert(c: sqlite3.Connection, entry: Trashed) -> None:
    """Note where a removed file lies."""
    c.execute(
        "INSERT OR REPLACE INTO trash(version, path, place, size, at) VALUES (?, ?, ?, ?, ?)",
        (entry.version, os.fsencode(entry.path), os.fsencode(entry.place), entry.size, entry.at),
    )


def rows(c: sqlite3.Connection, roots: tuple[str, ...] | None = None) -> list[Trashed]:
    """Removed files below these roots (None: all), newest first."""
    found = [
        Trashed(row[0], os.fsdecode(row[1]), os.fsdecode(row[2]), row[3], row[4])
        for row in c.execute("SELECT version, path, place, size, at FROM trash ORDER BY version DESC")
    ]
    if roots is None:
        return found
    return [t for t in found if any(t.path == r or t.path.startswith(r.rstrip("/") + "/") for r in roots)]


def of_path(c: sqlite3.Connection, path: str) -> list[Trashed]:
    """Removed files that lay at a path."""
    return [
        Trashed(row[0], os.fsdecode(row[1]), os.fsdecode(row[2]), row[3], row[4])
        for row in c.execute("SELECT version, path, place, size, at FROM trash WHERE path = ?", (os.fsencode(path),))
    ]


def delete(c: sqlite3.Connection, version: int) -> None:
    """Forget an entry."""
    c.execute("DELETE FROM trash WHERE version = ?", (version,))


def delete_lost(c: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Forget the entries of these paths whose file is gone from the trash."""
    for path in paths:
        for entry in of_path(c, path):
            if not os.path.lexists(entry.place):
                delete(c, entry.version)


def note_inode(c: sqlite3.Connection, device: int, inode: int, path: str) -> None:
    """Note that a path is a name of an inode with several names."""
    c.execute(
        "INSERT OR IGNORE INTO inodes(device, inode, path) VALUES (?, ?, ?)",
        (_signed(device), _signed(inode), os.fsencode(path)),
    )


def names_of(c: sqlite3.Connection, device: int, inode: int) -> list[str]:
    """Paths noted for an inode, in the order of their bytes."""
    rows = c.execute(
        "SELECT path FROM inodes WHERE device = ? AND inode = ? ORDER BY path", (_signed(device), _signed(inode))
    )
    return [os.fsdecode(row[0]) for row in rows]


def _signed(number: int) -> int:
    """SQLite's integers are signed 64-bit; device and inode numbers are unsigned."""
    return number - (1 << 64) if number >= 1 << 63 else number
