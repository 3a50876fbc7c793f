"""Scanning a workspace into the log: baseline, what changed outside, what a command changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from agenvoy.blobs.files import process_alive
from agenvoy.catalog import Catalog, stamps, tasks, trashed, versions
from agenvoy.catalog.stamps import Command
from agenvoy.disk.ignores import global_excludes
from agenvoy.disk.replace import Raced
from agenvoy.errors import AgenvoyError, from_os_error
from agenvoy.history.changes import Change, Spec, inode_of
from agenvoy.history.vault import Vault
from agenvoy.tracking.scan import UNKNOWN, Found, Scan, Tally, renames
from agenvoy.tracking.snapshot import Snapshot
from agenvoy.types import ABSENT, State
from agenvoy.workspace.protecting import keeps, protect
from agenvoy.workspace.session import Session
from agenvoy.workspace.spawning import is_running

HOOKED_NS = 3600 * 1_000_000_000
BATCH = 512  # files of a baseline taken in together: what is lost of it by a kill

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Scanned:
    """What a scan recorded.

    Args:
        operation: the operation with the changes; None where there were none.
        changes: what it holds.
        tally: what was looked at and left out.
        snapshot: how everything looks now.
    """

    operation: int | None
    changes: tuple[Change, ...]
    tally: Tally
    snapshot: Snapshot
    secret: tuple[str, ...]


def scan(
    session: Session,
    command: Command | None = None,
    *,
    content: bool = True,
    snapshot: Snapshot | None = None,
    progress: Progress = lambda entries: None,
) -> Scanned:
    """Bring the log up to what is on disk.

    Args:
        command: the command whose window ends now: what changed is its doing; None: it happened outside, or by a
            command of somebody else that is going on.
        content: whether the contents of files that were never seen are kept (the baseline).
        snapshot: of the scan before, where it is still at hand.
        progress: told the number of entries every few hundred.
    """
    command = command or going_on(session)
    try:
        with session.log.locks.beside():
            done = _scan_in(session, command, content, snapshot, progress)
        protect(session, [*(c.path for c in done.changes), *done.secret], "run", "Scan()")
        return done
    except Raced:
        raise AgenvoyError(
            "store_busy", "files keep changing while the workspace is scanned", "try again in a moment"
        ) from None
    except OSError as error:
        raise from_os_error(error, str(error.filename or "the store")) from error


def going_on(session: Session) -> Command | None:
    """The command that runs in this workspace just now, by whomever; of several the one that began last.

    What an agent's hooks have begun counts for an hour: nothing tells that the agent has died.
    """
    workspace = session.workspace_id()
    if workspace is None:
        return None
    with session.catalog.read() as c:
        found = stamps.open_commands(c, workspace)
    young = session.clock() - HOOKED_NS
    alive = [one for one in found if (process_alive(one.pid) if one.pid else one.at > young)]
    return alive[-1] if alive else None


def _scan_in(
    session: Session, command: Command | None, content: bool, snapshot: Snapshot | None, progress: Progress
) -> Scanned:
    at = session.clock()
    workspace = _workspace(session)
    with session.catalog.read() as c:
        last = stamps.last_scan(c, workspace)
        extra = frozenset(versions.below(c, session.settings.root))
    known = snapshot or Snapshot.loads(last[1] if last else None)
    run = _scan(session, known, extra, content=content or last is not None)
    before = _Before(session, workspace)
    changed: list[Found] = []
    secret: list[str] = []
    with session.catalog.bulk(), ThreadPoolExecutor(1) as writer:
        saving: Future[None] | None = None  # one batch is written while the next is looked at
        for count, batch in enumerate(_batches(run), 1):
            if saving is not None:
                saving.result()
            _keep(session, [f for f in batch if keeps(session, f.path)])
            firsts = [f for f in batch if f.first or (last is None and f.path not in extra)]
            later = [f for f in batch if f not in firsts] if len(firsts) < len(batch) else []
            changed += [replace(f, seen=replace(f.seen, data=None)) for f in later]
            saving = writer.submit(_save, session.catalog, session.vault, workspace, firsts)
            secret += [f.path for f in firsts if session.settings.is_sensitive(f.path) and keeps(session, f.path)]
            progress(count * BATCH)
        if saving is not None:
            saving.result()
    changed = [f for f in changed if session.jail.writable(f.path)]
    operation, changes = _record(session, changed, command, before, run.snapshot)
    if changed or run.snapshot.dirty or last is None:
        _finish(session, workspace, at, changed, run.snapshot)
    return Scanned(operation, tuple(changes), run.tally, run.snapshot, tuple(secret))


def _workspace(session: Session) -> int:
    found = session.workspace_id()
    if found is None:
        with session.catalog.write(sync=False) as c:
            found = tasks.ensure_workspace(c, session.settings.root)
    return found


def _scan(session: Session, snapshot: Snapshot | None, extra: frozenset[str], *, content: bool) -> Scan:
    settings = session.settings
    return Scan(
        settings.root, snapshot, extra=extra, never=(session.jail.store,), keep=settings.inline_blob,
        limit=settings.track_bytes, clock=session.clock, content=content,
        excludes=global_excludes(settings.user_home, settings.config_home),
    )  # fmt: skip


def _batches(run: Scan) -> Iterator[list[Found]]:
    found = iter(run)
    while batch := list(islice(found, BATCH)):
        yield batch


class _Before:
    """The state that a path had before: its newest row in the log, else what the last scan saw."""

    def __init__(self, session: Session, workspace: int) -> None:
        self.session, self.workspace = session, workspace

    def state(self, path: str) -> State:
        """The state; absent where it was never seen."""
        with self.session.catalog.read() as c:
            newest = versions.newest(c, path)
            return newest.state if newest is not None else stamps.state(c, self.workspace, path) or ABSENT


def _keep(session: Session, batch: list[Found]) -> None:
    """Contents into the vault; compressing lets go of the interpreter, so two threads halve the time."""
    missing = session.vault.missing([f.seen.state.hash for f in batch if f.seen.state.hash])
    small = [f.seen.data for f in batch if f.seen.data is not None and f.seen.state.hash in missing]
    parts = [small[n::4] for n in range(4)]  # few jobs: handing one over costs as much as compressing a small file
    with ThreadPoolExecutor(2) as pool:
        for staged in pool.map(lambda part: [Vault.prepare(data) for data in part], parts):
            for content in staged:
                session.vault.stage_prepared(content)
    with session.vault.together():
        for found in batch:
            state = found.seen.state
            if state.kind == "file" and found.seen.data is None and state.hash in missing:
                missing.discard(state.hash)
                session.vault.stage_blocks(session.log.disk_blocks(found.path))


def _save(catalog: Catalog, vault: Vault, workspace: int, firsts: list[Found]) -> None:
    """Takes no session: the thread that waits for this one holds its lock."""
    with catalog.write(sync=False) as c:
        vault.enter(c)
        stamps.save(c, workspace, [(f.path, f.seen.state) for f in firsts])


def _finish(session: Session, workspace: int, at: int, changed: list[Found], snapshot: Snapshot) -> None:
    with session.catalog.write() as c:
        session.vault.enter(c)
        stamps.save(c, workspace, [(f.path, _last_name(c, f)) for f in changed])
        stamps.set_scan(c, workspace, at, snapshot.dumps())
    snapshot.dirty = False


def _last_name(c: Any, found: Found) -> State:
    """The state of a file; the last name of one that had several still says so (they may come back together)."""
    state, status = found.seen.state, found.seen.stat
    if status is None or state.kind != "file" or status.st_nlink != 1:
        return state
    known = found.path in trashed.names_of(c, status.st_dev, status.st_ino)
    return state.of_inode(status.st_dev, status.st_ino) if known else state


def _record(
    session: Session, changed: list[Found], command: Command | None, before: _Before, snapshot: Snapshot
) -> tuple[int | None, list[Change]]:
    """Rows for what no tool recorded; under the paths' locks, so that no tool's write is half seen."""
    if not changed:
        return None, []
    with session.log.hold([f.path for f in changed]):
        fresh = []
        for found in changed:
            was, now = before.state(found.path), found.seen.state
            if now.hash != UNKNOWN or now.kind != "file":
                now = _looked(session, found.path)
            if not was.same(now) and now.same(found.seen.state) and not _by_another_name(session, found.path, was, now):
                fresh.append((found, was))
        if not fresh:
            return None, []
        changes = _changes(fresh, command, snapshot)
        _note_names(session, [state for found, was in fresh for state in (was, found.seen.state)], snapshot)
        background = [] if command is not None else _background(session, before.workspace)
        written = session.log.record_only(_spec(session, command, len(changes), background), changes)
    return (written.operation if written else None), changes


def _by_another_name(session: Session, path: str, was: State, now: State) -> bool:
    """Whether the state of a name without rows was recorded already, under another name that the file had before."""
    inode = inode_of(now)
    if inode is None or inode != inode_of(was):
        return False
    with session.catalog.read() as c:
        if versions.newest(c, path) is not None:
            return False
        rows = [versions.newest(c, name) for name in trashed.names_of(c, *inode)]
    return any(row is not None and row.state.same(now) for row in rows)


def _looked(session: Session, path: str) -> State:
    try:
        return session.log.look(path).state
    except AgenvoyError as error:
        if error.code != "not_a_file":
            raise
        return ABSENT  # a FIFO or such stands where the file was


def _note_names(session: Session, states: list[State], snapshot: Snapshot) -> None:
    """The other names of files that had several: a restore has to know them."""
    wanted = {inode[1]: inode[0] for state in states if (inode := inode_of(state)) is not None}
    if wanted:
        with session.catalog.write(sync=False) as c:
            for number, path in snapshot.with_inode(wanted):
                trashed.note_inode(c, wanted[number], number, path)


def _changes(fresh: list[tuple[Found, State]], command: Command | None, snapshot: Snapshot) -> list[Change]:
    moved: dict[str, str] = {}
    if command is not None:
        gone = {f.path: was for f, was in fresh if f.seen.state.kind == "absent"}
        new = {f.path: f.seen for f, was in fresh if was.kind == "absent"}
        moved = renames(gone, new, snapshot.gone_inode)
        moved |= {new: old for old, new in moved.items()}
    found = []
    for entry, was in fresh:
        now = entry.seen.state
        if command is None:
            action = "external"
        elif entry.path in moved:
            action = "move"
        else:
            action = "create" if was.kind == "absent" else "delete" if now.kind == "absent" else "modify"
        found.append(Change(entry.path, was, now, action, moved=moved.get(entry.path)))  # type: ignore[arg-type]
    return found


def _background(session: Session, workspace: int) -> list[stamps.Background]:
    """Processes of earlier commands that may have made these changes; those that have ended do so no longer."""
    with session.catalog.read() as c:
        found = stamps.background(c, workspace)
    ended = [one for one in found if not is_running(one.pid, one.started)]
    if ended:
        with session.catalog.write(sync=False) as c:
            for one in ended:
                stamps.end_background(c, workspace, one)
    return found


def _spec(session: Session, command: Command | None, count: int, background: list[stamps.Background]) -> Spec:
    root = session.settings.root
    if command is None:
        names = list(dict.fromkeys(one.command[:60] for one in background))
        while_ = f"; {', '.join(names[:2])} ran in the background" if names else ""
        return Spec(root, "", "", "external", f"Outside({count} paths{while_})")
    return Spec(root, command.actor, "run", "run", f"Run({command.command[:120]})", command.task)


def settle(session: Session) -> None:
    """Record what commands changed whose `agenvoy run` died; the next result says so."""
    workspace = session.workspace_id()
    if workspace is None or session.catalog.read_only:
        return
    with session.catalog.read() as c:
        left = [command for command in stamps.open_commands(c, workspace) if not process_alive(command.pid)]
    for command in left:
        done = scan(session, command)
        with session.catalog.write() as c:
            stamps.end_command(c, command.id)
        session.said.append(
            f"`{command.command[:80]}` had been interrupted; what it changed ({len(done.changes)} paths) was recorded."
        )


def outside(session: Session) -> tuple[list[dict[str, Any]], Tally] | None:
    """What a scan would record as changed outside, without recording it; None before there is a baseline."""
    workspace = session.workspace_id()
    if workspace is None:
        return None
    with session.catalog.read() as c:
        last = stamps.last_scan(c, workspace)
        extra = frozenset(versions.below(c, session.settings.root)) if last is not None else frozenset()
    if last is None:
        return None
    run = _scan(session, Snapshot.loads(last[1]), extra, content=True)
    before = _Before(session, workspace)
    rows = []
    for found in run:
        was = before.state(found.path)
        now = found.seen.state
        if not was.same(now) and not _by_another_name(session, found.path, was, now):
            rows.append({"path": session.jail.shown(found.path), "change": told(was, now)})
    return sorted(rows, key=lambda row: row["path"]), run.tally


def told(before: State, now: State) -> str:
    """A change in a word."""
    if now.kind == "absent":
        return "deleted"
    if before.kind == "absent":
        return "created"
    return "modified" if before.hash != now.hash or before.kind != now.kind else "mode changed"
