"""The register of blobs: size, codec, proof, and the bytes themselves where they are few."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Content:
    """A row of `blobs`; `data` is None where the bytes are a file of the blob store."""

    hash: str
    size: int
    stored: int
    codec: str
    proof: bytes
    data: bytes | None


_COLUMNS = "hash, size, stored, codec, proof, data"


def get(c: sqlite3.Connection, hash_: str) -> Content | None:
    """A blob's row."""
    row = c.execute(f"SELECT {_COLUMNS} FROM blobs WHERE hash = ?", (hash_,)).fetchone()
    return None if row is None else Content(*row)


def inline(c: sqlite3.Connection, hash_: str) -> bool | None:
    """Whether a blob's bytes lie in history.db; None where it is not recorded. The bytes are not read."""
    row = c.execute("SELECT data IS NOT NULL FROM blobs WHERE hash = ?", (hash_,)).fetchone()
    return None if row is None else bool(row[0])


def places(c: sqlite3.Connection, hashes: Sequence[str]) -> dict[str, bool]:
    """Those of up to a few thousand blobs that are recorded, and whether their bytes lie in history.db."""
    marks = ",".join("?" * len(hashes))
    rows = c.execute(f"SELECT hash, data IS NOT NULL FROM blobs WHERE hash IN ({marks})", tuple(hashes))
    return {str(row[0]): bool(row[1]) for row in rows}


def proof(c: sqlite3.Connection, hash_: str) -> bytes | None:
    """The SHA-256 of a blob; None where it is not recorded."""
    row = c.execute("SELECT proof FROM blobs WHERE hash = ?", (hash_,)).fetchone()
    return None if row is None else row[0]


def insert(c: sqlite3.Connection, content: Content) -> bool:
    """Add a blob's row; False where the name is taken."""
    done = c.execute(
        f"INSERT OR IGNORE INTO blobs({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
        (content.hash, content.size, content.stored, content.codec, content.proof, content.data),
    )
    return done.rowcount > 0


def replace(c: sqlite3.Connection, content: Content) -> None:
    """Put a sound row in place of one whose bytes are damaged or gone."""
    c.execute("DELETE FROM blobs WHERE hash = ?", (content.hash,))
    insert(c, content)


def delete(c: sqlite3.Connection, hash_: str) -> None:
    """Remove a blob's row."""
    c.execute("DELETE FROM blobs WHERE hash = ?", (hash_,))


def every(c: sqlite3.Connection) -> Iterator[str]:
    """The names of all blobs."""
    for row in c.execute("SELECT hash FROM blobs ORDER BY hash").fetchall():
        yield row[0]


def sizes(c: sqlite3.Connection) -> dict[str, int]:
    """`{blobs, content_bytes, inline_bytes, file_bytes}` over all blobs."""
    row = c.execute(
        "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(CASE WHEN data IS NULL THEN 0 ELSE stored END), 0),"
        " coalesce(sum(CASE WHEN data IS NULL THEN stored ELSE 0 END), 0) FROM blobs"
    ).fetchone()
    return dict(zip(("blobs", "content_bytes", "inline_bytes", "file_bytes"), map(int, row), strict=True))
