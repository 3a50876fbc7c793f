"""How every entry of a workspace looked at the last scan, compact: one `lstat` per file tells what to look into.

Folders whose times did not move hold the same names, so only the others are listed again. What was too young to be
told from a racing write when it was looked at (git's "racy" rule) is not trusted and is looked into every time.
The form on disk is `marshal`'s, bound to the Python that wrote it; another Python scans anew, nothing is lost by that.
"""

from __future__ import annotations

import gc
import marshal
import os
import stat
import sys
import zlib
from collections.abc import Collection, Iterator

RACY_NS = 50_000_000  # kernel ticks are 1 to 10 ms; network file systems round to more
IGNORE_FILES = (".gitignore", ".ignore")

Look = tuple[int, int, int, int, int]  # mode, size, mtime, ctime (ns), inode
_MARK = f"{sys.implementation.cache_tag}:3".encode()


def look_of(found: os.stat_result) -> Look:
    """What is compared of a file."""
    return (found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def trusted(look: Look, at: int) -> bool:
    """Whether a look taken at a time would show every later change."""
    return max(look[2], look[3]) + RACY_NS < at


def _inode(path: str) -> int:
    """The inode number of a path; -1 where there is none."""
    try:
        return os.lstat(path).st_ino
    except OSError:  # it went just now
        return -1


class Snapshot:
    """Looks by folder and name.

    Args:
        folders: `{folder: (its look or None, {name: look or None})}`; None is not trusted.

    `left_out` counts by reason what the last whole scan left out; `others` are names by folder that were there and not
    followed: when an ignore rule goes, they must not be taken for new.
    """

    def __init__(self, folders: dict[str, tuple[Look | None, dict[str, Look | None]]] | None = None) -> None:
        self.folders = {} if folders is None else folders
        self.dirty = folders is None
        self.left_out: dict[str, int] = {}
        self.others: dict[str, list[str] | None] = {}
        self._gone: dict[str, int] = {}

    @classmethod
    def loads(cls, data: bytes | None) -> Snapshot | None:
        """A saved snapshot; None where there is none that this Python can read."""
        if not data or not data.startswith(_MARK):
            return None
        gc.disable()  # hundreds of thousands of tuples are made at once, and none of them is garbage
        try:
            folders, left_out, others = marshal.loads(zlib.decompress(data[len(_MARK) :]))
            found = cls(folders)
            found.left_out, found.others = left_out, others
            return found
        except (ValueError, EOFError, TypeError, zlib.error):
            return None
        finally:
            gc.enable()

    def dumps(self) -> bytes:
        """The form on disk."""
        return _MARK + zlib.compress(marshal.dumps((self.folders, self.left_out, self.others)), 1)

    def put(self, path: str, found: os.stat_result | None, at: int) -> None:
        """Note how a path looks; None: it is gone."""
        self.dirty = True
        folder, _, name = path.rpartition("/")
        if found is None:
            _, names = self.folders.pop(path, (None, {}))
            self._gone.update((f"{path}/{n}", look[4]) for n, look in names.items() if look is not None)
            look = self.folders[folder][1].pop(name, None) if folder in self.folders else None
            if look is not None:
                self._gone[path] = look[4]
            return
        look = look_of(found)
        if stat.S_ISDIR(found.st_mode):
            names = self.folders[path][1] if path in self.folders else {}
            if folder in self.folders:
                self.folders[folder][1].pop(name, None)
            self.folders[path] = (look if trusted(look, at) else None, names)
            return
        _, names = self.folders.pop(path, (None, {}))
        self._gone.update((f"{path}/{n}", known[4]) for n, known in names.items() if known is not None)
        if folder not in self.folders:
            self.folders[folder] = (None, {})
        self.folders[folder][1][name] = look if trusted(look, at) else None

    def gone_inode(self, path: str) -> int:
        """The inode that a path had which was found to be gone; -1 where it is not known."""
        return self._gone.get(path, -1)

    def with_inode(self, numbers: Collection[int]) -> Iterator[tuple[int, str]]:
        """`(inode, path)` of the files that have one of these inodes."""
        for folder, (_, names) in self.folders.items():
            for name, look in names.items():
                inode = look[4] if look is not None else _inode(f"{folder}/{name}")
                if inode in numbers:
                    yield inode, f"{folder}/{name}"

    def has(self, path: str) -> bool:
        """Whether a path was there."""
        folder, _, name = path.rpartition("/")
        return path in self.folders or (folder in self.folders and name in self.folders[folder][1])

    def __len__(self) -> int:
        return sum(1 + len(names) for _, names in self.folders.values())

    def compare(self) -> tuple[list[str], list[str]]:
        """`(suspects, listings)`: paths that do not look as before or are gone, folders whose names may differ."""
        suspects: list[str] = []
        listings: list[str] = []
        replaced: list[str] = []
        lstat = os.lstat
        for folder, (folder_look, names) in self.folders.items():
            try:
                found = lstat(folder)
            except OSError:  # gone or out of reach: it is looked into, and so is everything in it
                suspects.append(folder)
                suspects.extend(f"{folder}/{name}" for name in names)
                continue
            if not stat.S_ISDIR(found.st_mode):
                replaced.append(folder + "/")
            if folder_look is None or folder_look != look_of(found):
                listings.append(folder)
                if folder_look is None or folder_look[0] != found.st_mode:
                    suspects.append(folder)
            prefix = folder + "/"
            for name, look in names.items():
                try:
                    s = lstat(prefix + name)
                except OSError:
                    suspects.append(prefix + name)
                    continue
                if look != (s.st_mode, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino):
                    suspects.append(prefix + name)
        if replaced:  # what lies behind a link that stands in place of a folder is none of what was there
            gone = tuple(replaced)
            for folder, (_, names) in self.folders.items():
                if (folder + "/").startswith(gone):
                    suspects.append(folder)
                    suspects.extend(f"{folder}/{name}" for name in names)
        return suspects, listings

    def rules_changed(self, suspects: list[str], listings: list[str]) -> bool:
        """Whether an ignore file may have changed: then what is left out has to be found anew."""
        if any(path.rpartition("/")[2] in IGNORE_FILES for path in suspects):
            return True
        return any(
            os.path.lexists(f"{folder}/{name}") and not self.has(f"{folder}/{name}")
            for folder in listings
            for name in IGNORE_FILES
        )

    def note_others(self, folder: str) -> None:
        """Remember the names in a folder that are not followed."""
        if folder not in self.folders:  # gone; what lies behind a link in its place was never there
            self.others.pop(folder, None)
            return
        try:
            listed = os.listdir(folder)
        except PermissionError:
            self.others[folder] = None  # anything may be in it
            return
        except OSError:  # gone
            listed = []
        names = self.folders[folder][1]
        rest = [n for n in listed if n not in names and f"{folder}/{n}" not in self.folders]
        if rest:
            self.others[folder] = rest
        else:
            self.others.pop(folder, None)

    def was_there(self, path: str) -> bool:
        """Whether a path, or a folder that it lies in, was there and not followed."""
        while "/" in path:
            folder, _, name = path.rpartition("/")
            rest = self.others.get(folder, ())
            if rest is None or name in rest:
                return True
            path = folder
        return False

    def below(self, folder: str) -> Iterator[str]:
        """Every path that was below a folder."""
        prefix = folder + "/"
        for here, (_, names) in list(self.folders.items()):
            if here == folder or here.startswith(prefix):
                if here != folder:
                    yield here
                yield from (f"{here}/{name}" for name in names)
