"""A walk over a folder that obeys ignore files, tells what it left out, and opens nothing.

Two passes: the `ignore` crate of ripgrep (through rignore) says which paths the ignore files keep, and `os.scandir`
then goes through the kept folders in byte order of paths and compares. The difference is what was skipped, so it can be
counted. Names that are not UTF-8 are unknown to rignore: they are judged by the hidden rule alone.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agenvoy.disk.jail import inside
from agenvoy.disk.names import is_utf8

EntryKind = Literal["file", "dir", "link", "other"]
_CHECK = 512  # entries between two looks at the clock


class OutOfTime(Exception):
    """The walk's time is over; what it has yielded is a prefix of the whole walk."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a folder.

    Args:
        path: absolute, below the walked folder.
        kind: file, dir, link (never followed), or other: a device, FIFO or socket, which is never opened.
        inode: the inode's number, for telling hard links.
    """

    path: str
    kind: EntryKind
    inode: int


@dataclass(frozen=True, slots=True)
class Rules:
    """What a walk goes into.

    Args:
        hidden: whether names with a leading dot are walked.
        ignored: whether ignored files are walked.
        recursive: whether subfolders are entered.
        never: real paths of folders that are left out whatever else is asked (the store).
        named: tells by its name a file that the caller named outright: it is kept though hidden or ignored.
        top: folder above which no ignore file counts, unless a git repository reaches higher.
        expired: whether the time is over.
    """

    hidden: bool = False
    ignored: bool = False
    recursive: bool = True
    never: Sequence[str] = ()
    named: Callable[[str], bool] = lambda name: False
    top: str = "/"
    expired: Callable[[], bool] = lambda: False


class Walk:
    """One walk; iterate it once, then `skipped` tells by reason how many entries were left out.

    Reasons: `hidden`, `ignored`, `git` (a `.git`), `store`, `unreadable`. A folder that is left out counts once.
    Iterating raises `OutOfTime` when `rules.expired` says so.
    """

    def __init__(self, folder: str, rules: Rules) -> None:
        self.folder = folder
        self.rules = rules
        self.skipped: Counter[str] = Counter()
        self._seen = 0

    def __iter__(self) -> Iterator[Entry]:
        kept = None if self.rules.ignored else self._kept()
        pending = [Entry(self.folder, "dir", 0)]
        while pending:
            entry = pending.pop()
            if entry.path is not self.folder:
                yield entry
            if entry.kind == "dir" and (self.rules.recursive or entry.path is self.folder):
                pending.extend(reversed(self._children(entry.path, kept)))

    def _children(self, folder: str, kept: set[str] | None) -> list[Entry]:
        """The entries of a folder that stay, in the byte order of the paths below them."""
        try:
            with os.scandir(folder) as listing:
                found = [(e.name, _entry(e)) for e in listing]
        except OSError:
            self.skipped["unreadable"] += 1
            return []
        self._tick(len(found))
        stay = []
        for name, entry in found:
            reason = self._reason(name, entry, kept)
            if reason:
                self.skipped[reason] += 1
            else:
                stay.append((os.fsencode(name + "/" if entry.kind == "dir" else name), entry))
        stay.sort(key=lambda pair: pair[0])
        return [entry for _, entry in stay]

    def _reason(self, name: str, entry: Entry, kept: set[str] | None) -> str | None:
        """Why an entry is left out; None where it stays."""
        if name == ".git":
            return "git"
        if entry.path in self.rules.never:
            return "store"
        if entry.kind == "file" and self.rules.named(name):
            return None
        if name[0] == "." and not self.rules.hidden:
            return "hidden"
        if kept is not None and entry.path not in kept and is_utf8(entry.path):
            return "ignored"
        return None

    def _kept(self) -> set[str]:
        """The paths that no ignore file rules out."""
        import rignore

        kept: set[str] = set()
        if not is_utf8(self.folder):
            return kept
        walker = rignore.Walker(  # type: ignore[call-arg,unused-ignore]
            self.folder,  # type: ignore[arg-type,unused-ignore]
            ignore_hidden=not self.rules.hidden,
            require_git=False,  # an agent's folder may hold a .gitignore long before `git init`
            read_parents_ignores=self._parents_count(),
            overrides=["!.git", *self._overrides()],
            max_depth=None if self.rules.recursive else 1,
        )
        while True:
            try:
                kept.add(str(next(walker)))
            except StopIteration:
                return kept
            except (OSError, ValueError):  # unreadable, or not UTF-8: the pass over scandir meets the same entry
                continue
            if len(kept) % _CHECK == 0 and self.rules.expired():
                raise OutOfTime

    def _overrides(self) -> list[str]:
        """rignore need not go through folders that are left out anyway."""
        below = [p for p in self.rules.never if inside(p, self.folder) and p != self.folder and is_utf8(p)]
        escaped = ["".join("\\" + c if c in "*?[]{}\\!" else c for c in p[len(self.folder) :]) for p in below]
        return ["!" + p for p in escaped]

    def _parents_count(self) -> bool:
        """Whether ignore files above the folder are read: not those above `top` that belong to no repository."""
        folder = self.folder
        while folder != os.path.dirname(folder):
            if os.path.lexists(os.path.join(folder, ".git")):
                return True
            names = () if inside(folder, self.rules.top) else (".gitignore", ".ignore")
            if any(os.path.lexists(os.path.join(folder, name)) for name in names):
                return False
            folder = os.path.dirname(folder)
        return True

    def _tick(self, entries: int) -> None:
        self._seen += entries
        if self._seen >= _CHECK:
            self._seen = 0
            if self.rules.expired():
                raise OutOfTime


def _entry(entry: os.DirEntry[str]) -> Entry:
    kind: EntryKind = "other"
    if entry.is_symlink():
        kind = "link"
    elif entry.is_dir(follow_symlinks=False):
        kind = "dir"
    elif entry.is_file(follow_symlinks=False):
        kind = "file"
    return Entry(entry.path, kind, entry.inode())
