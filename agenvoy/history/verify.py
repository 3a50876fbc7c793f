"""Is everything as it was written? Every blob against its hashes, every row against its blob, the chain, the schema.

Nothing is changed. Findings name what is wrong exactly; the rest of the store stays usable.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from agenvoy.catalog import Connection, checks, contents, trashed, versions
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


def _database(c: Connection) -> list[Finding]:
    found = [Finding("database", "history.db", line) for line in checks.integrity(c)]
    if found:
        return found
    return [Finding("schema", name, "this migration was not applied") for name in checks.missing_migrations(c)]


def _chain(c: Connection, found: list[Finding]) -> int:
    """The first broken link; operations after it are not judged, since each rests on the one before."""
    count, last, previous = 0, 0, bytes(32)
    for row, own in checks.chain(c):
        count += 1
        if bytes(row[10]) != previous:
            found.append(Finding("chain", f"operation {row[0]}", "it does not follow on the operation before it"))
            break
        if _altered(row, own):
            found.append(Finding("chain", f"operation {row[0]}", "its row or one of its versions was altered"))
            break
        previous = bytes(row[11])
        last = row[0]
    if not found and checks.last_number(c) > last:
        told = f"operations up to {checks.last_number(c)} were recorded; those after {last} are gone"
        found.append(Finding("chain", f"operation {last + 1}", told))
    return count


def _altered(row: tuple[Any, ...], own: list[tuple[Any, ...]]) -> bool:
    head: list[Any] = [row[0], os.fsdecode(row[1] or b""), *row[2:10]]
    return changes.digest(bytes(row[10]), head, own) != bytes(row[11])


def altered(c: Connection, operations: Iterable[int]) -> list[int]:
    """Those operations whose row, or one of whose versions, is not as it was written."""
    found = []
    for operation in operations:
        link = checks.link(c, operation)
        if link is None or _altered(*link):
            found.append(operation)
    return found


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
        orphans = checks.versions_without_blob(c)
        wrong = checks.versions_with_another_blob(c)
        count = checks.count(c, "versions")
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
