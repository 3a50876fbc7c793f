"""Where removed files go: `<store>/temp/<version>/<name>`, filed under the version that says that they are gone."""

from __future__ import annotations

import os
import stat

from agenvoy.disk import replace, states


def place_in_trash(store: str, version: int, path: str) -> str:
    """Where a removed file lies: `<store>/temp/<version>/<name>`."""
    return os.path.join(store, "temp", str(version), os.path.basename(path))


def into_trash(store: str, version: int, fd: int, temp: str, path: str) -> str:
    """Move a removed file or link into the trash; gives its place there.

    A file with other names is copied (they would go on changing it), and so is one on another file system.
    """
    place = place_in_trash(store, version, path)
    folder = os.path.dirname(place)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    found = os.stat(temp, dir_fd=fd, follow_symlinks=False)
    same_device = found.st_dev == os.stat(folder).st_dev
    if stat.S_ISLNK(found.st_mode):
        if os.path.lexists(place):
            os.unlink(place)  # by a process that died before it removed the other name
        os.symlink(os.readlink(temp, dir_fd=fd), place)
        os.unlink(temp, dir_fd=fd)
    elif same_device and found.st_nlink == 1:
        os.rename(temp, place, src_dir_fd=fd)
        os.chmod(place, 0o600)
    else:
        _copy(fd, temp, place)
        os.unlink(temp, dir_fd=fd)
    return place


def _copy(fd: int, temp: str, place: str) -> None:
    source = os.open(temp, states.READ_FLAGS, dir_fd=fd)
    try:
        target = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            while block := os.read(source, states.BLOCK):
                replace.write_all(target, block)
        finally:
            os.close(target)
    finally:
        os.close(source)


def drop_place(place: str) -> None:
    """Remove a file or link from the trash, and the folder that was made for it."""
    if os.path.lexists(place):
        os.unlink(place)
    folder = os.path.dirname(place)
    if os.path.isdir(folder) and not os.listdir(folder):
        os.rmdir(folder)
