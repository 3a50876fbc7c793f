"""What an operation is made of, before and after it is in the log."""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from agenvoy.disk.jail import open_folder
from agenvoy.disk.names import spell, unspell
from agenvoy.disk.states import shared_inode
from agenvoy.types import Action, State


@dataclass(frozen=True, slots=True)
class Change:
    """One path from one state to another.

    Args:
        path: real absolute path.
        before: what is on disk, looked at inside the path's lock.
        after: what is to be there; a file's or link's content must be staged in the vault or recorded.
        action: how the log calls it.
        moved: the other path of a move; on a move's target it lets the bytes move instead of being copied.
        data: the bytes of `before` where they are at hand; otherwise they are read from disk when needed.
    """

    path: str
    before: State
    after: State
    action: Action
    moved: str | None = None
    data: bytes | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Spec:
    """Who writes an operation, and why.

    Args:
        root: real root of the workspace.
        task: the task it belongs to; None: none.
        objective: of a task that is begun by this operation; None: the task exists.
        kind: edit, remove, move, restore, undo, redo, run, external, recover.
        undoes: the operation that this one takes back (undo, redo).
        target_task: the task that this one takes back (restore by task).
        handled: paths (and the newest version considered) that count as undone for `target_task`.
        idle_since: tasks not used since then count as ended (for `objective`).
        part: real paths that a restore of a task is limited to; empty: all of it.
        forget: whether its paths leave every running task's read memory (restores do).
    """

    root: str
    actor: str
    tool: str
    kind: str
    label: str
    task: str | None = None
    objective: str | None = None
    undoes: int | None = None
    target_task: str | None = None
    handled: tuple[tuple[str, int], ...] = ()
    part: tuple[str, ...] = ()
    forget: bool = False
    idle_since: int = 0


@dataclass(frozen=True, slots=True)
class Written:
    """An operation that is done.

    Args:
        operation: its id.
        versions: per path the id of its new row.
        previous: per path the id of the row that holds the state before.
        places: per path where a removed file lies now.
    """

    operation: int
    versions: dict[str, int]
    previous: dict[str, int]
    places: dict[str, str]


def no_step(name: str) -> None:
    """The crash tests put a function in this place that stops at a chosen step."""


def digest(previous: bytes, head: list[object], rows: list[tuple[object, ...]]) -> bytes:
    """SHA-256 over the operation before, this one's fields and its rows: the link of the chain."""

    def plain(value: object) -> object:
        return value.hex() if isinstance(value, bytes) else value

    text = json.dumps([previous.hex(), [plain(v) for v in head], [[plain(v) for v in row] for row in rows]])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def temp_name(token: str, number: int, *, back: bool = False) -> str:
    """The temporary name of the operation's change number so-and-so; hidden, and short whatever the file's name."""
    return f".agenvoy-{token}-{number}{'b' if back else ''}"


def missing_folders(path: str) -> list[str]:
    """Parents of a path that are not there, outermost first."""
    found: list[str] = []
    folder = os.path.dirname(path)
    while not is_real_folder(folder) and (not os.path.lexists(folder) or os.path.realpath(folder) != folder):
        found.append(folder)
        folder = os.path.dirname(folder)
    return found[::-1]


def folders_on_the_way(changes: Sequence[Change]) -> list[str]:
    """Folders that an operation has to make on its way to a file, beside those that are its own changes."""
    own = {c.path for c in changes if "dir" in (c.before.kind, c.after.kind)}
    new = [c.path for c in changes if c.before.kind == "absent" != c.after.kind]
    found = {f for path in new for f in missing_folders(path)}
    return sorted(found - own)


def is_real_folder(path: str) -> bool:
    """Whether a path is a folder now, and no link stands on the way to it."""
    try:
        with open_folder(path):
            return True
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return False
    return os.path.isdir(path) and os.path.realpath(path) == path  # closed to us, which it may be


def is_empty(folder: str) -> bool:
    """Whether a folder holds nothing; one that cannot be looked into may hold anything."""
    try:
        return not os.listdir(folder)
    except PermissionError:
        return False


def ordered(changes: list[tuple[int, Change]]) -> list[tuple[int, Change]]:
    """The order in which numbered changes are safe on disk.

    Removals first, deepest first, so that folders are empty when their turn comes; then what becomes a folder,
    outermost first; then files and links; modes of standing folders last, since a read-only one takes no new names.
    """

    def key(item: tuple[int, Change]) -> tuple[int, int, str]:
        change = item[1]
        group, depth = turn(change), change.path.count("/")
        return (group, -depth if group in (0, 3) else depth, change.path)

    return sorted(changes, key=key)


def turn(change: Change) -> int:
    """When a change's turn comes, see `ordered`: 0 removals, 1 what becomes a folder, 2 files and links, 3 modes of
    folders."""
    if change.after.kind == "absent":
        return 0
    if change.after.kind == "dir":
        return 3 if change.before.kind == "dir" else 1
    return 2


def join_folders(folders: list[str]) -> str:
    """Folder paths as one text column: NUL between them, and bytes that are no UTF-8 as `bytes:` spelling."""
    return "\0".join(spell(folder) for folder in folders)


def split_folders(text: str) -> list[str]:
    """The folder paths again."""
    return [unspell(folder) for folder in text.split("\0") if folder]


def inode_of(state: State) -> tuple[int, int] | None:
    """Device and inode of a file that had several names when it was looked at; None for others."""
    return shared_inode(state.extra) if state.kind == "file" else None


def has_names(path: str) -> bool:
    """Whether a file has other names."""
    try:
        return os.lstat(path).st_nlink > 1
    except OSError:  # gone: the commit will find out
        return False
