"""What `verify`, `doctor` and `du` ask of the database as a whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from agenvoy.catalog import migrations

SQLITE_VERSION = sqlite3.sqlite_version_info


def integrity(c: sqlite3.Connection, *, quick: bool = False) -> list[str]:
    """What SQLite finds wrong with the file; empty for a sound one."""
    try:
        said = [str(row[0]) for row in c.execute(f"PRAGMA {'quick_check' if quick else 'integrity_check'}(20)")]
    except sqlite3.DatabaseError as error:
        return [str(error)]
    return [line for line in said if line != "ok"]


def missing_migrations(c: sqlite3.Connection) -> list[str]:
    """Names of migrations that were not applied."""
    seen = migrations.applied(c) or []
    return [name for name in migrations.NAMES if name not in seen]


def chain(c: sqlite3.Connection) -> Iterator[tuple[tuple[Any, ...], list[tuple[Any, ...]]]]:
    """Every operation, oldest first, with its versions: the fields that the chain's digests run over.

    An operation is `(id, root, task, actor, tool, kind, label, at, undoes, target_task, previous, digest)`, a version
    its whole row.
    """
    for row in c.execute(f"{_LINK} ORDER BY o.id").fetchall():
        yield row, _own(c, row[0])


def link(c: sqlite3.Connection, operation: int) -> tuple[tuple[Any, ...], list[tuple[Any, ...]]] | None:
    """One operation's part of `chain`."""
    row = c.execute(f"{_LINK} WHERE o.id = ?", (operation,)).fetchone()
    return None if row is None else (row, _own(c, operation))


def unlisted(c: sqlite3.Connection, operations: Iterable[int]) -> list[int]:
    """Those operations with a row that the index by paths does not list: a damaged index hides rows without a word."""
    found = []
    for operation in operations:
        rows = c.execute("SELECT path, id FROM versions WHERE operation = ?", (operation,)).fetchall()
        if any(c.execute(_LISTED, row).fetchone() is None for row in rows):
            found.append(operation)
    return found


_LISTED = "SELECT 1 FROM versions INDEXED BY versions_path WHERE path = ? AND id = ?"


def unlisted_of_task(c: sqlite3.Connection, task: str) -> set[int]:
    """Operations of a task that the index by tasks does not list, or lists wrongly."""
    there, listed = (
        {int(row[0]) for row in c.execute(f"SELECT id FROM operations {how} WHERE task = ?", (task,))}
        for how in ("NOT INDEXED", "INDEXED BY operations_task")
    )
    return there ^ listed


_LINK = (
    "SELECT o.id, w.root, o.task, o.actor, o.tool, o.kind, o.label, o.at, o.undoes, o.target_task, o.previous,"
    " o.digest FROM operations o LEFT JOIN workspaces w ON w.id = o.workspace"
)


def _own(c: sqlite3.Connection, operation: int) -> list[tuple[Any, ...]]:
    return c.execute(
        "SELECT id, path, operation, action, kind, mode, size, hash, extra, moved, proof FROM versions"
        " WHERE operation = ? ORDER BY id",
        (operation,),
    ).fetchall()


def last_number(c: sqlite3.Connection) -> int:
    """The highest number that an operation ever had: SQLite remembers it though the row is gone."""
    row = c.execute("SELECT seq FROM sqlite_sequence WHERE name = 'operations'").fetchone()
    return 0 if row is None else int(row[0])


def versions_without_blob(c: sqlite3.Connection) -> list[tuple[int, bytes, str]]:
    """Listed rows whose content has no row: `(version, path, hash)`."""
    return c.execute(
        "SELECT v.id, v.path, v.hash FROM versions v JOIN operations o ON o.id = v.operation"
        " WHERE v.hash != '' AND o.state IN (1, 3) AND NOT EXISTS (SELECT 1 FROM blobs b WHERE b.hash = v.hash)"
        " AND NOT EXISTS (SELECT 1 FROM gone g WHERE g.version = v.id)"
    ).fetchall()


def versions_with_another_blob(c: sqlite3.Connection) -> list[tuple[int, bytes]]:
    """Rows whose content is not the one that was recorded with them: `(version, path)`."""
    return c.execute(
        "SELECT v.id, v.path FROM versions v JOIN blobs b ON b.hash = v.hash WHERE v.size != b.size"
        " OR (v.proof IS NOT NULL AND v.proof != b.proof)"
    ).fetchall()


def count(c: sqlite3.Connection, table: str) -> int:
    """How many rows a table of this package has."""
    return int(c.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
