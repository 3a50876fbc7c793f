"""Which files were withheld from which task once: they are not withheld again."""

from __future__ import annotations

import os
import sqlite3


def known(c: sqlite3.Connection, scope: str, path: str) -> bool:
    """Whether a path was withheld in a scope (a task's id, or that of reads outside a task) before."""
    row = c.execute("SELECT 1 FROM withheld WHERE scope = ? AND path = ?", (scope, os.fsencode(path))).fetchone()
    return row is not None


def note(c: sqlite3.Connection, scope: str, path: str) -> None:
    """Remember that a path was withheld."""
    c.execute("INSERT OR IGNORE INTO withheld(scope, path) VALUES (?, ?)", (scope, os.fsencode(path)))


def clean(c: sqlite3.Connection) -> None:
    """Drop what no running task needs; a file that is read outside of tasks may then be withheld once more."""
    c.execute("DELETE FROM withheld WHERE scope NOT IN (SELECT id FROM tasks WHERE ended_at IS NULL)")


def forget(c: sqlite3.Connection, path: str) -> None:
    """Drop what is known of a path: it was purged."""
    c.execute("DELETE FROM withheld WHERE path = ?", (os.fsencode(path),))
