"""One folder at a time: what is in it, and what of that the rules leave out. A walk is made of such listings."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from agenvoy.disk.ignores import FILES, Scope, Unsure, entered, outermost
from agenvoy.disk.jail import inside
from agenvoy.disk.names import is_utf8

_CHECK = 512  # entries between two looks at the clock


class OutOfTime(Exception):
    """The walk's time is over; what it has yielded is a prefix of the whole walk."""


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
        excludes: path of the user's own ignore file for all repositories (`ignores.global_excludes`); empty: none.
    """

    hidden: bool = False
    ignored: bool = False
    recursive: bool = True
    never: Sequence[str] = ()
    named: Callable[[str], bool] = lambda name: False
    top: str = "/"
    expired: Callable[[], bool] = lambda: False
    excludes: str = ""


Entries = list[os.DirEntry[str]]


@dataclass(slots=True)
class Listed:
    """What stays of a folder, by kind: regular files, folders, links (never followed), and devices, FIFOs, sockets.

    `scope` holds the ignore files for the folders below.
    """

    files: list[os.DirEntry[str]] = field(default_factory=list)
    dirs: list[os.DirEntry[str]] = field(default_factory=list)
    links: list[os.DirEntry[str]] = field(default_factory=list)
    others: list[os.DirEntry[str]] = field(default_factory=list)
    scope: Scope | None = None

    def groups(self) -> tuple[Entries, Entries, Entries, Entries]:
        """All kinds."""
        return self.files, self.dirs, self.links, self.others


class Lister:
    """Lists the folders below one folder.

    Args:
        top: the folder where the walk begins; it is never left out itself.
        rules: see there.

    `skipped` counts by reason what was left out: `hidden`, `ignored`, `git` (a `.git`), `store`, `unreadable`. A
    folder that is left out counts once.
    """

    def __init__(self, top: str, rules: Rules) -> None:
        self.top = top
        self.rules = rules
        self.skipped: Counter[str] = Counter()
        self._scopes: dict[str, Scope | None] = {}
        self._kept: set[str] | None = None  # what rignore says, where it had to be asked
        self._seen = 0
        self._never = {os.path.dirname(path): os.path.basename(path) for path in rules.never}

    @property
    def sure(self) -> bool:
        """Whether every ignore file so far was judged here, folder by folder."""
        return self._kept is None

    def scope_above(self, folder: str) -> Scope | None:
        """The ignore files that hold for a folder from those it lies in."""
        if self.rules.ignored:
            return None
        try:
            if folder != self.top:
                return self._scope_of(os.path.dirname(folder))
            above = outermost(self.rules.excludes)
            if parents_count(self.top, self.rules.top):
                path = ""
                for part in [] if self.top == "/" else self.top.split("/")[:-1]:
                    path = f"{path}{part}/"
                    above = entered(above, path, _present(path))
            return above
        except Unsure:
            self._ask()
            return None

    def _scope_of(self, folder: str) -> Scope | None:
        if folder not in self._scopes:
            above = self.scope_above(folder)
            self._scopes[folder] = entered(above, folder, _present(folder))
        return self._scopes[folder]

    def listed(self, folder: str, above: Scope | None, fd: int | None = None) -> Listed:
        """The entries of a folder that stay, in no order.

        Args:
            folder: its path.
            above: `scope_above`, or the `scope` that the listing of its parent gave.
            fd: the folder, where it is open; its path is then not looked at again.

        Raises:
            OutOfTime: `rules.expired` says so.
        """
        found = Listed()
        try:
            with os.scandir(folder if fd is None else fd) as listing:
                for entry in listing:
                    if entry.is_file(follow_symlinks=False):
                        found.files.append(entry)
                    elif entry.is_symlink():
                        found.links.append(entry)
                    elif entry.is_dir(follow_symlinks=False):
                        found.dirs.append(entry)
                    else:
                        found.others.append(entry)
        except OSError:
            self.skipped["unreadable"] += 1
            return Listed()
        names = [e.name for group in found.groups() for e in group]
        self._tick(len(names))
        found.scope = above
        if names:
            self._leave_out(folder, names, found, above)
        if found.dirs:
            self._scopes[folder] = found.scope
        return found

    def _leave_out(self, folder: str, names: list[str], found: Listed, above: Scope | None) -> None:
        """Take from a listing what the rules leave out; only names that may be concerned are looked at."""
        dots = {name for name in names if name[0] == "."}
        found.scope = above if self.rules.ignored or not dots else self._entered(above, folder, dots)
        suspects = {".git"} & dots if self.rules.hidden else dots
        if folder in self._never:
            suspects = suspects | {self._never[folder]}
        ignored: Iterable[str] = ()
        if self._kept is not None:
            ignored = names
        elif found.scope is not None:
            ignored = found.scope.triggers.pick(names)
        if not suspects and not ignored:
            return
        suspects = suspects.union(ignored)
        for group in found.groups():
            reasons = {}
            for entry in group:
                if entry.name in suspects:
                    reason = self._reason(folder, entry.name, group is found.files, group is found.dirs, found.scope)
                    if reason:
                        reasons[entry.name] = reason
            if reasons:
                self.skipped.update(reasons.values())
                group[:] = [entry for entry in group if entry.name not in reasons]

    def _entered(self, above: Scope | None, folder: str, dots: set[str]) -> Scope | None:
        if self._kept is None:
            try:
                return entered(above, folder, dots)
            except Unsure:
                self._ask()
        return above

    def _reason(self, folder: str, name: str, is_file: bool, is_dir: bool, scope: Scope | None) -> str | None:
        """Why an entry is left out; None where it stays."""
        if name == ".git":
            return "git"
        if self._never.get(folder) == name:
            return "store"
        if is_file and self.rules.named(name):
            return None
        if name[0] == "." and not self.rules.hidden:
            return "hidden"
        path = f"{folder}/{name}" if folder != "/" else f"/{name}"
        if self._kept is not None:
            return "ignored" if path not in self._kept and is_utf8(path) else None
        return "ignored" if scope is not None and scope.ignored(path, name, is_dir) else None

    def _ask(self) -> None:
        """Have rignore say which paths no ignore file rules out, once for the whole walk."""
        if self._kept is None:
            self._kept = kept(self.top, self.rules)

    def _tick(self, entries: int) -> None:
        self._seen += entries
        if self._seen >= _CHECK:
            self._seen = 0
            if self.rules.expired():
                raise OutOfTime


def _present(folder: str) -> set[str]:
    """Which names with a say in ignore rules a folder holds."""
    return {name for name in (*FILES, ".git") if os.path.lexists(os.path.join(folder, name))}


def kept(folder: str, rules: Rules) -> set[str]:
    """The paths below a folder that no ignore file rules out, by the `ignore` crate itself; only those in UTF-8.

    Raises:
        OutOfTime: `rules.expired` says so.
    """
    import rignore

    found: set[str] = set()
    if not is_utf8(folder):
        return found
    walker = rignore.Walker(  # type: ignore[call-arg,unused-ignore]
        folder,  # type: ignore[arg-type,unused-ignore]
        ignore_hidden=not rules.hidden,
        require_git=False,  # an agent's folder may hold a .gitignore long before `git init`
        read_parents_ignores=parents_count(folder, rules.top),
        overrides=["!.git", *_overrides(folder, rules)],
        max_depth=None if rules.recursive else 1,
    )
    while True:
        try:
            found.add(str(next(walker)))
        except StopIteration:
            return found
        except (OSError, ValueError):  # unreadable, or not UTF-8: the pass over scandir meets the same entry
            continue
        if len(found) % _CHECK == 0 and rules.expired():
            raise OutOfTime


def _overrides(folder: str, rules: Rules) -> list[str]:
    """rignore need not go through folders that are left out anyway."""
    below = [p for p in rules.never if inside(p, folder) and p != folder and is_utf8(p)]
    escaped = ["".join("\\" + c if c in "*?[]{}\\!" else c for c in p[len(folder) :]) for p in below]
    return ["!" + p for p in escaped]


def parents_count(folder: str, top: str) -> bool:
    """Whether ignore files above a folder are read: not those above `top` that belong to no repository."""
    while folder != os.path.dirname(folder):
        if os.path.lexists(os.path.join(folder, ".git")):
            return True
        names = () if inside(folder, top) else (".gitignore", ".ignore")
        if any(os.path.lexists(os.path.join(folder, name)) for name in names):
            return False
        folder = os.path.dirname(folder)
    return True
