"""What each file of a workspace looked like when it was last scanned, and the commands that were run in it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from agenvoy.types import State


@dataclass(frozen=True, slots=True)
class Stamp:
    """A path's looks and the state that they stood for; times in nanoseconds.

    Args:
        size, mtime, ctime, inode: as `lstat` gave them.
        at: when it was looked at; a change in the same instant could hide behind equal times.
    """

    state: State
    size: int
    mtime: int
    ctime: int
    inode: int
    at: int


@dataclass(frozen=True, slots=True)
class Command:
    """A command that was begun: whose it is, where and when it runs."""

    id: int
    task: str
    actor: str
    command: str
    pid: int
    at: int


def load(c: sqlite3.Connection, workspace: int) -> dict[str, Stamp]:
    """Every stamp of a workspace by path."""
    rows = c.execute(
        "SELECT path, kind, mode, state_size, hash, extra, size, mtime, ctime, inode, at FROM stamps"
        " WHERE workspace = ?",
        (workspace,),
    )
    decode = os.fsdecode
    return {
        decode(path): Stamp(State(kind, mode, state_size, hash_, extra), size, mtime, ctime, inode, at)
        for path, kind, mode, state_size, hash_, extra, size, mtime, ctime, inode, at in rows
    }


def save(c: sqlite3.Connection, workspace: int, stamps: Iterable[tuple[str, Stamp]]) -> None:
    """Add or replace stamps."""
    c.executemany(
        "INSERT OR REPLACE INTO stamps(workspace, path, kind, mode, state_size, hash, extra, size, mtime, ctime,"
        " inode, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                workspace, os.fsencode(path), s.state.kind, s.state.mode, s.state.size, s.state.hash, s.state.extra,
                s.size, s.mtime, s.ctime, s.inode, s.at,
            )
            for path, s in stamps
        ],
    )  # fmt: skip


def forget(c: sqlite3.Connection, workspace: int, paths: Iterable[str]) -> None:
    """Remove the stamps of paths that are gone."""
    c.executemany(
        "DELETE FROM stamps WHERE workspace = ? AND path = ?", [(workspace, os.fsencode(path)) for path in paths]
    )


def last_scan(c: sqlite3.Connection, workspace: int) -> int | None:
    """When the last complete scan of a workspace began; None before its baseline is whole."""
    row = c.execute("SELECT at FROM scans WHERE workspace = ?", (workspace,)).fetchone()
    return None if row is None else int(row[0])


def set_scan(c: sqlite3.Connection, workspace: int, at: int) -> None:
    """Note a complete scan."""
    c.execute("INSERT OR REPLACE INTO scans(workspace, at) VALUES (?, ?)", (workspace, at))


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
