"""The read memory: which content of which path a task has seen, and notices that wait for its next result.

A scope is a task's id, or `~<workspace>:<actor>` for reads outside a task.
`after` is the newest version id at the time of the read, so that reads and the task's own writes have one order
whatever the clock says.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass

FORGOTTEN = ""  # the hash of a path that was taken out of the memory


@dataclass(frozen=True, slots=True)
class Seen:
    """A remembered content: its hash (empty: forgotten) and the newest version id when it was seen."""

    hash: str
    after: int


def scope_of(workspace: int, actor: str) -> str:
    """The scope of reads outside a task."""
    return f"~{workspace}:{actor}"


def remember(c: sqlite3.Connection, scope: str, path: str, hash_: str, after: int, at: int) -> None:
    """Note what was seen at a path; the newest replaces."""
    c.execute(
        "INSERT OR REPLACE INTO reads(scope, path, hash, after, at) VALUES (?, ?, ?, ?, ?)",
        (scope, os.fsencode(path), hash_, after, at),
    )


def seen(c: sqlite3.Connection, scope: str, path: str) -> Seen | None:
    """What a scope remembers of a path."""
    row = c.execute("SELECT hash, after FROM reads WHERE scope = ? AND path = ?", (scope, os.fsencode(path))).fetchone()
    return None if row is None else Seen(*row)


def scopes_knowing(c: sqlite3.Connection, path: str) -> list[str]:
    """Scopes that remember a path."""
    rows = c.execute("SELECT scope FROM reads WHERE path = ? AND hash != ''", (os.fsencode(path),))
    return [row[0] for row in rows]


def writers_running(c: sqlite3.Connection, path: str) -> list[str]:
    """Tasks that have not ended and wrote a path."""
    rows = c.execute(
        "SELECT DISTINCT o.task FROM versions v JOIN operations o ON o.id = v.operation JOIN tasks t ON t.id = o.task"
        " WHERE v.path = ? AND t.ended_at IS NULL",
        (os.fsencode(path),),
    )
    return [row[0] for row in rows]


def last_write(c: sqlite3.Connection, task: str, path: str) -> tuple[int, str] | None:
    """`(version, hash)` of the newest listed row that a task itself wrote on a path."""
    row = c.execute(
        "SELECT v.id, v.hash FROM versions v JOIN operations o ON o.id = v.operation WHERE v.path = ? AND o.task = ?"
        " AND o.state IN (1, 3) AND v.action NOT IN ('observed', 'external', 'move') ORDER BY v.id DESC LIMIT 1",
        (os.fsencode(path), task),
    ).fetchone()
    return None if row is None else (int(row[0]), str(row[1]))


def put_notice(c: sqlite3.Connection, scope: str, text: str) -> None:
    """Leave a notice for a scope's next result."""
    c.execute("INSERT INTO notices(scope, text) VALUES (?, ?)", (scope, text))


def notices(c: sqlite3.Connection, scopes: list[str]) -> list[tuple[int, str]]:
    """Waiting notices of these scopes: (id, text), oldest first."""
    marks = ",".join("?" * len(scopes))
    return c.execute(f"SELECT id, text FROM notices WHERE scope IN ({marks}) ORDER BY id", scopes).fetchall()


def drop_notices(c: sqlite3.Connection, upto: int, scopes: list[str]) -> None:
    """Forget notices that were shown."""
    marks = ",".join("?" * len(scopes))
    c.execute(f"DELETE FROM notices WHERE id <= ? AND scope IN ({marks})", (upto, *scopes))
