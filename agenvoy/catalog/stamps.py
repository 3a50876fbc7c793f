"""What each file of a workspace looked like when it was last scanned, and the commands that were run in it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from agenvoy.types import State


@dataclass(frozen=True, slots=True)
class Command:
    """A command that was begun: whose it is, where and when it runs."""

    id: int
    task: str
    actor: str
    command: str
    pid: int
    at: int


@dataclass(frozen=True, slots=True)
class Background:
    """A process that a command left running; `started` tells it from a later one of the same number."""

    pid: int
    started: int
    task: str
    command: str
    at: int


def state(c: sqlite3.Connection, workspace: int, path: str) -> State | None:
    """The state that a path had at the last scan; None where it was not there."""
    row = c.execute(
        "SELECT kind, mode, size, hash, extra FROM stamps WHERE workspace = ? AND path = ?",
        (workspace, os.fsencode(path)),
    ).fetchone()
    return None if row is None else State(*row)


def save(c: sqlite3.Connection, workspace: int, found: Iterable[tuple[str, State]]) -> None:
    """Note the states of paths; those of absent ones go."""
    there, gone = [], []
    for path, s in found:
        if s.kind == "absent":
            gone.append((workspace, os.fsencode(path)))
        else:
            there.append((workspace, os.fsencode(path), s.kind, s.mode, s.size, s.hash, s.extra))
    c.executemany(
        "INSERT OR REPLACE INTO stamps(workspace, path, kind, mode, size, hash, extra) VALUES (?, ?, ?, ?, ?, ?, ?)",
        there,
    )
    c.executemany("DELETE FROM stamps WHERE workspace = ? AND path = ?", gone)


def last_scan(c: sqlite3.Connection, workspace: int) -> tuple[int, bytes | None] | None:
    """`(when, snapshot)` of the last complete scan of a workspace; None before its baseline is whole."""
    row = c.execute("SELECT at, snapshot FROM scans WHERE workspace = ?", (workspace,)).fetchone()
    return None if row is None else (int(row[0]), row[1])


def set_scan(c: sqlite3.Connection, workspace: int, at: int, snapshot: bytes | None) -> None:
    """Note a complete scan; without a snapshot the saved one still holds."""
    if snapshot is None:
        c.execute("UPDATE scans SET at = ? WHERE workspace = ?", (at, workspace))
    else:
        c.execute("INSERT OR REPLACE INTO scans(workspace, at, snapshot) VALUES (?, ?, ?)", (workspace, at, snapshot))


def begin_command(c: sqlite3.Connection, workspace: int, task: str, actor: str, command: str, pid: int, at: int) -> int:
    """Note that a command begins; gives its number."""
    done = c.execute(
        "INSERT INTO commands(workspace, task, actor, command, pid, at) VALUES (?, ?, ?, ?, ?, ?)",
        (workspace, task, actor, command, pid, at),
    )
    return int(done.lastrowid or 0)


def end_command(c: sqlite3.Connection, number: int) -> None:
    """Forget a command whose changes are recorded."""
    c.execute("DELETE FROM commands WHERE id = ?", (number,))


def open_commands(c: sqlite3.Connection, workspace: int) -> list[Command]:
    """Commands whose changes are not recorded yet, oldest first."""
    rows = c.execute(
        "SELECT id, task, actor, command, pid, at FROM commands WHERE workspace = ? ORDER BY id", (workspace,)
    )
    return [Command(*row) for row in rows]


def leave_background(c: sqlite3.Connection, workspace: int, found: Iterable[Background]) -> None:
    """Note processes that a command left running."""
    c.executemany(
        "INSERT OR REPLACE INTO background(workspace, pid, started, task, command, at) VALUES (?, ?, ?, ?, ?, ?)",
        [(workspace, b.pid, b.started, b.task, b.command, b.at) for b in found],
    )


def background(c: sqlite3.Connection, workspace: int) -> list[Background]:
    """Processes that commands left running and that were not seen to have ended, oldest first."""
    rows = c.execute(
        "SELECT pid, started, task, command, at FROM background WHERE workspace = ? ORDER BY at, pid", (workspace,)
    )
    return [Background(*row) for row in rows]


def end_background(c: sqlite3.Connection, workspace: int, found: Background) -> None:
    """Forget a process that has ended."""
    c.execute(
        "DELETE FROM background WHERE workspace = ? AND pid = ? AND started = ?", (workspace, found.pid, found.started)
    )
