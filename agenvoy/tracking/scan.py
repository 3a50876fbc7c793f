"""A scan: what differs from the stamps, found without reading what looks the same.

A stamp is trusted when its times are older than the moment it was taken, by more than the clock of the file system is
coarse (git's "racy" rule): a write in the same instant would leave equal size and times. Untrusted files are read.
Folders are compared by their permission bits alone, since their times move with every entry.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from agenvoy.catalog.stamps import Stamp
from agenvoy.disk import states
from agenvoy.disk.jail import open_folder
from agenvoy.disk.walk import Rules, Walk
from agenvoy.errors import AgenvoyError
from agenvoy.types import ABSENT, State

RACY_NS = 50_000_000  # kernel ticks are 1 to 10 ms; network file systems round to more
UNKNOWN = ""  # the hash of a content that was not read


@dataclass(frozen=True, slots=True)
class Found:
    """A path that does not look as its stamp says.

    Args:
        before: the state of its stamp; None where there was no stamp.
        seen: what is there now.
        stamp: the new stamp; None for a path that is gone.
    """

    path: str
    before: State | None
    seen: states.Seen
    stamp: Stamp | None


@dataclass(slots=True)
class Tally:
    """What a scan went through.

    Args:
        entries: paths that were looked at.
        left_out: entries that were not, by reason (ignored, git, store, unreadable, special, too_large).
        too_large: files beyond the size limit: their changes are seen, their contents are not kept.
    """

    entries: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    too_large: list[str] = field(default_factory=list)


class Scan:
    """One pass over a workspace; iterate it once, then `tally` is complete.

    Args:
        root: real root.
        known: stamps by path.
        extra: paths that are looked at though ignore rules leave them out (those that tools have touched).
        never: folders that are left out (the store).
        keep: longest content, in bytes, that `seen.data` holds.
        limit: longest content that is read at all.
        clock: epoch nanoseconds.
        content: whether contents of files without a stamp are read; otherwise their hash is `UNKNOWN`.
        on_block: see `states.look`; called with the path and each block of contents longer than `keep`.
    """

    def __init__(
        self,
        root: str,
        known: Mapping[str, Stamp],
        *,
        extra: frozenset[str] = frozenset(),
        never: tuple[str, ...] = (),
        keep: int,
        limit: int,
        clock: Callable[[], int],
        content: bool = True,
    ) -> None:
        self.root, self.known, self.extra, self.never = root, known, extra, never
        self.keep, self.limit, self.clock, self.content = keep, limit, clock, content
        self.tally = Tally()

    def __iter__(self) -> Iterator[Found]:
        met: set[str] = set()
        walk = Walk(self.root, Rules(hidden=True, never=self.never))
        folder, group = "", list[str]()
        for entry in walk:
            met.add(entry.path)
            if entry.kind == "other":
                self.tally.left_out["special"] += 1
                continue
            here = os.path.dirname(entry.path)
            if here != folder and group:
                yield from self._group(folder, group)
                group = []
            folder = here
            group.append(entry.path)
        if group:
            yield from self._group(folder, group)
        self.tally.left_out.update(walk.skipped)
        for path in sorted((self.extra | self.known.keys()) - met):
            yield from self._group(os.path.dirname(path), [path])

    def _group(self, folder: str, paths: list[str]) -> Iterator[Found]:
        """Paths of one folder: those that look as before cost one `lstat` each."""
        changed = []
        for path in paths:
            self.tally.entries += 1
            known = self.known.get(path)
            try:
                now: os.stat_result | None = os.lstat(path)
            except (FileNotFoundError, NotADirectoryError):
                now = None
            except PermissionError:
                self.tally.left_out["unreadable"] += 1
                continue
            if not _looks_same(known, now):
                changed.append((path, known, now))
        if not changed:
            return
        try:
            with open_folder(folder) as fd:
                for path, known, now in changed:
                    yield from self._one(fd, path, known, now)
        except (FileNotFoundError, NotADirectoryError):
            for path, known, _ in changed:
                if known is not None:
                    yield Found(path, known.state, states.NOTHING, None)

    def _one(self, fd: int, path: str, known: Stamp | None, now: os.stat_result | None) -> Iterator[Found]:
        at, before = self.clock(), known.state if known else None
        if now is None:
            if known is not None and known.state.kind != "absent":
                yield Found(path, before, states.NOTHING, None)
            return
        large = stat.S_ISREG(now.st_mode) and now.st_size > self.limit
        if large:
            self.tally.too_large.append(path)
        try:
            if large or (known is None and not self.content and stat.S_ISREG(now.st_mode)):
                seen = states.Seen(State("file", stat.S_IMODE(now.st_mode), now.st_size, UNKNOWN), None, now)
            else:
                seen = states.look(fd, os.path.basename(path), keep=self.keep, shown=path)
        except (PermissionError, AgenvoyError):
            self.tally.left_out["unreadable"] += 1
            return
        if seen.stat is None:
            yield Found(path, before, states.NOTHING, None)
            return
        yield Found(path, before, seen, stamp_of(seen, at))


def stamp_of(seen: states.Seen, at: int) -> Stamp:
    """The stamp of what was seen at a time."""
    assert seen.stat is not None
    s = seen.stat
    return Stamp(seen.state, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino, at)


def _looks_same(known: Stamp | None, now: os.stat_result | None) -> bool:
    if known is None or now is None:
        return known is None and now is None
    if known.state.kind == "dir":
        return stat.S_ISDIR(now.st_mode) and stat.S_IMODE(now.st_mode) == known.state.mode
    return (
        now.st_size == known.size
        and now.st_mtime_ns == known.mtime
        and now.st_ctime_ns == known.ctime
        and now.st_ino == known.inode
        and max(known.mtime, known.ctime) + RACY_NS < known.at
    )


def renames(gone: list[Found], new: list[Found], inodes: Mapping[str, int]) -> dict[str, str]:
    """Which paths that are gone went where: `{old: new}`, by inode and equal content.

    Args:
        gone, new: what vanished and what appeared.
        inodes: inode numbers of the vanished paths, from their stamps.
    """
    by_inode = {f.stamp.inode: f for f in new if f.stamp is not None and f.seen.state.kind in ("file", "link")}
    found: dict[str, str] = {}
    for old in gone:
        target = by_inode.get(inodes.get(old.path, -1))
        if target is not None and old.before is not None and old.before.same(target.seen.state):
            found[old.path] = target.path
            del by_inode[inodes[old.path]]
    return found


def absent_or(state: State | None) -> State:
    """A state, or absence where there is none."""
    return ABSENT if state is None else state
