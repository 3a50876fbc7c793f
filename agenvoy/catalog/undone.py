"""Which paths of a task were taken back, by which restore, up to which version."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable


def insert(c: sqlite3.Connection, task: str, operation: int, handled: Iterable[tuple[str, int]]) -> None:
    """Note the paths that a restore takes back, each with the newest version that it looked at."""
    c.executemany(
        "INSERT OR REPLACE INTO undone(task, path, operation, upto) VALUES (?, ?, ?, ?)",
        [(task, os.fsencode(path), operation, upto) for path, upto in handled],
    )


def upto(c: sqlite3.Connection, task: str) -> dict[str, int]:
    """Per path of a task the version up to which it is taken back by restores that hold."""
    rows = c.execute(
        "SELECT u.path, max(u.upto) FROM undone u JOIN operations o ON o.id = u.operation"
        " WHERE u.task = ? AND o.state IN (1, 3) AND o.undone_by IS NULL GROUP BY u.path",
        (task,),
    )
    return {os.fsdecode(path): int(version) for path, version in rows}
