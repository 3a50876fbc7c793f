"""What the next start does about operations whose process died between `prepared` and `done`.

It takes the operation's locks first; where a live process holds one, the operation is left alone. Then the disk is
compared path by path. Every path as before or as after: what is still before is carried forward. Otherwise nothing
is guessed: paths that are as after are put back, what is neither is recorded as `external`, and the operation stays
in the log as interrupted. A file that was being written in place and is torn (a beginning of the new bytes, the rest
old) counts as before: nobody but us can have made it.
"""

from __future__ import annotations

import os
from dataclasses import replace as with_fields

from agenvoy.catalog import reads, tasks, trashed, versions
from agenvoy.catalog.versions import Operation
from agenvoy.disk import replace, states
from agenvoy.disk.exchange import exchange
from agenvoy.disk.jail import open_folder
from agenvoy.disk.locks import path_key
from agenvoy.errors import AgenvoyError
from agenvoy.history.changes import Change, Spec, split_folders, temp_name
from agenvoy.history.log import Log, folders_taken_back, mark_undone, trash_for
from agenvoy.history.writing import DiskWriter
from agenvoy.types import Version


def recover(log: Log) -> list[str]:
    """Bring every abandoned operation to an end; gives one sentence for each."""
    with log.catalog.read() as c:
        waiting = versions.prepared(c)
    said = []
    for operation in waiting:
        with log.catalog.read() as c:
            rows = versions.of_operation(c, operation.id)
        try:
            with log.locks.hold({path_key(row.path) for row in rows}, wait_s=0.0):
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
    changes = _changes(log, rows)
    writer = DiskWriter(
        log.vault,
        operation.token,
        log.catalog.store,
        list(enumerate(changes)),
        trash_for(changes, {row.path: row.id for row in rows}),
        log.step,
    )
    for number, change in enumerate(changes):
        _clear(log, operation, number, change)
    now = [log.look(change.path).state for change in changes]
    torn = [_torn(log, change) for change in changes]
    clean = all(
        state.same(change.before) or state.same(change.after) or is_torn
        for state, change, is_torn in zip(now, changes, torn, strict=True)
    )
    if clean:
        said = _forward(log, operation, changes, writer, torn)
    else:
        said = _back(log, operation, changes, writer)
    root = _root(log, operation)
    with log.catalog.write() as c:
        workspace = tasks.ensure_workspace(c, root)
        reads.put_notice(c, operation.task or reads.scope_of(workspace, operation.actor), said)
    return said


def _changes(log: Log, rows: list[Version]) -> list[Change]:
    """The operation's changes again, from its rows: each new state, and the row ahead of it."""
    found = []
    last = {row.path: row for row in rows}
    for row in last.values():
        own = [r for r in rows if r.path == row.path and r.id < row.id]
        if own:
            before = own[-1].state
        else:
            with log.catalog.read() as c:
                ahead = versions.before(c, row.path, row.id)
            before = ahead.state if ahead is not None else row.state
        found.append((row.id, Change(row.path, before, row.state, row.action, row.moved)))
    return [change for _, change in sorted(found, key=lambda item: item[0])]


def _clear(log: Log, operation: Operation, number: int, change: Change) -> None:
    """Remove a temporary file, unless it is somebody else's save that the exchange displaced: that goes back."""
    folder = os.path.dirname(change.path)
    if not os.path.isdir(folder):
        return
    with open_folder(folder) as fd:
        for back in (False, True):
            temp = temp_name(operation.token, number, back=back)
            seen = states.look(fd, temp, keep=log.vault.inline)
            if seen.state.kind == "absent":
                continue
            ours = seen.state.same(change.before) or seen.state.same(change.after) or _prefix(log, fd, temp, change)
            name = os.path.basename(change.path)
            target = states.look(fd, name, keep=log.vault.inline)
            if not ours and target.state.kind != "absent":
                exchange(temp, name, fd)
            elif not ours:
                os.rename(temp, name, src_dir_fd=fd, dst_dir_fd=fd)
                continue
            replace.unstage(fd, temp)


def _prefix(log: Log, fd: int, temp: str, change: Change) -> bool:
    """Whether a temporary file is a beginning of what was to be staged there: the writing was cut."""
    for state in (change.after, change.before):
        if state.kind != "file":
            continue
        file = os.open(temp, states.READ_FLAGS, dir_fd=fd)
        with open(file, "rb", buffering=0) as staged:
            if all(_same_start(staged.read(len(block)), block) for block in log.vault.blocks(state.hash)):
                return staged.read(1) == b""
    return False


def _same_start(part: bytes, block: bytes) -> bool:
    return block.startswith(part)


def _torn(log: Log, change: Change) -> bool:
    """Whether the file holds a beginning of the new bytes and then the old ones."""
    if change.before.kind != "file" or change.after.kind != "file":
        return False
    seen = log.look(change.path)
    limit = max(change.before.size, change.after.size)
    if seen.state.kind != "file" or seen.state.size > limit or limit > 64 * 1024 * 1024:
        return False
    disk = seen.data if seen.data is not None else b"".join(log.disk_blocks(change.path))
    new, old = log.vault.read(change.after.hash), log.vault.read(change.before.hash)
    cut = next((i for i, (a, b) in enumerate(zip(disk, new, strict=False)) if a != b), min(len(disk), len(new)))
    return disk[cut:] == old[cut : len(disk)] and len(disk) in (len(old), max(len(old), cut), len(new))


def _forward(
    log: Log, operation: Operation, changes: list[Change], writer: DiskWriter, torn: list[bool]
) -> str:
    todo = []
    for number, change in enumerate(changes):
        seen = log.look(change.path).state
        if torn[number] and not seen.same(change.after):
            todo.append((number, with_fields(change, before=seen)))
        elif seen.same(change.before) and not change.before.same(change.after):
            todo.append((number, change))
    again = DiskWriter(log.vault, operation.token, log.catalog.store, todo, writer.trash, log.step)
    again.run()
    with log.catalog.read() as c:
        folders = folders_taken_back(c, operation.undoes, operation.target_task)
    again.drop_folders(folders)
    at = log.clock()
    spec = Spec(
        "", operation.actor, operation.tool, operation.kind, operation.label, undoes=operation.undoes,
        target_task=operation.target_task,
    )  # fmt: skip
    with log.catalog.write() as c:
        versions.set_state(c, operation.id, versions.DONE, at)
        if operation.undoes is not None:
            mark_undone(c, spec, operation.id)
        if operation.target_task is not None:
            tasks.set_undone(c, operation.target_task, operation.id)
        for change in changes:
            version = writer.trash.get(change.path)
            place = None if version is None else os.path.join(
                log.catalog.store, "temp", str(version), os.path.basename(change.path)
            )  # fmt: skip
            if version is not None and place is not None and os.path.lexists(place):
                ahead = versions.before(c, change.path, version)
                entry = trashed.Trashed(
                    ahead.id if ahead else version, change.path, place, change.before.size, at
                )
                trashed.insert(c, entry)
    return f"{operation.label} (operation {operation.id}) had been interrupted; it was completed."


def _back(log: Log, operation: Operation, changes: list[Change], writer: DiskWriter) -> str:
    put_back: list[Change] = []
    for number, change in enumerate(changes):
        if log.look(change.path).state.same(change.after) and not change.before.same(change.after):
            writer.done.append((number, change))
            put_back.append(change)
    writer.take_back()
    writer.drop_folders(split_folders(operation.folders))
    with log.catalog.write() as c:
        versions.set_state(c, operation.id, versions.INTERRUPTED, log.clock())
    root = _root(log, operation)
    rows = []
    for change in changes:
        seen = log.look(change.path)
        if not seen.state.same(change.after):
            action = "restore" if seen.state.same(change.before) else "external"
            rows.append(Change(change.path, change.after, seen.state, action, data=seen.data))  # type: ignore[arg-type]
    if rows:
        log.record_only(
            Spec(root, operation.actor, "", "recover", f"Recover(operation {operation.id})", task=operation.task), rows
        )
    return (
        f"{operation.label} (operation {operation.id}) had been interrupted and its files were changed since; "
        "what it had written was put back, and the other changes were kept."
    )


def _root(log: Log, operation: Operation) -> str:
    with log.catalog.read() as c:
        return tasks.root_of(c, operation.workspace)
