"""Changing one name in one folder: stage beside it, then exchange, and look at what was displaced.

    stage    the new content under a temporary name in the same folder, dressed and synced
    commit   the name gets it, atomically; a displaced file that is not `before` is put back and `Raced` raised
    displaced content then lies under the temporary name until the caller disposes of it

A file with several names, or in a folder where nothing can be made, is written in place instead: all its names
keep sharing one inode, readers may see the writing, and the caller's journal (both states are recorded before)
brings a torn write back.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from agenvoy.disk import states
from agenvoy.disk.exchange import Unsupported, exchange, rename_new
from agenvoy.disk.jail import open_folder
from agenvoy.types import State

_MOST_SAVES = 100  # of somebody else within one replacement
KEEP = 1024 * 1024  # contents up to this size are compared in memory, larger ones by streaming


class Raced(Exception):
    """Somebody else changed the path in the last instant.

    Args:
        seen: what is there now.
    """

    def __init__(self, seen: states.Seen) -> None:
        super().__init__("the path changed under the hands of the writer")
        self.seen = seen


@dataclass(slots=True)
class Step:
    """One name to be changed.

    Args:
        fd: descriptor of its folder.
        name: the name.
        temp: the temporary name for staging and for what is displaced.
        before, after: the states.
        in_place: whether the file is written in place; found out by `stage`.
        displaced: whether `temp` holds what `commit` displaced.
    """

    fd: int
    name: str
    temp: str
    before: State
    after: State
    in_place: bool = False
    displaced: bool = field(default=False)

    @property
    def only_dress(self) -> bool:
        """Whether bytes stay and only permission bits change."""
        return self.before.kind == self.after.kind and self.before.hash == self.after.hash


def stage(step: Step, blocks: Iterable[bytes], sync: Callable[[int], None] | None = None) -> None:
    """Write the new content beside the old, dressed and synced; nothing to do for folders, removals and new modes.

    Args:
        sync: takes the written file's descriptor over, to sync and close it later; None syncs it here.

    Raises:
        OSError: the system refused; nothing stays behind.
    """
    if step.after.kind not in ("file", "link") or (step.only_dress and not _joined(step)):
        return
    if step.after.kind == "link":
        target = b"".join(blocks)
        os.symlink(os.fsdecode(target), step.temp, dir_fd=step.fd)
        states.dress_link(step.fd, step.temp, step.after.extra)
        return
    if step.before.kind == "file" and _shared(step):
        step.in_place = True
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(step.temp, flags, 0o600, dir_fd=step.fd)
    except PermissionError:
        if step.before.kind != "file" or not os.access(step.name, os.W_OK, dir_fd=step.fd, follow_symlinks=False):
            raise
        step.in_place = True
        return
    try:
        for block in blocks:
            write_all(fd, block)
        states.dress(fd, step.after.mode, step.after.extra)
        if sync is None:
            os.fsync(fd)
    except BaseException as error:
        os.close(fd)
        if isinstance(error, Exception):
            os.unlink(step.temp, dir_fd=step.fd)
        raise
    if sync is None:
        os.close(fd)
    else:
        sync(fd)


def _shared(step: Step) -> bool:
    """Whether the file has other names, and the new state is one of that very inode.

    Otherwise the name was joined to somebody else's file since: writing in place would change that one.
    """
    try:
        found = os.stat(step.name, dir_fd=step.fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return found.st_nlink > 1 and states.shared_inode(step.after.extra) == (found.st_dev, found.st_ino)


def _joined(step: Step) -> bool:
    """Whether the name was joined to a file that the new state is none of: its permissions must not change with it."""
    if step.after.kind != "file":
        return False
    try:
        found = os.stat(step.name, dir_fd=step.fd, follow_symlinks=False)
    except FileNotFoundError:  # `commit` will find out
        return False
    return found.st_nlink > 1 and states.shared_inode(step.after.extra) != (found.st_dev, found.st_ino)


def write_all(fd: int, block: bytes) -> None:
    """Write a block whole; `os.write` may take less."""
    view = memoryview(block)
    while view:
        view = view[os.write(fd, view) :]


def commit(step: Step, blocks: Iterable[bytes] = ()) -> None:
    """Give the name its new state.

    Args:
        blocks: the new content once more, for writing in place.

    Raises:
        Raced: the path was not `before` (any more); it is as somebody else left it.
        OSError: the system refused; the path is as before.
    """
    before, after = step.before.kind, step.after.kind
    if step.only_dress and before in ("file", "dir") and not is_there(step.temp, step.fd):
        _redress(step)
    elif step.in_place:
        _write_in_place(step, blocks)
    elif before == "absent":
        _appear(step)
    elif after in ("absent", "dir") and before in ("file", "link"):
        _take_out(step)
        if after == "dir":
            _make_folder(step)
    elif before == "dir":
        _drop_folder(step)
        if after != "absent":
            _appear(step)
    else:
        _swap(step)


def is_there(name: str, fd: int) -> bool:
    """Whether a name is in an open folder."""
    try:
        os.stat(name, dir_fd=fd, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _look(step: Step, name: str) -> states.Seen:
    return states.look(step.fd, name, keep=KEEP)


def _redress(step: Step) -> None:
    seen = _look(step, step.name)
    if _done_by_other_name(step, seen):
        return
    if not seen.state.same(step.before):
        raise Raced(seen)
    flags = (os.O_DIRECTORY if step.before.kind == "dir" else 0) | states.READ_FLAGS
    fd = os.open(step.name, flags, dir_fd=step.fd)
    try:
        if step.before.kind == "dir":
            os.fchmod(fd, step.after.mode)
        else:
            states.dress(fd, step.after.mode, step.after.extra)
        os.fsync(fd)
    finally:
        os.close(fd)


def _done_by_other_name(step: Step, seen: states.Seen) -> bool:
    """Whether a file that has several names has its new state already, since another name of it got it."""
    return seen.links > 1 and seen.state.same(step.after)


def _write_in_place(step: Step, blocks: Iterable[bytes]) -> None:
    fd = os.open(step.name, (states.READ_FLAGS & ~os.O_RDONLY) | os.O_RDWR, dir_fd=step.fd)
    try:
        seen = states.look_open(fd, keep=KEEP)
        if _done_by_other_name(step, seen):
            return
        if not seen.state.same(step.before):
            raise Raced(seen)
        os.lseek(fd, 0, os.SEEK_SET)
        for block in blocks:
            write_all(fd, block)
        os.ftruncate(fd, step.after.size)
        if step.after.mode != step.before.mode or not step.after.alike(step.before):
            states.dress(fd, step.after.mode, step.after.extra)
        os.fsync(fd)
    finally:
        os.close(fd)


def _appear(step: Step) -> None:
    if step.after.kind == "dir":
        _make_folder(step)
        return
    try:
        rename_new(step.temp, step.name, step.fd, step.fd)
    except FileExistsError:
        raise Raced(_look(step, step.name)) from None


def _make_folder(step: Step) -> None:
    try:
        os.mkdir(step.name, 0o700, dir_fd=step.fd)
    except FileExistsError:
        raise Raced(_look(step, step.name)) from None
    fd = os.open(step.name, states.READ_FLAGS | os.O_DIRECTORY, dir_fd=step.fd)
    try:
        os.fchmod(fd, step.after.mode)
    finally:
        os.close(fd)


def _drop_folder(step: Step) -> None:
    try:
        os.rmdir(step.name, dir_fd=step.fd)
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR):
            raise Raced(_look(step, step.name)) from None
        raise


def _take_out(step: Step) -> None:
    """Move the name to the temporary one, look, and move it back if it is not what it should be."""
    try:
        rename_new(step.name, step.temp, step.fd, step.fd)
    except FileNotFoundError:
        raise Raced(states.NOTHING) from None
    seen = _look(step, step.temp)
    if not seen.state.same(step.before):
        try:
            rename_new(step.temp, step.name, step.fd, step.fd)
        except FileExistsError:  # the name was taken again: that is the newer one, and this stays where it is
            raise Raced(_look(step, step.name)) from None
        raise Raced(seen)
    step.displaced = True


def _swap(step: Step) -> None:
    try:
        exchange(step.temp, step.name, step.fd)
    except FileNotFoundError:
        raise Raced(states.NOTHING) from None
    except Unsupported:
        seen = _look(step, step.name)
        if not seen.state.same(step.before):
            raise Raced(seen) from None
        os.rename(step.temp, step.name, src_dir_fd=step.fd, dst_dir_fd=step.fd)
        return
    seen = _look(step, step.temp)
    if not seen.state.same(step.before):
        raise Raced(give_back(step.fd, step.name, step.temp, step.after, seen))
    step.displaced = True


def give_back(fd: int, name: str, temp: str, at_name: State, in_temp: states.Seen) -> states.Seen:
    """Give a name the newest of what others have saved, however often they save meanwhile; what is there then.

    Args:
        fd: descriptor of the folder.
        name: the name.
        temp: the temporary name, which is removed.
        at_name: what the name has, if nobody saved just now.
        in_temp: a save of somebody else, which was displaced and is newer.
    """
    for _ in range(_MOST_SAVES):
        exchange(temp, name, fd)
        found = states.look(fd, temp, keep=KEEP)
        if found.state.same(at_name):
            os.unlink(temp, dir_fd=fd)
            return in_temp
        at_name, in_temp = in_temp.state, found  # it was saved again in between: that is the newer one
    return states.look(fd, name, keep=KEEP)  # what is displaced stays under its temporary name


def revert(step: Step) -> None:
    """Take a commit back whose displaced file still lies under the temporary name: no space is needed for it.

    Raises:
        Raced: somebody changed the path after the commit; it stays as it is.
    """
    if step.after.kind == "absent":
        try:
            rename_new(step.temp, step.name, step.fd, step.fd)
        except FileExistsError:
            raise Raced(_look(step, step.name)) from None
        return
    if step.after.kind == "dir":
        _drop_folder(step)
        rename_new(step.temp, step.name, step.fd, step.fd)
        return
    exchange(step.temp, step.name, step.fd)
    seen = _look(step, step.temp)
    if not seen.state.same(step.after):
        raise Raced(give_back(step.fd, step.name, step.temp, step.before, seen))
    os.unlink(step.temp, dir_fd=step.fd)


def unstage(fd: int, temp: str) -> None:
    """Remove a staged file that will not be used."""
    try:
        os.unlink(temp, dir_fd=fd)
    except FileNotFoundError:
        return


def dress_folder(path: str, state: State) -> None:
    """Give a folder, which we can read by now, its mode, owner and extended attributes."""
    with open_folder(os.path.dirname(path)) as fd:
        folder = os.open(os.path.basename(path), states.READ_FLAGS | os.O_DIRECTORY, dir_fd=fd)
    try:
        states.dress(folder, state.mode, state.extra)
    finally:
        os.close(folder)


def set_mode(path: str, mode: int) -> None:
    """Give a folder permission bits."""
    with open_folder(os.path.dirname(path)) as fd:
        os.chmod(os.path.basename(path), mode, dir_fd=fd)
