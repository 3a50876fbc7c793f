"""A scan: what differs from the last one, found without reading what looks the same.

    quick   the snapshot is compared entry by entry; only folders whose times moved are listed again
    whole   a walk by the ignore rules: for the baseline, and when an ignore file has changed

Folders are compared by their permission bits alone, since their times move with every entry.
"""

from __future__ import annotations

import errno
import functools
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from agenvoy.disk import states
from agenvoy.disk.jail import open_folder
from agenvoy.disk.walk import Rules, Walk
from agenvoy.errors import AgenvoyError
from agenvoy.tracking.snapshot import Snapshot, look_of
from agenvoy.types import State

UNKNOWN = ""  # the hash of a content that was not read
MANY_LISTINGS = 400  # beyond this one walk over everything is cheaper than so many small ones


@dataclass(frozen=True, slots=True)
class Found:
    """A path that does not look as it did, or is seen for the first time.

    Args:
        first: it was there before and not followed, so that it is no change.
    """

    path: str
    seen: states.Seen
    first: bool = False


@dataclass(slots=True)
class Tally:
    """What a scan went through.

    Args:
        entries: paths that were compared.
        left_out: entries that were not, by reason (ignored, git, store, unreadable, special), as of the last whole
            scan, and what could not be read in this one.
        too_large: files beyond the size limit: their changes are seen, their contents are not kept.
        special: devices, FIFOs and sockets that the scan before had not met, and what cannot be read any more: they
            are not followed.
    """

    entries: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    too_large: list[str] = field(default_factory=list)
    special: list[str] = field(default_factory=list)


class Scan:
    """One pass over a workspace; iterate it once, then `tally` and `snapshot` are complete.

    Args:
        root: real root.
        snapshot: of the last scan; None: none, a whole scan is made.
        extra: paths that are looked at though ignore rules leave them out (those that tools have touched).
        never: folders that are left out (the store).
        keep: longest content, in bytes, that `seen.data` holds.
        limit: longest content that is read at all.
        clock: epoch nanoseconds.
        content: whether contents are read; otherwise the hash of files is `UNKNOWN`.
        excludes: the user's own ignore file, see `Rules`.
    """

    def __init__(
        self,
        root: str,
        snapshot: Snapshot | None,
        *,
        extra: frozenset[str] = frozenset(),
        never: tuple[str, ...] = (),
        keep: int,
        limit: int,
        clock: Callable[[], int],
        content: bool = True,
        excludes: str = "",
    ) -> None:
        self.root, self.extra, self.never, self.excludes = root, extra, never, excludes
        self.keep, self.limit, self.clock, self.content = keep, limit, clock, content
        self.snapshot = snapshot or Snapshot()
        self._quick = snapshot is not None
        self.tally = Tally()
        self._listed: list[str] | None = []  # folders whose names were read anew; None: all

    def __iter__(self) -> Iterator[Found]:
        suspects = list(self._suspects())
        old = {path for path in suspects if self.snapshot.others and self.snapshot.was_there(path)}
        for folder, paths in groupby(suspects, key=os.path.dirname):
            for found in self._group(folder, list(paths)):
                yield replace(found, first=True) if found.path in old else found
        for folder in self._listed if self._listed is not None else list(self.snapshot.folders):
            self.snapshot.note_others(folder)

    # ---- which paths to look into
    def _suspects(self) -> Iterable[str]:
        extra = sorted(path for path in self.extra if not self.snapshot.has(path))
        if not self._quick:
            self.snapshot.put(self.root, _stat(self.root), self.clock())
            return [*self._whole(), *extra]
        self.tally.left_out.update(self.snapshot.left_out)
        self.tally.entries = len(self.snapshot)
        suspects, listings = self.snapshot.compare()
        if self.snapshot.rules_changed(suspects, listings) or len(listings) > MANY_LISTINGS:
            return self._anew(extra)
        new: list[str] = []
        for folder in listings:
            if _is_folder(folder):
                self._relist(folder, new)
        self._listed = [*listings, *(path for path in new if _is_folder(path))]
        for path in suspects:
            if path not in self.snapshot.folders and _is_folder(path):  # a folder stands where a file was
                new.extend(self._walked(path))
        return sorted({*suspects, *new, *extra} - {self.root})

    def _walked(self, folder: str, *, recursive: bool = True) -> Iterator[str]:
        rules = Rules(hidden=True, recursive=recursive, never=self.never, top=self.root, excludes=self.excludes)
        walk = Walk(folder, rules)
        for entry in walk:
            if entry.kind == "other":
                walk.skipped["special"] += 1
                if not self.snapshot.was_there(entry.path):
                    self.tally.special.append(entry.path)
            else:
                yield entry.path
        if folder == self.root and recursive:
            self.tally.left_out.update(walk.skipped)
            self.snapshot.left_out = dict(self.tally.left_out)

    def _whole(self) -> Iterator[str]:
        self._listed = None
        self.tally.left_out.clear()
        return self._walked(self.root)

    def _relist(self, folder: str, new: list[str]) -> None:
        """Names that have come to a folder; a new folder is walked whole."""
        for path in self._walked(folder, recursive=False):
            if not self.snapshot.has(path):
                new.append(path)
                if _is_folder(path):
                    new.extend(self._walked(path))
        self.snapshot.put(folder, _stat(folder), self.clock())

    def _anew(self, extra: list[str]) -> Iterable[str]:
        """A whole walk against the snapshot: what looks the same is not looked into."""
        met = set()
        suspects = []
        for path in self._whole():
            met.add(path)
            if not self._same(path):
                suspects.append(path)
        real = functools.cache(is_real_folder)  # behind a link in place of a folder is nothing of what was there
        suspects += [p for p in self.extra if p not in met and not (real(os.path.dirname(p)) and self._same(p))]
        # What the rules leave out now and was followed before stays followed: else its changes would be lost unseen.
        left = [p for p in self.snapshot.below(self.root) if p not in met and p not in self.extra]
        suspects += [p for p in left if not (real(os.path.dirname(p)) and self._same(p))]
        return sorted({*suspects, *extra} - {self.root})

    def _same(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        found = _stat(path)
        if found is None:
            return not self.snapshot.has(path)
        if stat.S_ISDIR(found.st_mode):
            known = self.snapshot.folders.get(path)
            self_look = known[0] if known else None
            return self_look is not None and self_look[0] == found.st_mode
        names = self.snapshot.folders[folder][1] if folder in self.snapshot.folders else {}
        return names.get(name) == look_of(found)

    # ---- looking into them
    def _group(self, folder: str, paths: list[str]) -> Iterator[Found]:
        try:
            with open_folder(folder) as fd:
                for path in paths:
                    yield from self._one(fd, path)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
                raise
            for path in paths:  # their folder is gone, or a file or link stands in its place: nothing is there
                self.snapshot.put(path, None, 0)
                yield Found(path, states.NOTHING)

    def _one(self, fd: int, path: str) -> Iterator[Found]:
        at = self.clock()
        try:
            seen = self._look(fd, path)
        except (PermissionError, AgenvoyError):
            self.tally.left_out["unreadable"] += 1
            if not self.snapshot.was_there(path):
                self.tally.special.append(path)
            return
        self.snapshot.put(path, seen.stat, at)
        yield Found(path, seen)

    def _look(self, fd: int, path: str) -> states.Seen:
        name = os.path.basename(path)
        try:
            now = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            return states.NOTHING
        if not (stat.S_ISREG(now.st_mode) or stat.S_ISDIR(now.st_mode) or stat.S_ISLNK(now.st_mode)):
            self.tally.special.append(path)  # it stands where something was that is gone
            return states.NOTHING
        large = stat.S_ISREG(now.st_mode) and now.st_size > self.limit
        if large:
            self.tally.too_large.append(path)
        if large or (not self.content and stat.S_ISREG(now.st_mode)):
            return states.Seen(State("file", stat.S_IMODE(now.st_mode), now.st_size, UNKNOWN), None, now)
        return states.look(fd, name, keep=self.keep, shown=path)


def is_real_folder(path: str) -> bool:
    """Whether a path is a folder, and no link stands on the way to it."""
    return os.path.isdir(path) and os.path.realpath(path) == path


def _is_folder(path: str) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:  # gone, or its folder is: either way there is nothing to compare
        return None


def renames(gone: Mapping[str, State], new: Mapping[str, states.Seen], inode: Callable[[str], int]) -> dict[str, str]:
    """Which paths that are gone went where: `{old: new}`, by inode and equal content.

    Args:
        gone: what vanished, with the state that it had.
        new: what appeared.
        inode: the inode number that a vanished path had.
    """
    by_inode = {s.stat.st_ino: p for p, s in new.items() if s.stat is not None and s.state.kind in ("file", "link")}
    found: dict[str, str] = {}
    for path, state in gone.items():
        target = by_inode.get(inode(path))
        if target is not None and state.same(new[target].state):
            found[path] = target
            del by_inode[inode(path)]
    return found
