"""The narrow place that every change passes: record → write → confirm.

    hold      the locks of the paths; operations that a dead process left on them are brought to an end first
    write     1 states before and after are durable, the operation is committed as prepared (synced)
              2 the disk is changed (history.writing)
              3 the operation is committed as done (not synced: recovery finds it out again)
A failure in 2 is taken back and the operation abandoned; a death in 2 is found by the next start (history.recovery).
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace as with_fields

from agenvoy.catalog import Catalog, Connection, tasks, trashed, undone, versions
from agenvoy.disk import replace, states
from agenvoy.disk.jail import open_folder
from agenvoy.disk.locks import Locks, inode_key, path_key
from agenvoy.errors import AgenvoyError
from agenvoy.history import changes as parts
from agenvoy.history.aftermath import folders_taken_back, forget_reads, mark_undone, trash_for
from agenvoy.history.changes import Change, Spec, Written
from agenvoy.history.trashing import drop_place
from agenvoy.history.vault import Vault
from agenvoy.history.writing import DiskWriter
from agenvoy.types import ABSENT, Clock, State


class Log:
    """The log of one store.

    Args:
        catalog, vault: where rows and contents live.
        locks: one lock per path.
        clock: epoch nanoseconds.
        recover: brings operations of dead processes to an end (`history.recovery.recover`).
        step: see `changes.no_step`.
    """

    def __init__(
        self,
        catalog: Catalog,
        vault: Vault,
        locks: Locks,
        clock: Clock,
        recover: Callable[[Log], object],
        step: Callable[[str], None] = parts.no_step,
    ) -> None:
        self.catalog, self.vault, self.locks, self.clock = catalog, vault, locks, clock
        self.recover, self.step = recover, step

    # ---- looking
    @contextmanager
    def hold(self, paths: Sequence[str]) -> Iterator[None]:
        """Hold the locks of paths (and of the inodes of those that share one)."""
        for _ in range(8):
            keys = {path_key(path) for path in paths} | inode_keys(paths)
            with self.locks.hold(keys):
                if inode_keys(paths) <= keys and not self._unfinished(paths):
                    yield
                    return
            self.recover(self)  # outside of our locks: it takes those of the whole operation, in order
        raise AgenvoyError("store_busy", "the paths keep changing hands", "try again in a moment")

    def _unfinished(self, paths: Sequence[str]) -> bool:
        """Whether a prepared operation is about one of these paths; we hold its lock, so its process is dead."""
        with self.catalog.read() as c:
            wanted = set(paths)
            return any(
                row.path in wanted for op in versions.prepared(c) for row in versions.of_operation(c, op.id)
            )

    def look(self, path: str, *, shown: str = "") -> states.Seen:
        """What is at a real path now; see `disk.states.look`."""
        try:
            with open_folder(os.path.dirname(path)) as fd:
                return states.look(fd, os.path.basename(path), keep=self.vault.inline, shown=shown)
        except (FileNotFoundError, NotADirectoryError):
            return states.NOTHING
        except OSError as error:
            if error.errno == errno.ELOOP:  # a parent has become a link: nothing is at the real path
                return states.NOTHING
            raise OSError(error.errno, error.strerror, path) from error

    # ---- writing
    def write(self, spec: Spec, changes: Sequence[Change]) -> Written:
        """Carry changes out as one operation; the caller holds the locks and has looked inside them.

        Raises:
            AgenvoyError: conflict (with `paths`) when a path changed in the last instant: what was written is put
                back, the other's content is recorded as `external`; disk_full, permission_denied … from the system;
                store_* when the state before cannot be recorded (nothing is written then).
        """
        self._stage_before(changes)
        self.step("recorded")
        token = secrets.token_hex(4)
        operation, written = self._prepare(spec, changes, token)
        self.step("prepared")
        numbered = [(number, change) for number, change in enumerate(changes)]
        writer = DiskWriter(
            self.vault, token, self.catalog.store, numbered, trash_for(changes, written.versions), self.step
        )
        try:
            writer.run()
            with self.catalog.read() as c:
                folders = folders_taken_back(c, spec.undoes, spec.target_task, spec.part)
            writer.drop_folders(folders)
        except (Exception, KeyboardInterrupt) as error:
            if isinstance(error, OSError) and not str(error.filename or "").startswith("/"):
                error.filename = writer.at  # the system was asked about a name in an open folder
            self._fail(operation, writer, error)
            raise
        try:
            self.confirm(spec, operation, changes, written, writer.places)
        except AgenvoyError as error:
            # It is done on disk and recorded as prepared: the next start that can write finds it so and says it is
            # done. To answer with an error now would be a lie.
            if error.code not in ("disk_full", "store_busy", "store_unavailable"):
                raise
        self.step("done")
        return with_fields(written, places=writer.places)

    def _stage_before(self, changes: Sequence[Change]) -> None:
        """Make sure that the vault has every content that is about to be overwritten or removed."""
        for change in changes:
            if change.before.kind not in ("file", "link") or not change.before.hash:
                continue
            if self.vault.has(change.before.hash):
                continue
            if change.data is not None:
                self.vault.stage(change.data)
            elif self.vault.stage_blocks(self.disk_blocks(change.path)) != change.before.hash:
                self.vault.forget_staged()
                raise replace.Raced(self.look(change.path))

    def disk_blocks(self, path: str) -> Iterator[bytes]:
        """The bytes of a regular file on disk, block by block."""
        with open_folder(os.path.dirname(path)) as fd:
            file = os.open(os.path.basename(path), states.READ_FLAGS, dir_fd=fd)
        try:
            while block := os.read(file, states.BLOCK):
                yield block
        finally:
            os.close(file)

    def _prepare(
        self, spec: Spec, changes: Sequence[Change], token: str, interrupted: int | None = None
    ) -> tuple[int, Written]:
        """Commit the rows; without a token they tell what is there already, so the operation is done with it."""
        at = self.clock()
        state = versions.PREPARED if token else versions.DONE
        with self.catalog.write() as c:
            if interrupted is not None:
                versions.set_state(c, interrupted, versions.INTERRUPTED, at)
            workspace = tasks.ensure_workspace(c, spec.root)
            spec = _joined(c, spec, workspace)
            self._task(c, spec, workspace, at)
            names = self.vault.enter(c)
            operation, first = versions.next_ids(c)
            rows, written = _rows(c, changes, operation, first, names, self.vault)
            head: list[object] = [
                operation, spec.root, spec.task, spec.actor, spec.tool, spec.kind, spec.label, at, spec.undoes,
                spec.target_task,
            ]  # fmt: skip
            previous = versions.last_digest(c)
            versions.insert_operation(
                c,
                {
                    "id": operation, "workspace": workspace, "task": spec.task, "actor": spec.actor,
                    "tool": spec.tool, "kind": spec.kind, "label": spec.label, "at": at, "state": state,
                    "undoes": spec.undoes, "target_task": spec.target_task, "token": token,
                    "folders": parts.join_folders(parts.folders_on_the_way(changes)) if token else "",
                    "previous": previous, "digest": parts.digest(previous, head, rows),
                },
            )  # fmt: skip
            versions.insert_versions(c, rows)
            if spec.target_task is not None:
                undone.insert(c, spec.target_task, operation, spec.handled)
            for change in changes:
                if change.before.kind == "file" and '"l":' in change.before.extra:
                    _note_inode(c, change)
        return operation, Written(operation, *written, {})

    @staticmethod
    def _task(c: Connection, spec: Spec, workspace: int, at: int) -> None:
        if spec.task is None:
            return
        if spec.objective is not None:
            tasks.insert(c, spec.task, workspace, spec.actor, spec.objective, at)
        tasks.touch(c, spec.task, at)

    def confirm(
        self, spec: Spec, operation: int, changes: Sequence[Change], written: Written, places: dict[str, str]
    ) -> None:
        """Commit an operation as done, with all that follows from it.

        Args:
            places: where removed files lie now, by path.
        """
        at = self.clock()
        self._empty_trash([change.path for change in changes if change.after.kind in ("file", "link")])
        with self.catalog.write(sync=False) as c:
            versions.set_state(c, operation, versions.DONE, at)
            trashed.delete_lost(c, [change.path for change in changes])
            if spec.undoes is not None:
                mark_undone(c, spec, operation)
            if spec.target_task is not None:
                tasks.set_undone(c, spec.target_task, operation)
            if spec.forget:
                forget_reads(c, [change.path for change in changes], spec, operation, at)
            for change in changes:
                place = places.get(change.path)
                if place is not None:
                    entry = trashed.Trashed(
                        written.previous[change.path], change.path, place, change.before.size, at
                    )
                    trashed.insert(c, entry)

    def _empty_trash(self, paths: Sequence[str]) -> None:
        """A file that is back lies in the trash no longer. Its row goes with the commit as done, hence after it: a
        death in between is brought to its end with the operation."""
        with self.catalog.read() as c:
            entries = [entry for path in paths for entry in trashed.of_path(c, path)]
        for entry in entries:
            drop_place(entry.place)

    def forget_lost_trash(self, paths: Sequence[str]) -> None:
        """Forget entries of the trash whose file is gone from there."""
        with self.catalog.write(sync=False) as c:
            trashed.delete_lost(c, paths)

    # ---- failing
    def _fail(self, operation: int, writer: DiskWriter, error: BaseException) -> None:
        """Take back what was written, and say in the log what became of the operation."""
        try:
            kept = writer.take_back()
        except OSError as second:
            self._refuse(writer.token)
            raise AgenvoyError(
                "disk_full" if second.errno in (errno.ENOSPC, errno.EDQUOT) else "store_unavailable",
                f"the change failed half-way ({error}) and could not be taken back yet ({second})",
                "every state is recorded; free some space, and the next call of agenvoy brings it to an end",
            ) from error
        self.vault.forget_staged()
        try:
            with self.catalog.write() as c:  # one commit: with the operation go its rows of states that were found
                versions.set_state(c, operation, versions.ABANDONED, self.clock())
                if kept:
                    self._record_found(c, operation, kept)
                if isinstance(error, replace.Raced) or kept:
                    self.record_outside(operation, [change for _, change in writer.changes])
        except AgenvoyError:
            self._refuse(writer.token)  # the failure that led here is the one to tell

    def _record_found(self, c: Connection, operation: int, kept: Sequence[Change]) -> None:
        """Record as `external` what an operation found and replaced, where that cannot be put back on disk."""
        found = []
        for change in kept:
            newest = versions.newest(c, change.path)
            if change.before.kind != "absent" and not (newest and newest.state.same(change.before)):
                found.append(Change(change.path, newest.state if newest else ABSENT, change.before, "external"))
        op = versions.operation(c, operation)
        root = tasks.root_of(c, op.workspace) if op is not None else None
        if found and root is not None:
            self._prepare(Spec(root, "", "", "external", f"Outside({len(found)} paths)"), found, "")

    def _refuse(self, token: str) -> None:
        """Note that an operation failed where history.db cannot take it: an empty file needs no room. Recovery must not
        carry out what its caller was told had failed."""
        os.close(os.open(self._refusal(token), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))

    def _refusal(self, token: str) -> str:
        return os.path.join(self.catalog.store, "refused", token)

    def refused(self, token: str) -> bool:
        """Whether an operation failed, and history.db does not know it yet."""
        return bool(token) and os.path.exists(self._refusal(token))

    def forget_refusal(self, token: str) -> None:
        """History.db knows it now."""
        if self.refused(token):
            os.unlink(self._refusal(token))

    def record_outside(self, operation: int, changes: Sequence[Change]) -> list[str]:
        """Record as `external` what others left on these paths while an operation was about to change them.

        Gives the paths for which a row was written.
        """
        with self.catalog.read() as c:
            op = versions.operation(c, operation)
            root = tasks.root_of(c, op.workspace) if op is not None else None
        found = []
        for change in changes:
            seen = self.look(change.path)
            with self.catalog.read() as c:
                newest = versions.newest(c, change.path)
            if not seen.state.same(newest.state if newest else change.before):
                found.append(Change(change.path, change.before, seen.state, "external", data=seen.data))
        if found and root is not None:
            self.record_only(Spec(root, "", "", "external", f"Outside({len(found)} paths)"), found)
        return [change.path for change in found]

    def note(self, c: Connection, spec: Spec) -> int:
        """Add an operation without rows (inside a write transaction): something was taken away; gives its id."""
        at, workspace = self.clock(), tasks.ensure_workspace(c, spec.root)
        operation, _ = versions.next_ids(c)
        head: list[object] = [
            operation, spec.root, spec.task, spec.actor, spec.tool, spec.kind, spec.label, at, spec.undoes,
            spec.target_task,
        ]  # fmt: skip
        previous = versions.last_digest(c)
        row: dict[str, object] = {
            "id": operation, "workspace": workspace, "task": spec.task, "actor": spec.actor, "tool": spec.tool,
            "kind": spec.kind, "label": spec.label, "at": at, "state": versions.DONE, "done_at": at, "token": "",
            "folders": "", "previous": previous, "digest": parts.digest(previous, head, []),
        }  # fmt: skip
        return versions.insert_operation(c, row)

    def record_only(self, spec: Spec, changes: Sequence[Change], *, interrupted: int | None = None) -> Written:
        """Write rows about what is on disk already; `after` is there now, and its bytes are taken from there.

        Args:
            interrupted: an operation that is closed as interrupted in the same commit.
        """
        self._stage_before([Change(c.path, c.after, c.after, c.action, data=c.data) for c in changes])
        return self._prepare(spec, changes, "", interrupted)[1]


def inode_keys(paths: Sequence[str]) -> set[bytes]:
    """The lock keys of inodes that these paths share with other names."""
    keys = set()
    for path in paths:
        try:
            found = os.lstat(path)
        except (OSError, ValueError):  # absent, or no path at all: it has no inode to share
            continue
        if found.st_nlink > 1 and (found.st_mode & 0o170000) == 0o100000:
            keys.add(inode_key(found.st_dev, found.st_ino))
    return keys


def _joined(c: Connection, spec: Spec, workspace: int) -> Spec:
    """A task that would begin by itself is not begun where another process of the actor has just begun one."""
    if spec.objective is None:
        return spec
    running = tasks.running(c, workspace, spec.actor, spec.idle_since)
    return with_fields(spec, task=running[0].id, objective=None) if running else spec


def _note_inode(c: Connection, change: Change) -> None:
    import json

    device, inode = json.loads(change.before.extra)["l"]
    trashed.note_inode(c, device, inode, change.path)


def _rows(
    c: Connection,
    changes: Sequence[Change],
    operation: int,
    first: int,
    names: dict[str, str],
    vault: Vault,
) -> tuple[list[tuple[object, ...]], tuple[dict[str, int], dict[str, int]]]:
    """Rows of an operation: where the state before is not the newest row it comes first, then every new state."""
    rows: list[tuple[object, ...]] = []
    new: dict[str, int] = {}
    previous: dict[str, int] = {}

    def add(change: Change, state: State, action: str, moved: str | None) -> int:
        number = first + len(rows)
        name = names.get(state.hash, state.hash)
        proof = vault.proof(c, name)
        raw = None if moved is None else os.fsencode(moved)
        rows.append(
            (number, os.fsencode(change.path), operation, action, state.kind, state.mode, state.size, name,
             state.extra, raw, proof)
        )  # fmt: skip
        return number

    for change in changes:
        newest = versions.newest(c, change.path)
        if newest is not None and newest.state.same(change.before):
            previous[change.path] = newest.id
        elif change.action != "observed" and (change.action != "external" or newest is None):
            action = "observed" if newest is None else "external"
            previous[change.path] = add(change, change.before, action, None)
    for change in changes:
        new[change.path] = add(change, change.after, change.action, change.moved)
    return rows, (new, previous)
