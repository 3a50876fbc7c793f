"""What takes away: `gc` by age and size, `purge` one path. Both leave an operation that says what, when, by whom.

The chain of digests runs over names and proofs of contents, not over their bytes, so it stays whole. Both hold the
store's maintenance lock alone: no operation, read or scan is between "these bytes are there" and its commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agenvoy.catalog import Connection, contents, extracts, gone, trashed, versions, withheld
from agenvoy.history.changes import Spec
from agenvoy.history.log import Log
from agenvoy.history.trashing import drop_place

Row = tuple[int, str, int]  # version, hash, stored bytes


@dataclass(frozen=True, slots=True)
class Taken:
    """What went (or would go): rows without their bytes from here on, contents, stored bytes."""

    rows: int
    blobs: int
    bytes: int


def collect(log: Log, spec: Spec, until: int, most: int | None, *, dry_run: bool) -> Taken:
    """Take away bytes of old rows, and contents that nothing needs.

    Args:
        until: rows of operations before this time go (epoch nanoseconds).
        most: stored bytes that may stay; the oldest rows go until they do. None: no limit.
    """
    with log.locks.alone():
        with log.catalog.read() as c:
            rows = gone.removable(c, until)
            if most is not None:
                rows = _oldest(gone.removable(c, 1 << 62), rows, _stored(log) - most)
        if dry_run:
            sizes = {name: stored for _, name, stored in rows}
            return Taken(len(rows), len(sizes), sum(sizes.values()))
        with log.catalog.write() as c:
            if rows:
                gone.mark(c, [row[0] for row in rows], log.note(c, spec))
            taken = _drop_unneeded(log, c)
            extracts.forget_older(c, until)
            withheld.clean(c)
        log.catalog.checkpoint()
    return Taken(len(rows), *taken)


def _oldest(every: list[Row], chosen: list[Row], excess: int) -> list[Row]:
    found = {row[0]: row for row in chosen}
    freed = sum(row[2] for row in chosen)
    for row in every:
        if freed >= excess:
            break
        if row[0] not in found:
            found[row[0]] = row
            freed += row[2]
    return [found[number] for number in sorted(found)]


def _stored(log: Log) -> int:
    with log.catalog.read() as c:
        sizes = contents.sizes(c)
    return sizes["inline_bytes"] + sizes["file_bytes"]


def _drop_unneeded(log: Log, c: Connection) -> tuple[int, int]:
    count = size = 0
    for name, is_file, stored in gone.unneeded(c):
        contents.delete(c, name)
        extracts.forget(c, name)
        if is_file:
            log.vault.files.delete(name)
        count, size = count + 1, size + stored
    return count, size


def purge(log: Log, spec: Spec, paths: Sequence[str]) -> Taken:
    """Forget the recorded contents of these paths for good; what other paths share with them stays."""
    with log.locks.alone():
        with log.catalog.write() as c:
            rows = gone.rows_of(c, paths)
            gone.mark(c, rows, log.note(c, spec))
            for path in paths:
                for name in gone.read_contents(c, path):
                    extracts.forget(c, name)
                gone.forget_path(c, path)
                withheld.forget(c, path)
                for entry in trashed.of_path(c, path):
                    drop_place(entry.place)
                    trashed.delete(c, entry.version)
            taken = _drop_unneeded(log, c)
        log.catalog.checkpoint()  # deleted bytes were overwritten; this empties the WAL that still had them
    return Taken(len(rows), *taken)


def recorded(log: Log, roots: Sequence[str]) -> list[str]:
    """Every path that is one of these or below it and of which the store knows anything."""
    with log.catalog.read() as c:
        return sorted({p for root in roots for p in (*versions.below(c, root), *gone.known_below(c, root))})
