"""Scanning a workspace into the log: baseline, what changed outside, what a command changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from agenvoy.catalog import stamps, tasks, versions
from agenvoy.catalog.stamps import Command
from agenvoy.history.changes import Change, Spec
from agenvoy.tracking.scan import Found, Scan, Tally, absent_or, renames
from agenvoy.types import State
from agenvoy.workspace.session import Session

BATCH_FILES, BATCH_BYTES = 512, 16 * 1024 * 1024  # of a baseline: what is lost of it by a kill, and held in memory

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan recorded.

    Args:
        operation: the operation with the changes; None where there were none.
        changes: what it holds.
        tally: what was looked at and left out.
        baseline: whether this was the workspace's first complete scan.
    """

    operation: int | None
    changes: tuple[Change, ...]
    tally: Tally
    baseline: bool


def scan(
    session: Session,
    command: Command | None = None,
    *,
    content: bool = True,
    progress: Progress = lambda entries: None,
) -> Scanned:
    """Bring the log up to what is on disk.

    Args:
        command: the command whose window ends now: what changed is its doing; None: it happened outside.
        content: whether the contents of files that were never seen are kept (the baseline).
        progress: told the number of entries every few hundred.
    """
    at = session.clock()
    with session.catalog.write(sync=False) as c:
        workspace = tasks.ensure_workspace(c, session.settings.root)
    with session.catalog.read() as c:
        known = stamps.load(c, workspace)
        last = stamps.last_scan(c, workspace)
        recorded = frozenset(versions.below(c, session.settings.root))
    run = Scan(
        session.settings.root,
        known,
        extra=recorded,
        never=(session.jail.store,),
        keep=session.settings.inline_blob,
        limit=session.settings.track_bytes,
        clock=session.clock,
        content=content,
    )
    changed = _take_in(session, workspace, run, baseline=last is None, progress=progress)
    changed = [f for f in changed if session.jail.writable(f.path)]
    operation, changes = _record(session, changed, command, {p: s.inode for p, s in known.items()})
    with session.catalog.write() as c:
        stamps.save(c, workspace, [(f.path, f.stamp) for f in changed if f.stamp is not None])
        stamps.forget(c, workspace, [f.path for f in changed if f.stamp is None])
        stamps.set_scan(c, workspace, at)
    return Scanned(operation, tuple(changes), run.tally, last is None)


def _take_in(
    session: Session, workspace: int, run: Iterable[Found], *, baseline: bool, progress: Progress
) -> list[Found]:
    """Contents into the vault, batch by batch; gives what is a change and not just seen for the first time."""
    changed: list[Found] = []
    first: list[Found] = []
    size = 0
    for count, found in enumerate(run, 1):
        _keep(session, found)
        size += len(found.seen.data or b"")
        if found.before is None and baseline:
            first.append(found)
        else:
            changed.append(found)
            if found.seen.data is not None:
                changed[-1] = _light(found)
        if len(first) >= BATCH_FILES or size >= BATCH_BYTES:
            _save_first(session, workspace, first)
            size = 0
            progress(count)
    _save_first(session, workspace, first)
    return changed


def _light(found: Found) -> Found:
    """Without the bytes, which the vault has: a checkout may change thousands of files."""
    from dataclasses import replace

    return replace(found, seen=replace(found.seen, data=None))


def _keep(session: Session, found: Found) -> None:
    state = found.seen.state
    if state.kind not in ("file", "link") or not state.hash or session.vault.has(state.hash):
        return
    if found.seen.data is not None:
        session.vault.stage(found.seen.data)
    else:
        session.vault.stage_blocks(session.log.disk_blocks(found.path))


def _save_first(session: Session, workspace: int, first: list[Found]) -> None:
    with session.catalog.write(sync=False) as c:
        session.vault.enter(c)
        stamps.save(c, workspace, [(f.path, f.stamp) for f in first if f.stamp is not None])
    first.clear()


def _record(
    session: Session, changed: list[Found], command: Command | None, inodes: dict[str, int]
) -> tuple[int | None, list[Change]]:
    """Rows for what no tool recorded; under the paths' locks, so that no tool's write is half seen."""
    if not changed:
        return None, []
    with session.log.hold([f.path for f in changed]):
        fresh = []
        for found in changed:
            with session.catalog.read() as c:
                newest = versions.newest(c, found.path)
            before = newest.state if newest is not None else absent_or(found.before)
            now = session.log.look(found.path).state if found.seen.state.hash else found.seen.state
            if not before.same(now) and now.same(found.seen.state):
                fresh.append((found, before))
        if not fresh:
            return None, []
        changes = _changes(fresh, command, inodes)
        spec = _spec(session, command, len(changes))
        written = session.log.record_only(spec, changes)
    return (written.operation if written else None), changes


def _spec(session: Session, command: Command | None, count: int) -> Spec:
    root = session.settings.root
    if command is None:
        return Spec(root, "", "", "external", f"Outside({count} paths)")
    return Spec(root, command.actor, "run", "run", f"Run({command.command[:120]})", command.task)


def _changes(fresh: list[tuple[Found, State]], command: Command | None, inodes: dict[str, int]) -> list[Change]:
    moved: dict[str, str] = {}
    if command is not None:
        gone = [f for f, before in fresh if f.seen.state.kind == "absent"]
        new = [f for f, before in fresh if before.kind == "absent"]
        moved = renames(gone, new, inodes)
        moved |= {new: old for old, new in moved.items()}
    found = []
    for entry, before in fresh:
        now = entry.seen.state
        if command is None:
            action = "external"
        elif entry.path in moved:
            action = "move"
        else:
            action = "create" if before.kind == "absent" else "delete" if now.kind == "absent" else "modify"
        found.append(Change(entry.path, before, now, action, moved=moved.get(entry.path)))  # type: ignore[arg-type]
    return found


def settle(session: Session) -> None:
    """Record what commands changed whose `agenvoy run` died; the next result says so."""
    workspace = session.workspace_id()
    if workspace is None or session.catalog.read_only:
        return
    with session.catalog.read() as c:
        left = [command for command in stamps.open_commands(c, workspace) if not _alive(command.pid)]
    for command in left:
        done = scan(session, command)
        with session.catalog.write() as c:
            stamps.end_command(c, command.id)
        session.said.append(
            f"`{command.command[:80]}` had been interrupted; what it changed ({len(done.changes)} paths) was recorded."
        )


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def outside(session: Session) -> tuple[list[dict[str, Any]], Tally] | None:
    """What a scan would record as changed outside, without recording it; None before there is a baseline."""
    workspace = session.workspace_id()
    if workspace is None:
        return None
    with session.catalog.read() as c:
        if stamps.last_scan(c, workspace) is None:
            return None
        known = stamps.load(c, workspace)
        recorded = frozenset(versions.below(c, session.settings.root))
    run = Scan(
        session.settings.root, known, extra=recorded, never=(session.jail.store,), keep=session.settings.inline_blob,
        limit=session.settings.track_bytes, clock=session.clock,
    )  # fmt: skip
    rows = []
    for found in run:
        with session.catalog.read() as c:
            newest = versions.newest(c, found.path)
        before = newest.state if newest is not None else absent_or(found.before)
        if not before.same(found.seen.state):
            rows.append({"path": session.jail.shown(found.path), "change": told(before, found.seen.state)})
    return sorted(rows, key=lambda row: row["path"]), run.tally


def told(before: State, now: State) -> str:
    """A change in a word."""
    if now.kind == "absent":
        return "deleted"
    if before.kind == "absent":
        return "created"
    return "modified" if before.hash != now.hash or before.kind != now.kind else "mode changed"
