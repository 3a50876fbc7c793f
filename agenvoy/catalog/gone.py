"""Rows whose bytes were taken away by `gc` or `purge`, and which contents nothing needs any more."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable


def mark(c: sqlite3.Connection, rows: Iterable[int], operation: int) -> None:
    """Note that an operation took the bytes of these rows."""
    c.executemany("INSERT OR IGNORE INTO gone(version, operation) VALUES (?, ?)", [(row, operation) for row in rows])


def taken_by(c: sqlite3.Connection, version: int) -> tuple[str, int, str] | None:
    """`(kind, when, actor)` of what took a row's bytes; None: they were not taken."""
    row = c.execute(
        "SELECT o.kind, o.at, o.actor FROM gone g JOIN operations o ON o.id = g.operation WHERE g.version = ?",
        (version,),
    ).fetchone()
    return None if row is None else (str(row[0]), int(row[1]), str(row[2]))


def unneeded(c: sqlite3.Connection) -> list[tuple[str, bool, int]]:
    """Contents that no row, no scan and no read memory needs: `(hash, whether it is a file, stored bytes)`."""
    rows = c.execute(
        "SELECT hash, data IS NULL, stored FROM blobs b WHERE NOT EXISTS (SELECT 1 FROM versions v JOIN operations o"
        " ON o.id = v.operation WHERE v.hash = b.hash AND o.state IN (0, 1, 3)"
        " AND NOT EXISTS (SELECT 1 FROM gone g WHERE g.version = v.id))"
        " AND NOT EXISTS (SELECT 1 FROM stamps s WHERE s.hash = b.hash)"
        " AND NOT EXISTS (SELECT 1 FROM reads r WHERE r.hash = b.hash)"
    )
    return [(str(h), bool(file), int(stored)) for h, file, stored in rows]


def removable(c: sqlite3.Connection, until: int) -> list[tuple[int, str, int]]:
    """Rows with bytes that may go, oldest first: `(version, hash, stored bytes)`.

    Not the newest row of a path, nor the row ahead of it (what is there may be put back to), nor rows of paths that a
    running task has changed (its undo needs them).

    Args:
        until: only rows of operations before this time.
    """
    rows = c.execute(
        "SELECT v.id, v.hash, coalesce(b.stored, 0) FROM versions v JOIN operations o ON o.id = v.operation"
        " LEFT JOIN blobs b ON b.hash = v.hash WHERE v.hash != '' AND o.state IN (1, 3) AND o.at < ?"
        " AND NOT EXISTS (SELECT 1 FROM gone g WHERE g.version = v.id)"
        " AND EXISTS (SELECT 1 FROM versions n WHERE n.path = v.path AND n.id > v.id)"
        " AND NOT EXISTS (SELECT 1 FROM versions t JOIN operations p ON p.id = t.operation JOIN tasks k"
        " ON k.id = p.task WHERE t.path = v.path AND k.ended_at IS NULL) ORDER BY v.id",
        (until,),
    )
    return [(int(v), str(h), int(stored)) for v, h, stored in rows]


def rows_of(c: sqlite3.Connection, paths: Iterable[str]) -> list[int]:
    """Every row of these paths, of operations in any state."""
    found: list[int] = []
    for path in paths:
        found += [int(r[0]) for r in c.execute("SELECT id FROM versions WHERE path = ?", (os.fsencode(path),))]
    return found


def recorded_contents(c: sqlite3.Connection, path: str) -> list[str]:
    """Hashes of the contents that the log has of a path, of operations in any state."""
    rows = c.execute("SELECT DISTINCT hash FROM versions WHERE path = ? AND hash != ''", (os.fsencode(path),))
    return [str(row[0]) for row in rows]


def read_contents(c: sqlite3.Connection, path: str) -> list[str]:
    """Hashes of the contents that the read memory and the scans know of a path."""
    raw = os.fsencode(path)
    rows = c.execute("SELECT hash FROM reads WHERE path = ? UNION SELECT hash FROM stamps WHERE path = ?", (raw, raw))
    return [str(row[0]) for row in rows if row[0]]


def known_below(c: sqlite3.Connection, folder: str) -> list[str]:
    """Paths at or below a folder of which only the read memory or the scans know."""
    raw = os.fsencode(folder)
    below, beyond = raw.rstrip(b"/") + b"/", raw.rstrip(b"/") + b"0"
    rows = c.execute(
        "SELECT path FROM reads WHERE path = ?1 OR (path >= ?2 AND path < ?3)"
        " UNION SELECT path FROM stamps WHERE path = ?1 OR (path >= ?2 AND path < ?3)",
        (raw, below, beyond),
    )
    return [os.fsdecode(row[0]) for row in rows]


def forget_path(c: sqlite3.Connection, path: str) -> None:
    """Drop what the read memory and the scans know of a path."""
    c.execute("DELETE FROM reads WHERE path = ?", (os.fsencode(path),))
    c.execute("DELETE FROM stamps WHERE path = ?", (os.fsencode(path),))
