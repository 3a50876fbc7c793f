"""Workspaces and tasks: who works where, for which objective, since when."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Task:
    """A row of `tasks`; times in epoch nanoseconds."""

    id: str
    workspace: int
    actor: str
    objective: str
    summary: str
    begun_at: int
    ended_at: int | None
    active_at: int
    undone_by: int | None


_COLUMNS = "id, workspace, actor, objective, summary, begun_at, ended_at, active_at, undone_by"


def workspace(c: sqlite3.Connection, root: str) -> int | None:
    """The id of a workspace by its real root path; None where nothing was ever recorded."""
    row = c.execute("SELECT id FROM workspaces WHERE root = ?", (os.fsencode(root),)).fetchone()
    return None if row is None else int(row[0])


def ensure_workspace(c: sqlite3.Connection, root: str) -> int:
    """The id of a workspace, made when it is new (inside a write transaction)."""
    found = workspace(c, root)
    if found is None:
        found = int(c.execute("INSERT INTO workspaces(root) VALUES (?)", (os.fsencode(root),)).lastrowid or 0)
    return found


def roots(c: sqlite3.Connection) -> list[str]:
    """The real root paths of all workspaces."""
    return [os.fsdecode(row[0]) for row in c.execute("SELECT root FROM workspaces ORDER BY id")]


def root_of(c: sqlite3.Connection, workspace: int) -> str:
    """The real root path of a workspace."""
    return os.fsdecode(c.execute("SELECT root FROM workspaces WHERE id = ?", (workspace,)).fetchone()[0])


def set_undone(c: sqlite3.Connection, task: str, operation: int) -> None:
    """Note which restore took a task back last."""
    c.execute("UPDATE tasks SET undone_by = ? WHERE id = ?", (operation, task))


def insert(c: sqlite3.Connection, task: str, workspace: int, actor: str, objective: str, at: int) -> None:
    """Begin a task; raises sqlite3.IntegrityError when the id is taken."""
    c.execute(
        "INSERT INTO tasks(id, workspace, actor, objective, begun_at, active_at) VALUES (?, ?, ?, ?, ?, ?)",
        (task, workspace, actor, objective, at, at),
    )


def end(c: sqlite3.Connection, task: str, at: int, summary: str = "") -> None:
    """End a task."""
    c.execute("UPDATE tasks SET ended_at = ?, summary = ? WHERE id = ? AND ended_at IS NULL", (at, summary, task))


def touch(c: sqlite3.Connection, task: str, at: int) -> None:
    """Note that a task was used."""
    c.execute("UPDATE tasks SET active_at = ? WHERE id = ?", (at, task))


def running(c: sqlite3.Connection, workspace: int, actor: str | None, since: int) -> list[Task]:
    """Running tasks of a workspace (of one actor, or of all), newest first, but for those not used since `since`."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM tasks WHERE workspace = ? AND ended_at IS NULL AND active_at >= ?"
        " AND (? IS NULL OR actor = ?) ORDER BY begun_at DESC, id DESC",
        (workspace, since, actor, actor),
    )
    return [Task(*row) for row in rows]


def end_all(c: sqlite3.Connection, workspace: int, actor: str, at: int) -> None:
    """End whatever an actor still runs here."""
    c.execute(
        "UPDATE tasks SET ended_at = ? WHERE workspace = ? AND actor = ? AND ended_at IS NULL", (at, workspace, actor)
    )


def by_prefix(c: sqlite3.Connection, workspace: int, prefix: str) -> list[Task]:
    """Tasks of a workspace whose id begins so (at most three: enough to tell that it is ambiguous)."""
    exact = c.execute(f"SELECT {_COLUMNS} FROM tasks WHERE id = ? AND workspace = ?", (prefix, workspace)).fetchone()
    if exact is not None:
        return [Task(*exact)]
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM tasks WHERE id >= ? AND id < ? AND workspace = ? LIMIT 3",
        (prefix, prefix + "\U0010ffff", workspace),
    )
    return [Task(*row) for row in rows]


def get(c: sqlite3.Connection, task: str) -> Task | None:
    """A task by its whole id."""
    row = c.execute(f"SELECT {_COLUMNS} FROM tasks WHERE id = ?", (task,)).fetchone()
    return None if row is None else Task(*row)


def with_changes(c: sqlite3.Connection, workspace: int, tasks: list[str] | None, limit: int) -> list[Task]:
    """Tasks that changed something, newest first; among `tasks` or all of the workspace."""
    marks = "" if tasks is None else f" AND t.id IN ({','.join('?' * len(tasks))})"
    columns = ", ".join("t." + name.strip() for name in _COLUMNS.split(","))
    rows = c.execute(
        f"SELECT {columns} FROM tasks t WHERE t.workspace = ?{marks} AND EXISTS (SELECT 1 FROM operations o"
        " WHERE o.task = t.id AND o.state IN (1, 3) AND o.target_task IS NOT t.id)"
        " ORDER BY t.begun_at DESC, t.id DESC LIMIT ?",
        (workspace, *(tasks or ()), limit),
    )
    return [Task(*row) for row in rows]


def newest(c: sqlite3.Connection, workspace: int, limit: int) -> list[Task]:
    """The newest tasks of a workspace, newest first."""
    rows = c.execute(
        f"SELECT {_COLUMNS} FROM tasks WHERE workspace = ? ORDER BY begun_at DESC, id DESC LIMIT ?", (workspace, limit)
    )
    return [Task(*row) for row in rows]


def counts(c: sqlite3.Connection, task: str) -> tuple[int, int]:
    """`(files, versions)` of a task: paths that its rows are about, and its rows."""
    row: Any = c.execute(
        "SELECT count(DISTINCT v.path), count(*) FROM versions v JOIN operations o ON o.id = v.operation"
        " WHERE o.task = ? AND o.state IN (1, 3)",
        (task,),
    ).fetchone()
    return int(row[0]), int(row[1])


def confirm_all(c: sqlite3.Connection, task: str, tool: str) -> None:
    """Remember the answer "all in this task" for one tool."""
    c.execute("INSERT OR IGNORE INTO confirmed(task, tool) VALUES (?, ?)", (task, tool))


def confirmed(c: sqlite3.Connection, task: str, tool: str) -> bool:
    """Whether "all in this task" was answered for a tool."""
    return c.execute("SELECT 1 FROM confirmed WHERE task = ? AND tool = ?", (task, tool)).fetchone() is not None
