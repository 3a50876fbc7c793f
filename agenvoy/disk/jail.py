"""The path jail: which file a caller's spelling means, and whether tools may touch it.

A path is resolved as the kernel does (component by component, links followed, `..` after links), then compared with
the allowed roots. The answer holds no link, so it is opened later through directory descriptors with `O_NOFOLLOW` at
each step (`open_folder`): a link swapped in between check and use makes the opening fail instead of leading outside.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass

from agenvoy.config import Settings
from agenvoy.disk.names import spell, unspell
from agenvoy.disk.openat import FOLDER_FLAGS, open_below
from agenvoy.errors import AgenvoyError, from_os_error

MAX_LINKS = 40  # as Linux (MAXSYMLINKS)
MAX_NAME = 255  # bytes, NAME_MAX of every common file system
MAX_PATH = 4096  # bytes, PATH_MAX

_ANYWHERE = -100  # AT_FDCWD (fcntl.h); the paths opened with it are absolute


@dataclass(frozen=True, slots=True)
class Place:
    """A path that was judged.

    Args:
        asked: the caller's spelling.
        real: absolute path without links (but for the last component where it was not followed).
        shown: how answers spell it: relative to the workspace root where inside, else absolute.
        root: the allowed root that holds it.
    """

    asked: str
    real: str
    shown: str
    root: str

    @property
    def folder(self) -> str:
        """The real parent folder."""
        return os.path.dirname(self.real)

    @property
    def name(self) -> str:
        """The last component."""
        return os.path.basename(self.real)


def inside(path: str, folder: str) -> bool:
    """Whether `path` is `folder` or below it (both real)."""
    return path == folder or path.startswith(folder if folder.endswith("/") else folder + "/")


class Jail:
    """Resolves and judges paths for one workspace."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.store = os.path.realpath(settings.store)
        self.home = os.path.realpath(settings.home)

    def shown(self, real: str) -> str:
        """How answers spell a real path."""
        root = self.settings.root
        if real == root:
            return "."
        below = root if root.endswith("/") else root + "/"
        return spell(real[len(below) :] if real.startswith(below) else real)

    def resolve(self, asked: str, *, follow: bool = True, write: bool = False) -> Place:
        """Judge a caller's path.

        Args:
            asked: as the caller spelled it, relative to the workspace root or absolute.
            follow: whether a final link is followed (read, edit) or meant itself (remove, move).
            write: whether it is to be changed: `.git`, agenvoy's own folders are refused then.

        Raises:
            AgenvoyError: invalid_arguments, outside_workspace, symlink_loop, permission_denied, not_found.
        """
        path = self._spelling(asked)
        real = self._real(path, asked, follow)
        root = next((r for r in self.settings.roots if inside(real, r)), None)
        if root is None:
            raise AgenvoyError(
                "outside_workspace",
                f"{asked} is outside the workspace",
                f"use a path below {spell(self.settings.root)}, or start agenvoy with --allow FOLDER",
            )
        place = Place(asked, real, self.shown(real), root)
        self._forbid(place, write)
        return place

    def _spelling(self, asked: str) -> str:
        if not asked.strip():
            raise AgenvoyError("invalid_arguments", "the path is blank", "name a file, relative to the workspace root")
        try:
            path = unspell(asked)
            raw = os.fsencode(path)
        except (ValueError, UnicodeError):
            raise AgenvoyError(
                "invalid_arguments", "the path holds a NUL or a character that no file name can hold", "check the name"
            ) from None
        if len(raw) > MAX_PATH or any(len(part) > MAX_NAME for part in raw.split(b"/")):
            raise AgenvoyError(
                "invalid_arguments",
                f"the name is too long: at most {MAX_NAME} bytes a name and {MAX_PATH} bytes a path",
                "use a shorter name",
            )
        if path == "~" or path.startswith("~/"):
            path = self.settings.user_home + path[1:]
        return os.path.join(self.settings.root, path)

    def _real(self, path: str, asked: str, follow: bool) -> str:
        """`realpath` as the kernel walks it; missing components stand for themselves."""
        trailing = path.endswith("/") or path.endswith("/.")
        todo = [p for p in reversed(path.split("/")) if p not in ("", ".")]
        here, links = "/", 0
        while todo:
            part = todo.pop()
            if part == "..":
                here = os.path.dirname(here)
                continue
            step = os.path.join(here, part)
            last = not todo and not trailing
            try:
                mode = os.lstat(step).st_mode
                if stat.S_ISLNK(mode) and (follow or not last):
                    links += 1
                    if links > MAX_LINKS:
                        raise AgenvoyError(
                            "symlink_loop", f"{asked} is a loop of symbolic links", "name the file itself"
                        )
                    target = os.readlink(step)
                    if target.startswith("/"):
                        here = "/"
                    todo.extend(p for p in reversed(target.split("/")) if p not in ("", "."))
                    continue
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.EACCES):
                    raise from_os_error(error, asked) from error
                if ".." in todo:
                    self._missing(step, asked)
            here = step
        return here

    def _missing(self, step: str, asked: str) -> None:
        """A `..` after a component that is missing: the kernel refuses it, and so do we (outside: as outside)."""
        if any(inside(step, r) for r in self.settings.roots):
            raise AgenvoyError("not_found", f"{asked} goes through a folder that does not exist", "list the folder")
        raise AgenvoyError("outside_workspace", f"{asked} is outside the workspace", "use a path below the root")

    def _forbid(self, place: Place, write: bool) -> None:
        real = place.real
        if inside(real, self.store):
            raise AgenvoyError("permission_denied", f"{place.asked} is agenvoy's own store", "use file_history")
        if not write:
            return
        below = real[len(place.root) :].split("/")
        if any(part.casefold() == ".git" for part in below) or ".git" in place.root.casefold().split("/"):
            raise AgenvoyError("permission_denied", f"{place.asked} belongs to git", "use git itself to change it")
        if inside(real, self.home) or inside(real, os.path.join(self.settings.root, ".agenvoy")):
            raise AgenvoyError("permission_denied", f"{place.asked} holds agenvoy's own files", "edit it by hand")

    def writable(self, real: str) -> bool:
        """Whether tools may change a real path at all (plans are checked with this)."""
        try:
            root = next((r for r in self.settings.roots if inside(real, r)), None)
            if root is None:
                return False
            self._forbid(Place(real, real, self.shown(real), root), write=True)
        except AgenvoyError:
            return False
        return True


class open_folder:  # used as a function: `with open_folder(real) as fd`; a generator costs each edit
    """A descriptor of a real folder, reached from `root` without following any link (for `*at` calls only).

    Raises:
        OSError: ELOOP or ENOTDIR where a component has become a link or file since it was resolved; ENOENT.
    """

    __slots__ = ("_fd", "_real", "_root")

    def __init__(self, real: str, root: str = "/") -> None:
        if not inside(real, root):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES), real)
        self._real, self._root, self._fd = real, root, -1

    def __enter__(self) -> int:
        if self._root == "/":
            self._fd = open_below(_ANYWHERE, self._real)
            return self._fd
        top = os.open(self._root, FOLDER_FLAGS & ~os.O_NOFOLLOW)
        try:
            self._fd = open_below(top, os.path.relpath(self._real, self._root))
        finally:
            os.close(top)
        return self._fd

    def __exit__(self, *exc: object) -> None:
        os.close(self._fd)
