"""Texts that were taken out of documents and media, by the content's hash and the reader that made them: a cache.

Nothing here is part of the history: every row can be made again from the file, and may go at any time.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

MOST_BYTES = 256 * 1024 * 1024  # of all rows, packed; the oldest go first


@dataclass(frozen=True, slots=True)
class Packed:
    """A text as it is stored: its size before packing, the codec, the packed bytes."""

    size: int
    codec: str
    data: bytes


def get(c: sqlite3.Connection, hash_: str, reader: str) -> Packed | None:
    """What a reader made of a content; None where it is not known.

    Args:
        hash_: name of the file's content.
        reader: the reader with its version and the options that change its text.
    """
    row = c.execute("SELECT size, codec, data FROM extracts WHERE hash = ? AND reader = ?", (hash_, reader)).fetchone()
    return None if row is None else Packed(*row)


def put(c: sqlite3.Connection, hash_: str, reader: str, text: Packed, at: int) -> None:
    """Remember what a reader made of a content at a time (epoch nanoseconds); drops the oldest beyond `MOST_BYTES`."""
    c.execute(
        "INSERT OR REPLACE INTO extracts(hash, reader, size, codec, data, at) VALUES (?, ?, ?, ?, ?, ?)",
        (hash_, reader, text.size, text.codec, text.data, at),
    )
    total = int(c.execute("SELECT coalesce(sum(length(data)), 0) FROM extracts").fetchone()[0])
    if total > MOST_BYTES:
        _trim(c, total)


def _trim(c: sqlite3.Connection, total: int) -> None:
    for hash_, reader, length in c.execute("SELECT hash, reader, length(data) FROM extracts ORDER BY at").fetchall():
        if total <= MOST_BYTES:
            return
        c.execute("DELETE FROM extracts WHERE hash = ? AND reader = ?", (hash_, reader))
        total -= length


def forget(c: sqlite3.Connection, hash_: str) -> None:
    """Drop everything that was made of a content: it was purged."""
    c.execute("DELETE FROM extracts WHERE hash = ?", (hash_,))


def forget_older(c: sqlite3.Connection, until: int) -> None:
    """Drop what was made before a time (epoch nanoseconds)."""
    c.execute("DELETE FROM extracts WHERE at < ?", (until,))


def clear(c: sqlite3.Connection) -> int:
    """Drop everything; gives the number of rows."""
    return c.execute("DELETE FROM extracts").rowcount
