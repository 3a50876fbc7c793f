"""What is at a path, exactly: absent, a file with bytes and mode, a link with its target, a folder.

Files are opened without following links and without waiting (a FIFO would block), and only after `lstat` has said
that they are regular: devices, FIFOs and sockets are never opened.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agenvoy.blobs.hashing import hash_bytes, new_hasher
from agenvoy.errors import AgenvoyError
from agenvoy.types import ABSENT, State

BLOCK = 1024 * 1024
READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_UNRECORDED = ("security.",)  # set by the system's own policy (SELinux, capabilities), not by the user


@dataclass(frozen=True, slots=True)
class Seen:
    """A state and what else was learnt by looking.

    Args:
        state: the state.
        data: the bytes (of a link: its target), where they are at most `keep` long; else None.
        stat: lstat's answer; None when absent.
    """

    state: State
    data: bytes | None
    stat: os.stat_result | None

    @property
    def links(self) -> int:
        """How many names the file has (0 when absent)."""
        return self.stat.st_nlink if self.stat is not None else 0


NOTHING = Seen(ABSENT, None, None)


def look(
    fd: int, name: str, *, keep: int, shown: str = "", on_block: Callable[[bytes], None] | None = None
) -> Seen:
    """The state of a name in an open folder.

    Args:
        fd: descriptor of the folder.
        keep: longest content, in bytes, that is handed back in memory; longer ones are hashed by streaming.
        shown: how errors spell the path.
        on_block: is given the bytes of a longer content, block by block.

    Raises:
        AgenvoyError: not_a_file for devices, FIFOs and sockets. OSError: what the system says.
    """
    try:
        found = os.stat(name, dir_fd=fd, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return NOTHING
    if stat.S_ISLNK(found.st_mode):
        target = os.fsencode(os.readlink(name, dir_fd=fd))
        return Seen(State("link", 0, len(target), hash_bytes(target), _facts({}, found)), target, found)
    if stat.S_ISDIR(found.st_mode):
        extra = _facts(_attributes_of_folder(fd, name), found)
        return Seen(State("dir", stat.S_IMODE(found.st_mode), extra=extra), None, found)
    if not stat.S_ISREG(found.st_mode):
        raise AgenvoyError("not_a_file", f"{shown or name} is a device, FIFO or socket", "name a regular file")
    file = os.open(name, READ_FLAGS, dir_fd=fd)
    try:
        return look_open(file, keep=keep, on_block=on_block)
    finally:
        os.close(file)


def look_open(file: int, *, keep: int, on_block: Callable[[bytes], None] | None = None) -> Seen:
    """The state of an open regular file; see `look`."""
    found = os.fstat(file)
    if not stat.S_ISREG(found.st_mode):
        raise AgenvoyError("not_a_file", "the file was replaced by something that is no regular file", "look again")
    extra = describe_extra(file, found)
    mode = stat.S_IMODE(found.st_mode)
    if found.st_size <= keep:
        data = _read_small(file, keep)
        if data is not None:
            return Seen(State("file", mode, len(data), hash_bytes(data), extra), data, found)
        os.lseek(file, 0, os.SEEK_SET)
    hasher, size = new_hasher(), 0
    while block := os.read(file, BLOCK):
        hasher.update(block)
        size += len(block)
        if on_block is not None:
            on_block(block)
    return Seen(State("file", mode, size, hasher.hexdigest(), extra), None, found)


def _read_small(file: int, keep: int) -> bytes | None:
    """All bytes of a file, or None when it has grown beyond `keep`."""
    parts, total = [], 0
    while block := os.read(file, min(BLOCK, keep + 1 - total) or 1):
        parts.append(block)
        total += len(block)
        if total > keep:
            return None
    return b"".join(parts)


def describe_extra(file: int, found: os.stat_result) -> str:
    """Extended attributes, a foreign owner and the identity of a file with several names, as JSON; mostly empty."""
    return _facts(read_attributes(file), found)


def _attributes_of_folder(fd: int, name: str) -> dict[str, bytes]:
    try:
        folder = os.open(name, READ_FLAGS | os.O_DIRECTORY, dir_fd=fd)
    except OSError:  # closed to us, or gone just now
        return {}
    try:
        return read_attributes(folder)
    finally:
        os.close(folder)


def _facts(attributes: Mapping[str, bytes], found: os.stat_result) -> str:
    facts: dict[str, object] = {}
    if attributes:
        facts["x"] = {name: base64.b64encode(value).decode() for name, value in sorted(attributes.items())}
    if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
        facts["o"] = [found.st_uid, found.st_gid]
    if found.st_nlink > 1 and stat.S_ISREG(found.st_mode):
        facts["l"] = [found.st_dev, found.st_ino]
    return json.dumps(facts, separators=(",", ":"), sort_keys=True) if facts else ""


def read_attributes(file: int) -> dict[str, bytes]:
    """Extended attributes of an open file, but for those that the system's policy sets; empty where unsupported."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        names = [n for n in os.listxattr(file) if not n.startswith(_UNRECORDED)]
        return {name: os.getxattr(file, name) for name in names}
    except OSError:  # the file system has none, or one vanished in between: nothing to record
        return {}


def dress(file: int, mode: int, extra: str) -> None:
    """Give an open file or folder mode, owner and extended attributes of a state, as far as the system allows."""
    facts = json.loads(extra) if extra else {}
    owner = facts.get("o", [os.geteuid(), os.getegid()])
    found = os.fstat(file)
    if [found.st_uid, found.st_gid] != owner:
        try:
            os.fchown(file, *owner)
        except PermissionError:
            # Only root can give files away: the content matters more than who owns the copy. Set-id bits of another
            # owner's program must not pass to ours.
            mode &= ~0o6000
    wanted = facts.get("x", {})
    for name in read_attributes(file):
        if name not in wanted:
            with contextlib.suppress(OSError):  # as below
                os.removexattr(file, name)
    for name, value in wanted.items():
        try:
            os.setxattr(file, name, base64.b64decode(value))
        except OSError:  # refused by this file system or for this user: an attribute is no reason to lose the bytes
            continue
    os.fchmod(file, mode)


def dress_link(fd: int, name: str, extra: str) -> None:
    """Give a symbolic link the owner of a recorded state, as far as the system allows."""
    owner = json.loads(extra).get("o") if extra else None
    if owner is not None:
        with contextlib.suppress(PermissionError):  # only root can give it away
            os.chown(name, *owner, dir_fd=fd, follow_symlinks=False)


def shared_inode(extra: str) -> tuple[int, int] | None:
    """Device and inode of a file that had several names when it was looked at, out of a state's `extra`."""
    if '"l":' not in extra:
        return None
    device, inode = json.loads(extra)["l"]
    return int(device), int(inode)
