"""A workspace that is watched: a search asks the kernel what has changed, and looks at no other file.

Built on the index. For every indexed file that was found to look as it did when it was indexed, the watch stands in for
looking again, until something is done to the file or the folders on the way to it. All others are read each time. The
kernel does not tell everything (`disk.watching`), so it is used only where `search.watch` says so.
"""

from __future__ import annotations

import marshal
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from dataclasses import replace as with_fields

from agenvoy.catalog import grams
from agenvoy.disk.folders import Lister, Rules
from agenvoy.disk.ignores import FILES, Scope
from agenvoy.disk.jail import Jail, inside
from agenvoy.disk.watching import NoRoom, Watching, look_of, mounts_below
from agenvoy.workspace.secrets import Secrets
from agenvoy.workspace.sources import Chain

Stamp = tuple[int, int, int, int, int]
JUDGES = frozenset([*FILES, ".git"])  # names that have a say in what is left out below
_RULES = (*FILES, ".git/info/exclude")
MOST_STALE = 512  # folders that a search brings up to date; more of them are a new tree's business
_PAUSE_FOLDERS = 16  # folders after which a building in the background lets others go ahead


@dataclass(slots=True)
class Folder:
    """A folder as the rules leave it.

    Args:
        above: the ignore files of the folders it lies in.
        files: names of files that may be searched.
        secret, links, others: names of sensitive files, links, and devices, FIFOs, sockets.
        dirs: names of subfolders.
        skipped: what was left out, by reason.
        clean: name → number in the index, of files that look as they did when they were indexed.
    """

    above: Scope | None
    files: tuple[str, ...] = ()
    secret: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    dirs: tuple[str, ...] = ()
    skipped: Counter[str] = field(default_factory=Counter)
    clean: dict[str, int] = field(default_factory=dict)


class Stale(Exception):
    """The tree cannot be brought up to date; it has to be built anew."""


class Tree:
    """One workspace, walked by one set of rules.

    Args:
        jail: of the workspace.
        rules: how it is walked; no files that were named outright.
        index: path of its search index.
        stop: asked now and then while it is built; True ends the building.

    Raises:
        NoRoom: it cannot be watched here.
        Stale: there is no index, or building was stopped.
        OSError: the index is damaged.
    """

    def __init__(self, jail: Jail, rules: Rules, index: str, stop: Callable[[], bool]) -> None:
        self.root = jail.settings.root
        self._mounts = mounts_below(self.root)
        if self._mounts is None:
            raise NoRoom("a file system that others may change unseen")
        self.index = index
        self._rules = with_fields(rules, expired=lambda: False)
        self._secrets = Secrets(jail, lambda: False)
        self._lister = Lister(self.root, self._rules)
        self._guards: dict[str, tuple[int, ...] | None] = {}
        self.folders: dict[str, Folder] = {}
        self._unread: dict[str, set[str]] = {}  # per folder the files that are read whatever the index says
        self._where: dict[int, tuple[str, str]] = {}
        self._inodes: dict[int, int] = {}  # inode → number, of clean files
        self._watching = Watching()
        try:
            self._build(stop)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Watch nothing any more."""
        self._watching.close()

    # ---- building
    def _build(self, stop: Callable[[], bool]) -> None:
        for path in self._judges_above():
            self._guards[path] = look_of(path)
        with grams.reading(self.index) as known:
            self.token = known.fact("token") if known is not None else ""
            if known is None or not self.token:
                raise Stale
            self._grow(known, [(self.root, self._lister.scope_above(self.root))], stop)

    def _judges_above(self) -> Iterator[str]:
        """What lies outside of the watched folders and has a say in what is left out."""
        if self._rules.excludes:
            yield self._rules.excludes
        folder = self.root
        while folder != os.path.dirname(folder):
            folder = os.path.dirname(folder)
            yield from (os.path.join(folder, name) for name in (*FILES, ".git", ".git/info/exclude"))

    def _grow(
        self, known: grams.Grams, pending: list[tuple[str, Scope | None]], stop: Callable[[], bool] = lambda: False
    ) -> None:
        """Take in folders with everything below them."""
        chain = Chain(self.root)
        try:
            for count, (folder, above) in enumerate(_popping(pending)):
                if count % _PAUSE_FOLDERS == 0 and stop():
                    raise Stale
                scope = self._enter(known, chain, folder, above)
                pending += [(_below(folder, name), scope) for name in self.folders[folder].dirs]
        finally:
            chain.close()

    def _enter(self, known: grams.Grams, chain: Chain, folder: str, above: Scope | None) -> Scope | None:
        """Take in one folder; gives the scope for its subfolders."""
        self._lister.skipped.clear()
        try:
            fd = chain.open(folder)
        except OSError:  # the folder that holds it is watched, and tells when this one is opened to us
            self._put(folder, Folder(above, skipped=Counter(unreadable=1)))
            return None
        self._watching.add(folder, fd)
        guards = _guards_in(folder)
        listed = self._lister.listed(folder, above, fd)
        if not self._lister.sure:
            raise NoRoom("ignore files that only rignore is trusted with")
        names = [entry.name for entry in listed.files]
        secret = self._secrets.among(names)
        found = Folder(
            above,
            tuple(n for n in names if n not in secret),
            tuple(secret),
            tuple(e.name for e in listed.links),
            tuple(e.name for e in listed.others),
            tuple(e.name for e in listed.dirs),
            Counter(self._lister.skipped),
        )
        data = known.stamps(folder)
        stamps: dict[str, Stamp] = marshal.loads(data) if data else {}
        self._put(folder, found)
        for name in found.files:
            self._judge(folder, fd, name, found, stamps.get(name))
        self._guards.update(guards)
        return listed.scope

    def _put(self, folder: str, found: Folder) -> None:
        self.folders[folder] = found
        if found.files:
            self._unread[folder] = set(found.files)

    def _judge(self, folder: str, fd: int, name: str, found: Folder, stamp: Stamp | None) -> None:
        """Whether a file is left unread from now on."""
        try:
            s = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except OSError:  # gone: the search meets the same
            return
        if s.st_nlink > 1:  # another name of it may be one that was clean so far
            self._spoil(s.st_ino)
        elif stamp is not None and (s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino) == stamp[:4]:
            number = stamp[4]
            found.clean[name] = number
            self._where[number] = (folder, name)
            self._inodes[s.st_ino] = number
            self._unread[folder].discard(name)

    def _meet(self, path: str) -> None:
        """A name came, or what it means changed: a file that was clean may have it too, seen by no search or not."""
        try:
            s = os.lstat(path)
        except OSError:  # gone again
            return
        if s.st_nlink > 1 and not stat.S_ISDIR(s.st_mode):
            self._spoil(s.st_ino)

    def _spoil(self, inode: int) -> None:
        number = self._inodes.pop(inode, None)
        if number is not None and number in self._where:
            folder, name = self._where.pop(number)
            self.folders[folder].clean.pop(name, None)
            self._unread.setdefault(folder, set()).add(name)

    def _drop(self, folder: str) -> None:
        """Forget a folder with everything below it."""
        pending = [folder]
        while pending:
            here = pending.pop()
            found = self.folders.pop(here, None)
            if found is None:
                continue
            self._watching.drop(here)
            self._unread.pop(here, None)
            for number in found.clean.values():
                self._where.pop(number, None)
            for name in _RULES:
                self._guards.pop(_below(here, name), None)
            pending += [_below(here, name) for name in found.dirs]

    # ---- keeping up
    def update(self, known: grams.Grams) -> None:
        """Take in everything that was done before this call.

        Args:
            known: the index, open.

        Raises:
            Stale, NoRoom: it has to be built anew, or cannot be watched any more.
        """
        if known.fact("token") != self.token or mounts_below(self.root) != self._mounts:
            raise Stale
        changes = self._watching.changes()
        if changes.lost or any(look_of(path) != look for path, look in self._guards.items()):
            raise Stale
        stale = set(changes.names)
        for folder in changes.moved:
            if folder == self.root:
                raise Stale
            self._drop(folder)
            stale.add(os.path.dirname(folder))
        for folder, names in changes.names.items():
            for name in names:
                self._meet(_below(folder, name))
            found = self.folders.get(folder)
            if found is not None:  # where its ignore files changed, all that lies below it is another thing now
                for name in found.dirs if not names.isdisjoint(JUDGES) else names.intersection(found.dirs):
                    self._drop(_below(folder, name))
        stale = {folder for folder in stale if folder in self.folders}
        if len(stale) > MOST_STALE:
            raise Stale
        for folder in sorted(stale):
            if folder in self.folders:  # it may have gone with one that holds it
                self._again(known, folder)

    def _again(self, known: grams.Grams, folder: str) -> None:
        """List a folder anew; subfolders that stay are kept as they are."""
        former = self.folders[folder]
        for number in former.clean.values():
            self._where.pop(number, None)
        self._unread.pop(folder, None)
        chain = Chain(self.root)
        try:
            scope = self._enter(known, chain, folder, former.above)
        finally:
            chain.close()
        now = self.folders[folder].dirs
        for name in set(former.dirs).difference(now):
            self._drop(_below(folder, name))
        self._grow(known, [(path, scope) for name in now if (path := _below(folder, name)) not in self.folders])

    # ---- asking
    def to_read(self, top: str, holding: set[int]) -> dict[str, list[str]] | None:
        """Per folder below one the files that have to be read; None where the folder is not in the tree.

        Args:
            top: the folder.
            holding: numbers of indexed texts that may match.
        """
        if top not in self.folders:
            return None
        found = {path: list(names) for path, names in self._unread.items() if names and inside(path, top)}
        where = self._where
        for number in holding if len(holding) < len(where) else where:
            place = where.get(number) if number in holding else None
            if place is not None and inside(place[0], top):
                found.setdefault(place[0], []).append(place[1])
        return found

    def below(self, top: str) -> Iterator[tuple[str, Folder]]:
        """All folders below one, itself included."""
        for folder, found in self.folders.items():
            if inside(folder, top):
                yield folder, found


def _guards_in(folder: str) -> dict[str, tuple[int, ...] | None]:
    """How the ignore files of a folder look: they may be links to files that are not watched, or have other names."""
    there = [name for name in FILES if os.path.lexists(_below(folder, name))]
    if os.path.lexists(_below(folder, ".git")):
        there.append(_RULES[-1])
    return {path: look_of(path) for name in there if (path := _below(folder, name))}


def _popping(pending: list[tuple[str, Scope | None]]) -> Iterator[tuple[str, Scope | None]]:
    while pending:
        yield pending.pop()


def _below(folder: str, name: str) -> str:
    return f"{folder.rstrip('/')}/{name}"
