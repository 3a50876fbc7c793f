"""Is everything as it was written? Every blob against its hashes, every row against its blob, the chain, the schema.

Nothing is changed. Findings name what is wrong exactly; the rest of the store stays usable.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from typing import Any

from agenvoy.catalog import contents, migrations, trashed, versions
from agenvoy.errors import AgenvoyError
from agenvoy.history import changes
from agenvoy.history.log import Log


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong.

    Args:
        kind: database, schema, blob, version, chain, trash or operation.
        what: its name or number.
        detail: a sentence.
    """

    kind: str
    what: str
    detail: str


def verify(log: Log) -> tuple[list[Finding], dict[str, int]]:
    """All findings, and how many things of each kind were looked at."""
    found: list[Finding] = []
    counts: dict[str, int] = {}
    with log.catalog.read() as c:
        found += _database(c)
        if found:
            return found, counts
        counts["operations"] = _chain(c, found)
    counts["blobs"] = _blobs(log, found)
    counts["versions"] = _versions(log, found)
    counts["trash"] = _trash(log, found)
    return found, counts


def _database(c: sqlite3.Connection) -> list[Finding]:
    try:
        said = [row[0] for row in c.execute("PRAGMA integrity_check(20)")]
        found = [Finding("database", "history.db", line) for line in said if line != "ok"]
        seen = migrations.applied(c) or []
    except sqlite3.DatabaseError as error:
        return [Finding("database", "history.db", str(error))]
    missing = [name for name in migrations.NAMES if name not in seen]
    return found + [Finding("schema", name, "this migration was not applied") for name in missing]


def _chain(c: sqlite3.Connection, found: list[Finding]) -> int:
    """The first broken link; operations after it are not judged, since each rests on the one before."""
    count, previous = 0, bytes(32)
    rows = c.execute(
        "SELECT o.id, w.root, o.task, o.actor, o.tool, o.kind, o.label, o.at, o.undoes, o.target_task, o.previous,"
        " o.digest FROM operations o LEFT JOIN workspaces w ON w.id = o.workspace ORDER BY o.id"
    ).fetchall()
    for row in rows:
        count += 1
        head: list[Any] = [row[0], os.fsdecode(row[1] or b""), *row[2:10]]
        own = c.execute(
            "SELECT id, path, operation, action, kind, mode, size, hash, extra, moved, proof FROM versions"
            " WHERE operation = ? ORDER BY id",
            (row[0],),
        ).fetchall()
        if bytes(row[10]) != previous:
            found.append(Finding("chain", f"operation {row[0]}", "it does not follow on the operation before it"))
            break
        if changes.digest(previous, head, own) != bytes(row[11]):
            found.append(Finding("chain", f"operation {row[0]}", "its row or one of its versions was altered"))
            break
        previous = bytes(row[11])
    return count


def _blobs(log: Log, found: list[Finding]) -> int:
    with log.catalog.read() as c:
        names = list(contents.every(c))
    for name in names:
        try:
            for _ in log.vault.blocks(name):
                pass
        except AgenvoyError as error:
            found.append(Finding("blob", name, error.message))
    return len(names)


def _versions(log: Log, found: list[Finding]) -> int:
    with log.catalog.read() as c:
        orphans = c.execute(
            f"SELECT v.id, v.path, v.hash FROM versions v JOIN operations o ON o.id = v.operation"
            f" WHERE v.hash != '' AND o.state IN {versions.LIVE} AND NOT EXISTS"
            " (SELECT 1 FROM blobs b WHERE b.hash = v.hash)"
        ).fetchall()
        wrong = c.execute(
            "SELECT v.id, v.path FROM versions v JOIN blobs b ON b.hash = v.hash WHERE v.size != b.size"
            " OR (v.proof IS NOT NULL AND v.proof != b.proof)"
        ).fetchall()
        count = int(c.execute("SELECT count(*) FROM versions").fetchone()[0])
        stuck = versions.prepared(c)
    for number, path, name in orphans:
        found.append(Finding("version", f"{number} ({os.fsdecode(path)})", f"its content {name} is not in the store"))
    for number, path in wrong:
        found.append(Finding("version", f"{number} ({os.fsdecode(path)})", "its content is not the one recorded"))
    for operation in stuck:
        found.append(Finding("operation", str(operation.id), f"{operation.label} was not brought to an end yet"))
    return count


def _trash(log: Log, found: list[Finding]) -> int:
    with log.catalog.read() as c:
        entries = trashed.rows(c)
    for entry in entries:
        if not os.path.lexists(entry.place):
            found.append(Finding("trash", entry.path, f"{entry.place} is gone; the version is still restorable"))
    return len(entries)
