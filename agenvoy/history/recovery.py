"""What the next start does about operations whose process died between `prepared` and `done`.

It takes the operation's locks first; where a live process holds one, the operation is left alone. Then the disk is
compared path by path. Every path as before or as after: what is still before is carried forward. Otherwise nothing
is guessed: paths that are as after are put back, what is neither is recorded as `external`, and the operation stays
in the log as interrupted. Two states between count as ours, since nobody else can have made them: a file that was
being written in place (a beginning of the new bytes, the rest old), and a folder that has not its mode yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as with_fields

from agenvoy.catalog import reads, tasks, versions
from agenvoy.catalog.versions import Operation
from agenvoy.disk import replace
from agenvoy.disk.locks import path_key
from agenvoy.errors import AgenvoyError
from agenvoy.history import debris
from agenvoy.history.aftermath import folders_taken_back, trash_for
from agenvoy.history.changes import Change, Spec, Written, split_folders
from agenvoy.history.log import Log, inode_keys
from agenvoy.history.writing import FRESH_FOLDER, DiskWriter
from agenvoy.types import State, Version

TORN_BYTES = 64 * 1024 * 1024  # a longer file that was written in place is not compared in memory: it counts as other


@dataclass(frozen=True, slots=True)
class _Found:
    """A prepared operation, read back from its rows; `now` has what is on disk, per change."""

    operation: Operation
    root: str
    changes: list[Change]
    written: Written
    writer: DiskWriter

    @property
    def spec(self) -> Spec:
        """Who wrote it, as far as bringing it to an end needs."""
        op = self.operation
        return Spec(
            self.root, op.actor, op.tool, op.kind, op.label, op.task, undoes=op.undoes, target_task=op.target_task,
            forget=op.kind in ("restore", "undo", "redo"),
        )  # fmt: skip


def recover(log: Log) -> list[str]:
    """Bring every abandoned operation to an end; gives one sentence for each."""
    with log.catalog.read() as c:
        waiting = versions.prepared(c)
    said = []
    for operation in waiting:
        with log.catalog.read() as c:
            rows = versions.of_operation(c, operation.id)
        paths = [row.path for row in rows]
        try:
            with log.locks.hold({path_key(path) for path in paths} | inode_keys(paths), wait_s=0.0):
                with log.catalog.read() as c:
                    now = versions.operation(c, operation.id)
                if now is not None and now.state == versions.PREPARED:
                    said.append(_end(log, operation, rows))
        except (AgenvoyError, OSError, replace.Raced) as error:
            # store_busy: its process lives and is at work. Anything else: it stays prepared, and the next start tries
            # again; the paths concerned answer `store_busy` until then, everything else goes on.
            if getattr(error, "code", "") != "store_busy":
                said.append(f"{operation.label} (operation {operation.id}) could not be brought to an end: {error}")
    return said


def _end(log: Log, operation: Operation, rows: list[Version]) -> str:
    found = _read_back(log, operation, rows)
    debris.clear(log, _outside(found), found.writer)
    now = [log.look(change.path).state for change in found.changes]
    ours = [_ours(log, change, state) for change, state in zip(found.changes, now, strict=True)]
    refused = log.refused(operation.token)
    if refused and all(s.same(change.before) for s, change in zip(now, found.changes, strict=True)):
        said = _abandon(log, found)
    else:
        said = _forward(log, found, now) if all(ours) and not refused else _back(log, found, now, ours)
    log.forget_refusal(operation.token)
    with log.catalog.write() as c:
        workspace = tasks.ensure_workspace(c, found.root)
        reads.put_notice(c, operation.task or reads.scope_of(workspace, operation.actor), said)
    return said


def _abandon(log: Log, found: _Found) -> str:
    """It had failed, and all of it was taken back; only that could not be written down at the time."""
    found.writer.drop_folders(split_folders(found.operation.folders))
    with log.catalog.write() as c:
        versions.set_state(c, found.operation.id, versions.ABANDONED, log.clock())
    return f"{found.operation.label} (operation {found.operation.id}) had failed; nothing of it was done."


def _outside(found: _Found) -> Spec:
    return Spec(found.root, "", "", "external", f"Outside(operation {found.operation.id})")


def _read_back(log: Log, operation: Operation, rows: list[Version]) -> _Found:
    """The operation's changes again: each new state, and the row ahead of it, in this operation or before."""
    changes, new, previous = [], {}, {}
    last = {row.path: row for row in rows}
    with log.catalog.read() as c:
        root = tasks.root_of(c, operation.workspace)
        for row in sorted(last.values(), key=lambda row: row.id):
            own = [r for r in rows if r.path == row.path and r.id < row.id]
            ahead = own[-1] if own else versions.before(c, row.path, row.id)
            before = ahead.state if ahead is not None else row.state
            changes.append(Change(row.path, before, row.state, row.action, row.moved))
            new[row.path] = row.id
            previous[row.path] = ahead.id if ahead is not None else row.id
    writer = DiskWriter(
        log.vault, operation.token, log.catalog.store, list(enumerate(changes)), trash_for(changes, new), log.step
    )
    return _Found(operation, root, changes, Written(operation.id, new, previous, {}), writer)


# ---- whose state is it
def _ours(log: Log, change: Change, now: State) -> bool:
    if now.same(change.before) or now.same(change.after):
        return True
    half = now.kind == "dir" and now.mode == FRESH_FOLDER and "dir" in (change.before.kind, change.after.kind)
    return half or _torn(log, change, now)


def _torn(log: Log, change: Change, now: State) -> bool:
    """Whether the file holds a beginning of the new bytes and then the old ones."""
    before, after = change.before, change.after
    if not now.kind == before.kind == after.kind == "file" or now.mode not in (before.mode, after.mode):
        return False
    if max(now.size, before.size, after.size) > TORN_BYTES:
        return False
    disk = b"".join(log.disk_blocks(change.path))
    for new, old in ((after, before), (before, after)):  # the other way round: it was being put back
        if _spliced(disk, log.vault.read(new.hash), log.vault.read(old.hash)):
            return True
    return False


def _spliced(disk: bytes, new: bytes, old: bytes) -> bool:
    cut = next((i for i, (a, b) in enumerate(zip(disk, new, strict=False)) if a != b), min(len(disk), len(new)))
    return disk[cut:] == old[cut : len(disk)] and len(disk) in (len(old), max(len(old), cut), len(new))


# ---- forward
def _forward(log: Log, found: _Found, now: list[State]) -> str:
    todo = [
        (number, with_fields(change, before=state))
        for number, (change, state) in enumerate(zip(found.changes, now, strict=True))
        if not state.same(change.after)
    ]
    again = DiskWriter(
        log.vault, found.operation.token, log.catalog.store, todo, found.writer.trash, log.step
    )
    found.writer.dispose_all()  # first: what lies in a folder keeps it from going
    again.run()
    with log.catalog.read() as c:
        folders = folders_taken_back(c, found.operation.undoes, found.operation.target_task)
    again.drop_folders(folders)
    places = debris.trashed_already(found.writer, found.changes)
    log.confirm(found.spec, found.operation.id, found.changes, found.written, places)
    return f"{found.operation.label} (operation {found.operation.id}) had been interrupted; it was completed."


# ---- back
def _back(log: Log, found: _Found, now: list[State], ours: list[bool]) -> str:
    writer, operation = found.writer, found.operation
    for number, change in writer.changes:
        if ours[number] and not now[number].same(change.before):
            writer.done.append((number, with_fields(change, after=now[number])))
    writer.places = debris.trashed_already(writer, found.changes)
    writer.take_back()
    writer.drop_folders(split_folders(operation.folders))
    rows = []
    for change in found.changes:
        seen = log.look(change.path)
        if not seen.state.same(change.after):
            action = "restore" if seen.state.same(change.before) else "external"
            rows.append(Change(change.path, change.after, seen.state, action, data=seen.data))  # type: ignore[arg-type]
    spec = Spec(found.root, operation.actor, "", "recover", f"Recover(operation {operation.id})", operation.task)
    log.record_only(spec, rows, interrupted=operation.id)  # there is a row: not every path was as after
    log.forget_lost_trash([change.path for change in found.changes])
    return (
        f"{operation.label} (operation {operation.id}) had been interrupted and its files were changed since; "
        "what it had written was put back, and the other changes were kept."
    )
