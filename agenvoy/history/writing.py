"""The disk half of an operation: folders, staging, commits, taking back, and where displaced files go."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace as with_fields
from typing import TYPE_CHECKING

from agenvoy.blobs.files import sync_folder
from agenvoy.catalog import trashed
from agenvoy.disk import replace, states
from agenvoy.disk.exchange import rename_new
from agenvoy.disk.jail import open_folder
from agenvoy.history.changes import (
    Change,
    has_names,
    inode_of,
    is_empty,
    is_real_folder,
    missing_folders,
    no_step,
    ordered,
    temp_name,
    turn,
)
from agenvoy.history.trashing import drop_place, into_trash
from agenvoy.history.vault import Vault
from agenvoy.types import State

if TYPE_CHECKING:
    from agenvoy.disk.syncing import Syncer

MANY = 8  # changes from which threads that sync are worth their start
FREELY = os.R_OK | os.W_OK | os.X_OK  # what a folder must allow for names to be changed in it, and made durable
FRESH_FOLDER = 0o700  # of a folder until everything is in it: its own mode may forbid writing


class _At:
    """The step of one change, with its folder open for the length of a `with` block; a generator costs each file."""

    __slots__ = ("_back", "_change", "_folder", "_temp")

    def __init__(self, change: Change, temp: str, back: bool) -> None:
        self._change, self._temp, self._back = change, temp, back

    def __enter__(self) -> replace.Step:
        change = self._change
        states_ = (change.after, change.before) if self._back else (change.before, change.after)
        folder, _, name = change.path.rpartition("/")
        self._folder = open_folder(folder or "/")
        return replace.Step(self._folder.__enter__(), name, self._temp, *states_)

    def __exit__(self, *exc: object) -> None:
        self._folder.__exit__()


class DiskWriter:
    """Carries the numbered changes of one prepared operation out on disk.

    Args:
        vault: where contents come from.
        token: the operation's, for temporary names.
        store: the store's folder; removed files go to `<store>/temp/<version>/<name>`.
        changes: `(number, change)`; the number is the place of its row in the operation.
        trash: per path the version that a removed file is filed under; others are just removed.
        step: called after every step that changes the disk.
    """

    def __init__(
        self,
        vault: Vault,
        token: str,
        store: str,
        changes: list[tuple[int, Change]],
        trash: dict[str, int],
        step: Callable[[str], None] = no_step,
    ) -> None:
        self.vault, self.token, self.store, self.trash, self.step = vault, token, store, trash, step
        self.changes = ordered(changes)
        self.at = ""  # the path that is being worked on
        self.done: list[tuple[int, Change]] = []
        self.places: dict[str, str] = {}
        self.made: list[str] = []
        self._linked: dict[tuple[int, int], list[str]] = {}  # where a file with several names can be found again
        self._staged: dict[int, bool] = {}  # number → written in place
        self._fresh: set[int] = set()  # numbers whose new state lies under the temporary name
        self._folders: set[str] = set()
        self.displaced: set[int] = set()  # numbers whose old state lies under the temporary name
        self._by_number = dict(changes)
        self._syncer: Syncer | None = None  # while many files are staged
        self._by_path = {c.path: (n, c) for n, c in changes}
        self._opened: dict[str, State] = {}  # folders that go, made writable for it, as they were
        self._leaving = {c.path for _, c in changes if c.before.kind == "dir" and c.after.kind != "dir"}

    # ---- forward
    def run(self) -> None:
        """Everything, in order; raises Raced or OSError with what was done listed in `done`."""
        self._open_leaving()
        self._make_parents()
        moves = {c.path for _, c in self.changes if self._moves(c)}
        self._stage_all([(n, c) for n, c in self.changes if c.path not in moves])
        for number, change in self.changes:
            if change.before.kind == "absent" and change.path in moves:
                self._move(number, change)
        for number, change in sorted(self.changes, key=self._turn):
            if change.path not in moves:
                self._commit(number, change)
        self._dress_folders()
        self.dispose_all()  # it is in the log; and before the sync, so that one commit of the disk's journal does all
        self.sync()

    def _turn(self, item: tuple[int, Change]) -> tuple[int, int]:
        """A name that leaves an inode goes before what is written to that inode, which its other names see too."""
        number, change = item
        stays = change.before.kind == change.after.kind == "file" and number not in self._fresh
        return turn(change), int(stays)

    def _open_leaving(self) -> None:
        """Folders that are to go let go what is in them, as far as they are ours."""
        for _, change in self.changes:
            if change.path in self._leaving and is_real_folder(change.path) and not os.access(change.path, FREELY):
                replace.set_mode(change.path, FRESH_FOLDER)
                self._opened[change.path] = change.before
                self.step("open")

    def _stage_all(self, changes: list[tuple[int, Change]]) -> None:
        """Stage what has a folder to be staged in; of many files, the syncs go on beside the writing."""
        if len(changes) >= MANY:
            from agenvoy.disk.syncing import Syncer

            self._syncer = Syncer()
        try:
            for number, change in changes:
                there = change.before.kind != "absent"  # then its folder was a real one when it was looked at
                if there or is_real_folder(os.path.dirname(change.path)):
                    self._stage(number, change)
        finally:
            failed = self._syncer.finish() if self._syncer is not None else []
            self._syncer = None
        for number, _ in failed:
            with self._at(number, self._by_number[number]) as step:
                replace.unstage(step.fd, step.temp)
        if failed:
            raise failed[0][1]

    def dispose_all(self) -> None:
        """Bring what commits displaced to its place: the trash, or nowhere."""
        for number, change in self.changes:
            if number in self.displaced:
                self._dispose(number, change)

    def _moves(self, change: Change) -> bool:
        """Whether both ends of a move are here, with the same content: then one rename does it."""
        other = self._by_path.get(change.moved or "", (0, None))[1]
        if other is None or other.moved != change.path:
            return False
        source, target = (other, change) if change.before.kind == "absent" else (change, other)
        plain = target.before.kind == source.after.kind == "absent" and source.before.same(target.after)
        folders = os.path.dirname(source.path), os.path.dirname(target.path)
        return plain and all(map(is_real_folder, folders)) and os.stat(folders[0]).st_dev == os.stat(folders[1]).st_dev

    def _make_parents(self) -> None:
        coming = {c.path for _, c in self.changes if c.after.kind == "dir"}
        for _, change in self.changes:
            if change.after.kind == "absent" or change.before.kind != "absent":
                continue
            for folder in missing_folders(change.path):
                if os.path.lexists(folder) or folder in coming or not is_real_folder(os.path.dirname(folder)):
                    break  # what stands in the way goes first; then this is called again
                self._make_folder(folder)
                self.made.append(folder)
            new = change.after.kind == "dir" and change.before.kind == "absent"
            if new and is_real_folder(os.path.dirname(change.path)) and not os.path.lexists(change.path):
                self._make_folder(change.path, FRESH_FOLDER)

    def _make_folder(self, path: str, mode: int = 0o777) -> None:
        with open_folder(os.path.dirname(path)) as fd:
            os.mkdir(os.path.basename(path), mode, dir_fd=fd)
        self._folders.add(os.path.dirname(path))
        self.step("folder")

    def _at(self, number: int, change: Change, *, back: bool = False) -> _At:
        self.at = change.path
        return _At(change, temp_name(self.token, number, back=back), back)

    def _stage(self, number: int, change: Change, *, back: bool = False) -> None:
        if number in self._staged and not back:
            return
        if not back and self._link(number, change):
            return
        with self._at(number, change, back=back) as step:
            content = step.after.hash if step.after.kind in ("file", "link") else ""
            replace.stage(step, self.vault.blocks(content) if content else (), self._later(number))
            self._staged[number] = step.in_place
            if replace.is_there(step.temp, step.fd):
                self._fresh.add(number)
            self.step("stage")

    def _later(self, number: int) -> Callable[[int], None] | None:
        syncer = self._syncer
        return None if syncer is None else lambda fd: syncer.take(fd, number)

    def _link(self, number: int, change: Change) -> bool:
        """A file that had several names and comes back becomes one of them again, where another one is there."""
        inode = inode_of(change.after) if change.before.kind in ("absent", "file") else None
        if inode is None:
            return False
        names = list(self._linked.get(inode, ()))
        if change.before.kind == "absent":
            names += self._other_names(inode, change)
        elif change.before.hash == change.after.hash or has_names(change.path):
            names = []  # it stays the file that it is
        for name in names:
            if self._link_to(name, number, change):
                self._staged[number] = False
                self._fresh.add(number)
                self.step("stage")
                return True
        own = os.path.join(os.path.dirname(change.path), temp_name(self.token, number))
        self._linked.setdefault(inode, []).extend((own, change.path))
        return False

    def _link_to(self, name: str, number: int, change: Change) -> bool:
        with self._at(number, change) as step:
            try:
                os.link(name, step.temp, dst_dir_fd=step.fd, follow_symlinks=False)
            except OSError:  # gone, or on another file system: the bytes are written instead
                return False
            if states.look(step.fd, step.temp, keep=replace.KEEP).state.hash == change.after.hash:
                return True
            os.unlink(step.temp, dir_fd=step.fd)
            return False

    def _other_names(self, inode: tuple[int, int], change: Change) -> list[str]:
        with self.vault.catalog.read() as c:
            names = trashed.names_of(c, *inode)
        found = []
        for name in names:
            real = is_real_folder(os.path.dirname(name))  # not one name more of it through a link to its folder
            if real and name != change.path and os.path.isfile(name) and not os.path.islink(name):
                status = os.stat(name)
                with open_folder(os.path.dirname(name)) as fd:
                    same = states.look(fd, os.path.basename(name), keep=replace.KEEP).state.same(change.after)
                if (status.st_dev, status.st_ino) == inode and same:
                    found.append(name)
        return found

    def _commit(self, number: int, change: Change) -> None:
        if change.after.kind == "dir" and change.before.kind == "absent":
            if not os.path.lexists(change.path):
                self._make_folder(change.path, FRESH_FOLDER)
            self.done.append((number, change))  # its mode comes last
            return
        if number not in self._staged:
            self._make_parents()
            self._stage(number, change)
        self._put(number, change)
        self.step("commit")
        if number in self.displaced and os.path.dirname(change.path) in self._leaving:
            self._dispose(number, change)  # its folder must be empty when its turn comes

    def _put(self, number: int, change: Change, *, back: bool = False) -> None:
        with self._at(number, change, back=back) as step:
            step.in_place = self._staged.get(number, False)
            self._replace(number, step)
            self._folders.add(os.path.dirname(change.path))
            if back:
                if step.displaced:
                    os.unlink(step.temp, dir_fd=step.fd)
                return
            self.done.append((number, change))
            if step.displaced:
                self.displaced.add(number)

    def _replace(self, number: int, step: replace.Step) -> None:
        try:
            replace.commit(step, self.vault.blocks(step.after.hash) if step.in_place else ())
        except OSError as error:
            if error.errno != errno.EBUSY or not step.before.kind == step.after.kind == "file":
                raise
            # Something is mounted over the name, as containers mount single files: it can be written in place only.
            replace.unstage(step.fd, step.temp)
            self._fresh.discard(number)
            self._staged[number] = step.in_place = True
            replace.commit(step, self.vault.blocks(step.after.hash))

    def _move(self, number: int, change: Change) -> None:
        """One rename for both ends; `change` is the target's."""
        source = self._by_path[change.moved or ""]
        old, new = os.path.dirname(source[1].path), os.path.dirname(change.path)
        with open_folder(old) as old_fd, open_folder(new) as new_fd:
            names = os.path.basename(source[1].path), os.path.basename(change.path)
            try:
                rename_new(*names, old_fd, new_fd)
            except FileExistsError:
                raise replace.Raced(states.look(new_fd, names[1], keep=replace.KEEP)) from None
            seen = states.look(new_fd, names[1], keep=replace.KEEP)
            if not seen.state.same(change.after):
                rename_new(names[1], names[0], new_fd, old_fd)
                raise replace.Raced(seen)
        self.done += [source, (number, change)]
        self._folders |= {old, new}
        self.step("commit")

    def _trashed(self, version: int, step: replace.Step, path: str) -> str:
        """Where a removed file lies in the trash; empty where there is no room for it: the history has its bytes."""
        try:
            return into_trash(self.store, version, step.fd, step.temp, path)
        except OSError:
            drop_place(os.path.join(self.store, "temp", str(version), os.path.basename(path)))
            os.unlink(step.temp, dir_fd=step.fd)
            return ""

    def _dispose(self, number: int, change: Change) -> None:
        """What a commit displaced is in the log already; a removed file goes to the trash besides."""
        version = self.trash.get(change.path)
        with self._at(number, change) as step:
            if version is None:
                os.unlink(step.temp, dir_fd=step.fd)
            else:
                place = self._trashed(version, step, change.path)
                if place:
                    self.places[change.path] = place
        self.displaced.discard(number)
        self.step("trash")

    def _dress_folders(self) -> None:
        for _, change in self.changes:
            if change.after.kind == "dir" and change.before.kind == "absent":
                replace.dress_folder(change.path, change.after)
                self.step("dress")

    def sync(self) -> None:
        """Make the names durable: every folder that was changed, once."""
        for folder in sorted(self._folders):
            if os.path.isdir(folder):
                sync_folder(folder)
        self.step("sync")

    # ---- back
    def take_back(self) -> list[Change]:
        """Undo what `run` did; gives the changes whose path somebody changed meanwhile, which stay as they are."""
        kept = []
        for number, change in reversed(self.done):
            try:
                self._take_back_one(number, change)
            except replace.Raced:
                kept.append(change)
        for path, state in self._opened.items():
            if is_real_folder(path):
                replace.dress_folder(path, state)
        made = [c.path for _, c in self.changes if c.after.kind == "dir" and c.before.kind == "absent"]
        self.drop_folders([*self.made, *made])
        for number, change in self.changes:
            for back in (False, True):
                self.clear_temp(number, change, back=back)
        for place in self.places.values():
            drop_place(place)
        self.sync()
        return kept

    def _take_back_one(self, number: int, change: Change) -> None:
        if change.after.kind == "dir" and change.before.kind == "absent":
            return  # `drop_folders` does it, where nobody has put anything into it
        if number in self.displaced:
            with self._at(number, change) as step:
                replace.revert(step)
            self.displaced.discard(number)
            return
        if change.before.kind == "dir":
            self._opened[change.path] = change.before  # last, since a read-only one takes no new names
            change = with_fields(change, before=with_fields(change.before, mode=FRESH_FOLDER))
        self._staged.pop(number, None)
        if change.before.kind != "absent":
            for folder in missing_folders(change.path):
                self._make_folder(folder)  # it was taken back as one that the undone task had made
        self._stage(number, change, back=True)
        self._put(number, change, back=True)

    def drop_folders(self, folders: list[str]) -> None:
        """Remove folders that this operation made, where nobody has put anything into them."""
        for folder in sorted(folders, key=len, reverse=True):
            if is_real_folder(folder) and is_empty(folder):
                os.rmdir(folder)
                self._folders.add(os.path.dirname(folder))

    def clear_temp(self, number: int, change: Change, *, back: bool = False) -> None:
        """Remove one temporary file; a displaced save of somebody else, which no log has, stays."""
        folder = os.path.dirname(change.path)
        if is_real_folder(folder):
            with open_folder(folder) as fd:
                temp = temp_name(self.token, number, back=back)
                state = states.look(fd, temp, keep=replace.KEEP).state
                if state.same(change.before) or state.same(change.after):
                    replace.unstage(fd, temp)
