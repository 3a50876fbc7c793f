"""Operations and versions: the log itself.

An operation is 0 prepared, 1 done, 2 abandoned or 3 interrupted; rows of a prepared or abandoned one are neither
listed nor newest.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agenvoy.errors import AgenvoyError
from agenvoy.types import State, Version

PREPARED, DONE, ABANDONED, INTERRUPTED = 0, 1, 2, 3
LIVE = "(1, 3)"

_ROW = (
    "v.id, v.path, v.action, v.kind, v.mode, v.size, v.hash, v.extra, v.operation, o.task, o.actor, o.tool, o.at,"
    " v.moved"
)
_FROM = "FROM versions v JOIN operations o ON o.id = v.operation"


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of `operations`; `folders` are the paths of folders that it made, `undoes` another operation's id."""

    id: int
    workspace: int
    task: str | None
    actor: str
    tool: str
    kind: str
    label: str
    at: int
    state: int
    undoes: int | None
    undone_by: int | None
    target_task: str | None
    folders: str
    token: str


_OPERATION = "id, workspace, task, actor, tool, kind, label, at, state, undoes, undone_by, target_task, folders, token"


def _version(row: Sequence[object]) -> Version:
    id_, path, action, kind, mode, size, hash_, extra, operation, task, actor, tool, at, moved = row
    if not isinstance(path, bytes):
        raise AgenvoyError(
            "store_corrupt", f"row {id_} of the history has no path", "`agenvoy verify` names what is wrong"
        )
    return Version(
        int(id_),  # type: ignore[call-overload]
        os.fsdecode(path),
        action,  # type: ignore[arg-type]
        State(kind, mode, size, hash_, extra),  # type: ignore[arg-type]
        operation,  # type: ignore[arg-type]
        task,  # type: ignore[arg-type]
        actor,  # type: ignore[arg-type]
        tool,  # type: ignore[arg-type]
        at,  # type: ignore[arg-type]
        os.fsdecode(moved) if isinstance(moved, bytes) else None,  # anything else was altered: `verify` tells
    )


def _many(c: sqlite3.Connection, where: str, values: Sequence[object], tail: str = "") -> list[Version]:
    return [_version(row) for row in c.execute(f"SELECT {_ROW} {_FROM} WHERE {where} {tail}", tuple(values))]


def newest(c: sqlite3.Connection, path: str) -> Version | None:
    """The newest listed row of a path."""
    found = _many(c, f"v.path = ? AND o.state IN {LIVE}", (os.fsencode(path),), "ORDER BY v.id DESC LIMIT 1")
    return found[0] if found else None


def newest_id(c: sqlite3.Connection, path: str) -> int:
    """The id of the newest listed row of a path; 0 where it has none."""
    row = c.execute(
        f"SELECT v.id {_FROM} WHERE v.path = ? AND o.state IN {LIVE} ORDER BY v.id DESC LIMIT 1", (os.fsencode(path),)
    ).fetchone()
    return 0 if row is None else int(row[0])


def get(c: sqlite3.Connection, version: int) -> Version | None:
    """A listed row by its id."""
    found = _many(c, f"v.id = ? AND o.state IN {LIVE}", (version,))
    return found[0] if found else None


def operations_of(c: sqlite3.Connection, ids: Sequence[int]) -> set[int]:
    """The operations that rows of these ids belong to."""
    found: set[int] = set()
    for start in range(0, len(ids), 500):
        some = tuple(ids[start : start + 500])
        marks = ",".join("?" * len(some))
        found |= {int(r[0]) for r in c.execute(f"SELECT operation FROM versions WHERE id IN ({marks})", some)}
    return found


def before(c: sqlite3.Connection, path: str, version: int) -> Version | None:
    """The listed row directly ahead of another one of the same path."""
    found = _many(
        c, f"v.path = ? AND v.id < ? AND o.state IN {LIVE}", (os.fsencode(path), version), "ORDER BY v.id DESC LIMIT 1"
    )
    return found[0] if found else None


def of_path(c: sqlite3.Connection, path: str) -> list[Version]:
    """Every listed row of a path, oldest first."""
    return _many(c, f"v.path = ? AND o.state IN {LIVE}", (os.fsencode(path),), "ORDER BY v.id")


def of_operation(c: sqlite3.Connection, operation: int) -> list[Version]:
    """Every row of an operation in any state, oldest first."""
    return _many(c, "v.operation = ?", (operation,), "ORDER BY v.id")


def of_task(c: sqlite3.Connection, task: str) -> list[Version]:
    """Every listed row of a task, oldest first."""
    return _many(c, f"o.task = ? AND o.state IN {LIVE}", (task,), "ORDER BY v.id")


def below(c: sqlite3.Connection, folder: str) -> list[str]:
    """Every path that has a row and is `folder` or below it."""
    raw = os.fsencode(folder)
    rows = c.execute(
        "SELECT DISTINCT v.path FROM versions v WHERE v.path = ? OR (v.path >= ? AND v.path < ?)",
        (raw, raw.rstrip(b"/") + b"/", raw.rstrip(b"/") + b"0"),
    )
    return [os.fsdecode(row[0]) for row in rows]


def any_below(c: sqlite3.Connection, folder: str) -> bool:
    """Whether any path below a folder has a row."""
    raw = os.fsencode(folder).rstrip(b"/")
    found = c.execute("SELECT 1 FROM versions WHERE path >= ? AND path < ? LIMIT 1", (raw + b"/", raw + b"0"))
    return found.fetchone() is not None


def last_id(c: sqlite3.Connection) -> int:
    """The newest version id in the store; 0 in an empty one."""
    row = c.execute("SELECT max(id) FROM versions").fetchone()
    return int(row[0] or 0)


@dataclass(frozen=True, slots=True)
class Filter:
    """What `page` lists; None (or no roots) means no limit by that member. Times are epoch nanoseconds."""

    roots: tuple[str, ...] = ()
    paths: tuple[str, ...] | None = None
    task: str | None = None
    since: int | None = None
    until: int | None = None
    before: int | None = None
    folder: str | None = None


WINDOW = 20_000  # newest rows that are looked through for a folder's before the path index is asked: some 10 ms


def page(c: sqlite3.Connection, wanted: Filter, limit: int) -> list[Version]:
    """Listed rows, newest first.

    A folder that was worked in lately fills its page from the newest rows. For another one the index on paths finds
    its rows, which have then to be sorted; only folders with very many old rows are slow that way.
    """
    if wanted.folder is None:
        return _page(c, wanted, limit)
    newest_id = wanted.before if wanted.before is not None else last_id(c) + 1
    found = _page(c, wanted, limit, after=newest_id - WINDOW)
    return found if len(found) == limit else _page(c, wanted, limit)


def _page(c: sqlite3.Connection, wanted: Filter, limit: int, after: int | None = None) -> list[Version]:
    where, values = [f"o.state IN {LIVE}"], list[object]()
    if wanted.folder is not None:
        raw = os.fsencode(wanted.folder).rstrip(b"/")
        path = "v.path" if after is None else "+v.path"
        where.append(f"(({path} >= ? AND {path} < ?) OR {path} = ?)")
        values += [raw + b"/", raw + b"0", raw]
    if wanted.paths is not None:
        where.append(f"v.path IN ({','.join('?' * len(wanted.paths))})")
        values += [os.fsencode(path) for path in wanted.paths]
    if wanted.roots:
        spans = []
        for root in wanted.roots:
            raw = os.fsencode(root).rstrip(b"/")
            spans.append("(v.path >= ? AND v.path < ?) OR v.path = ?")
            values += [raw + b"/", raw + b"0", raw]
        # `+` keeps SQLite from walking the path index: rows are wanted by id, newest first, a page at a time
        clause = " OR ".join(spans)
        by_path = wanted.paths is not None or (wanted.folder is not None and after is None)
        where.append(f"({clause if by_path else clause.replace('v.path', '+v.path')})")
    for clause, value in (
        ("o.task = ?", wanted.task),
        ("o.at >= ?", wanted.since),
        ("o.at <= ?", wanted.until),
        ("v.id < ?", wanted.before),
        ("v.id > ?", after),
    ):
        if value is not None:
            where.append(clause)
            values.append(value)
    return _many(c, " AND ".join(where), [*values, limit], "ORDER BY v.id DESC LIMIT ?")


def insert_operation(c: sqlite3.Connection, row: dict[str, object]) -> int:
    """Add an operation; `row` holds the columns by name."""
    names = ", ".join(row)
    marks = ", ".join("?" * len(row))
    return int(c.execute(f"INSERT INTO operations({names}) VALUES ({marks})", tuple(row.values())).lastrowid or 0)


def next_ids(c: sqlite3.Connection) -> tuple[int, int]:
    """The ids that the next operation and the next version will get (inside a write transaction)."""
    found = dict(c.execute("SELECT name, seq FROM sqlite_sequence WHERE name IN ('operations', 'versions')").fetchall())
    return int(found.get("operations", 0)) + 1, int(found.get("versions", 0)) + 1


def insert_versions(c: sqlite3.Connection, rows: Iterable[tuple[object, ...]]) -> None:
    """Add rows of `(id, path, operation, action, kind, mode, size, hash, extra, moved, proof)`."""
    c.executemany(
        "INSERT INTO versions(id, path, operation, action, kind, mode, size, hash, extra, moved, proof)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )


def operation(c: sqlite3.Connection, id_: int) -> Operation | None:
    """An operation by its id."""
    row = c.execute(f"SELECT {_OPERATION} FROM operations WHERE id = ?", (id_,)).fetchone()
    return None if row is None else Operation(*row)


def operations(c: sqlite3.Connection, where: str, values: Sequence[object], tail: str = "") -> list[Operation]:
    """Operations by a condition of this package's own making."""
    rows = c.execute(f"SELECT {_OPERATION} FROM operations WHERE {where} {tail}", tuple(values))
    return [Operation(*row) for row in rows]


def prepared(c: sqlite3.Connection) -> list[Operation]:
    """Operations that are under way, or were when their process died."""
    return operations(c, "state = 0", (), "ORDER BY id")


def set_state(c: sqlite3.Connection, operation: int, state: int, at: int) -> None:
    """Move an operation on from prepared."""
    c.execute("UPDATE operations SET state = ?, done_at = ? WHERE id = ?", (state, at, operation))


def set_undone(c: sqlite3.Connection, operation: int, by: int | None) -> None:
    """Note by which operation another one was undone; None: it holds again."""
    c.execute("UPDATE operations SET undone_by = ? WHERE id = ?", (by, operation))


def last_digest(c: sqlite3.Connection) -> bytes:
    """The digest of the newest operation: what the next one is chained to (32 zero bytes at the start)."""
    row = c.execute("SELECT digest FROM operations ORDER BY id DESC LIMIT 1").fetchone()
    return bytes(32) if row is None else bytes(row[0])
