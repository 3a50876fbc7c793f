"""What follows from an operation beside its rows: the trash, marks of what was undone, read memories, folders."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agenvoy.catalog import Connection, reads, versions
from agenvoy.disk.jail import inside
from agenvoy.history import changes as parts
from agenvoy.history.changes import Change, Spec
from agenvoy.types import ABSENT


def trash_for(changes: Sequence[Change], new: dict[str, int]) -> dict[str, int]:
    """Which removed files are filed in the trash, under the id of the row that says that they are gone."""
    moved = {c.path for c in changes if c.moved}
    return {
        c.path: new[c.path]
        for c in changes
        if c.before.kind in ("file", "link") and c.after.kind == "absent" and c.path not in moved
    }


def folders_taken_back(
    c: Connection, undoes: int | None, task: str | None, part: Sequence[str] = ()
) -> list[str]:
    """Folders that the operation or task that is taken back had made on its way to a file.

    Args:
        part: only those that lie below one of these paths, or that it lies in; empty: all.
    """
    if undoes is None and task is None:
        return []
    own = "task = ? AND kind NOT IN ('restore', 'undo', 'redo')"  # what those made had been there before the task
    found = versions.operations(c, f"(id = ? OR ({own})) AND folders != ''", (undoes, task))
    made: dict[str, int] = {}
    for op in found:
        for folder in parts.split_folders(op.folders):
            made[folder] = min(op.id, made.get(folder, op.id))
    folders = [folder for folder, by in made.items() if not _stood_before(c, folder, by, undoes, task)]
    return [f for f in folders if not part or any(inside(f, path) or inside(path, f) for path in part)]


def _stood_before(c: Connection, folder: str, made: int, undoes: int | None, task: str | None) -> bool:
    """Whether a folder was there before what is taken back, which removed it and made it again (operation `made`)."""
    rows = [r for r in versions.of_path(c, folder) if r.operation < made and (r.task == task or r.operation == undoes)]
    if not rows:
        return False
    ahead = versions.before(c, folder, rows[0].id)
    state = rows[0].state if rows[0].action == "observed" else ahead.state if ahead is not None else ABSENT
    return state.kind == "dir"


def mark_undone(c: Connection, spec: Spec, operation: int) -> None:
    """An undo marks what it took back; a redo (the undo of an undo) lets the first operation hold again."""
    assert spec.undoes is not None
    versions.set_undone(c, spec.undoes, operation)
    if spec.kind == "redo":
        undo = versions.operation(c, spec.undoes)
        if undo is not None and undo.undoes is not None:
            versions.set_undone(c, undo.undoes, None)


def forget_reads(c: Connection, paths: Sequence[str], spec: Spec, operation: int, at: int) -> None:
    """Take restored paths out of every memory, and leave a notice for those whose memory it was."""
    after = versions.last_id(c)
    told: dict[str, list[str]] = {}
    for path in paths:
        for scope in {*reads.scopes_knowing(c, path), *reads.writers_running(c, path)}:
            reads.remember(c, scope, path, reads.FORGOTTEN, after, at)
            told.setdefault(scope, []).append(path)
    for scope, known in told.items():
        if scope == spec.task:
            continue  # its own result says it
        shown = ", ".join(_near(path, spec.root) for path in known[:8]) + (" …" if len(known) > 8 else "")
        reads.put_notice(
            c, scope, f"{shown} changed by operation {operation} ({spec.label}, by {spec.actor}); read again to edit."
        )


def _near(path: str, root: str) -> str:
    from agenvoy.disk.names import spell

    return spell(os.path.relpath(path, root)) if path.startswith(root.rstrip("/") + "/") else spell(path)
