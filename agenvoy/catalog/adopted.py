"""Rows that count for another task than the one that wrote them: outside changes given to one, or taken out of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

NOBODY = ""  # the row counts for no task


def assign(c: sqlite3.Connection, rows: Iterable[int], task: str) -> None:
    """Let rows count for a task (`NOBODY`: for none)."""
    c.executemany("INSERT OR REPLACE INTO adopted(version, task) VALUES (?, ?)", [(row, task) for row in rows])


def given(c: sqlite3.Connection, task: str) -> list[int]:
    """Rows that were given to a task."""
    return [int(row[0]) for row in c.execute("SELECT version FROM adopted WHERE task = ? ORDER BY version", (task,))]


def taken(c: sqlite3.Connection, rows: Iterable[int], task: str) -> set[int]:
    """Which of a task's rows count for it no longer."""
    wanted = list(rows)
    found = set()
    for row in wanted:
        known = c.execute("SELECT task FROM adopted WHERE version = ?", (row,)).fetchone()
        if known is not None and known[0] != task:
            found.add(row)
    return found


def any_for(c: sqlite3.Connection) -> bool:
    """Whether any row of the store was assigned at all."""
    return c.execute("SELECT 1 FROM adopted LIMIT 1").fetchone() is not None
