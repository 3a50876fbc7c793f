"""The search index of a workspace: built by `agenvoy index`, checked file by file whenever it is used.

A file is left unread only where it looks as it did when it was indexed, and the index says that it holds none of the
texts that every match needs. A look that a racing write might share is not noted (git's rule). Only files are indexed
whose raw bytes alone would rule them out (`Sieve`), so an answer is the same with and without the index.
"""

from __future__ import annotations

import marshal
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from agenvoy.blobs.hashing import hash_bytes
from agenvoy.catalog import grams
from agenvoy.config import Settings
from agenvoy.disk.folders import Lister, Rules
from agenvoy.disk.jail import Jail
from agenvoy.search.matcher import Matcher
from agenvoy.tracking.snapshot import RACY_NS
from agenvoy.workspace.secrets import Secrets
from agenvoy.workspace.sieve import Sieve
from agenvoy.workspace.sources import FLAGS, Chain

Stamp = tuple[int, int, int, int, int]
"""mtime and ctime in nanoseconds, size, inode; the number under which the file is indexed."""

LARGEST = 1 << 20  # bytes; a larger file holds most trigrams there are, and is read as fast as it is looked up
WASTE = 0.5  # of all numbers; beyond it the index is built from nothing


def index_path(settings: Settings) -> str:
    """Where the index of a workspace lies."""
    return os.path.join(settings.store, "search", hash_bytes(os.fsencode(settings.root)) + ".db")


class Known:
    """What an index knows for one search.

    Args:
        path: of the index.
        texts: ASCII texts, lower case, of which every match holds one in some case.
    """

    def __init__(self, path: str, texts: Sequence[str]) -> None:
        self._stack = ExitStack()
        self._grams = self._stack.enter_context(grams.reading(path))
        self._holding: set[int] = set()
        if self._grams is not None:
            try:
                self._holding = self._grams.holding(texts)
            except OSError:  # damaged: the search does without, the next building makes it anew
                self._grams = None

    @property
    def there(self) -> bool:
        """Whether there is an index that can be used."""
        return self._grams is not None

    def close(self) -> None:
        """Close the index."""
        self._stack.close()

    def unknown(self, folder: str, fd: int, names: Sequence[str]) -> list[str]:
        """Those of a folder's files that have to be read.

        Args:
            folder: its path.
            fd: it, open.
            names: of files in it.
        """
        stamps = self._stamps(folder)
        if not stamps:
            return list(names)
        holding, look, get = self._holding, os.stat, stamps.get
        found = []
        for name in names:
            stamp = get(name)
            if stamp is None or stamp[4] in holding:
                found.append(name)
                continue
            try:
                s = look(name, dir_fd=fd, follow_symlinks=False)
            except OSError:  # gone: the search meets the same
                found.append(name)
                continue
            if (s.st_mtime_ns, s.st_ctime_ns, s.st_size, s.st_ino) != stamp[:4]:
                found.append(name)
        return found

    def _stamps(self, folder: str) -> dict[str, Stamp]:
        try:
            data = self._grams.stamps(folder) if self._grams is not None else None
            found: dict[str, Stamp] = marshal.loads(data) if data else {}
        except (OSError, ValueError, EOFError, TypeError):  # damaged
            return {}
        return found


def texts_of(matchers: Sequence[Matcher]) -> tuple[str, ...]:
    """Texts by which an index can be asked for files that may match any of the patterns; empty where it cannot."""
    every = [m.texts for m in matchers]
    found = tuple(dict.fromkeys(text for some in every for text in some))
    return found if all(every) and all(len(text) >= grams.LEAST for text in found) else ()


def build(jail: Jail, rules: Rules, tell: Callable[[int], None]) -> dict[str, Any]:
    """Build the index of a workspace, or bring it up to date.

    Args:
        jail: of the workspace.
        rules: how it is walked.
        tell: is told how many files were looked at.

    Returns:
        files, indexed (anew), bytes (read), size (of the index), seconds.

    Raises:
        OSError: the index cannot be written.
    """
    path, begun = index_path(jail.settings), time.monotonic()
    policy = repr((VERSION, sorted(jail.settings.sensitive)))
    with grams.reading(path) as old:
        fit = old is not None and old.fact("policy") == policy
        former = {k: marshal.loads(v) for k, v in old.all_stamps().items()} if old is not None and fit else {}
        last = int(old.fact("last") or 0) if old is not None and fit else 0
    if last and sum(map(len, former.values())) < last * WASTE:
        fit = False
    builder = _Builder(jail, rules, former if fit else {}, last if fit else 0, tell)
    with grams.writing(path, anew=not fit) as index:
        builder.run(index)
        index.set_fact("policy", policy)
        index.set_fact("last", str(builder.last))
    return {
        "files": builder.files, "indexed": builder.indexed, "bytes": builder.bytes, "size": os.path.getsize(path),
        "seconds": round(time.monotonic() - begun, 2),
    }  # fmt: skip


VERSION = 1  # of what is indexed


class _Builder:
    """One building."""

    def __init__(
        self, jail: Jail, rules: Rules, former: dict[str, dict[str, Stamp]], last: int, tell: Callable[[int], None]
    ) -> None:
        self.files = self.indexed = self.bytes = 0
        self.last = last
        self._jail, self._former, self._tell = jail, former, tell
        self._lister = Lister(jail.settings.root, rules)
        self._secrets = Secrets(jail, rules.expired)
        self._sieve = Sieve(())

    def run(self, index: grams.Grams) -> None:
        """Go through the workspace."""
        root = self._jail.settings.root
        chain = Chain(root)
        pending = [(root, self._lister.scope_above(root))]
        met = set()
        try:
            while pending:
                folder, above = pending.pop()
                try:
                    fd = chain.open(folder)
                except OSError:  # gone or closed to us: then it is searched without the index
                    continue
                listed = self._lister.listed(folder, above, fd)
                names = sorted(entry.name for entry in listed.files)
                met.add(folder)
                self._folder(index, folder, fd, names)
                prefix = folder if folder.endswith("/") else folder + "/"
                pending += sorted(((prefix + e.name, listed.scope) for e in listed.dirs), key=_path, reverse=True)
        finally:
            chain.close()
        for folder in set(self._former) - met:
            index.forget(folder)

    def _folder(self, index: grams.Grams, folder: str, fd: int, names: list[str]) -> None:
        former = self._former.get(folder, {})
        secret = self._secrets.among(names)
        stamps: dict[str, Stamp] = {}
        for name in names:
            if name not in secret:
                stamp = self._file(index, fd, name, former.get(name))
                if stamp is not None:
                    stamps[name] = stamp
        self.files += len(names)
        self._tell(self.files)
        if stamps != former:
            index.set_stamps(folder, marshal.dumps(stamps))

    def _file(self, index: grams.Grams, folder: int, name: str, former: Stamp | None) -> Stamp | None:
        """The stamp of a file that is indexed; None for one that is always read."""
        try:
            fd = os.open(name, FLAGS, dir_fd=folder)
        except OSError:  # the search will meet the same, and count it
            return None
        try:
            at = time.time_ns()
            found = os.fstat(fd)
            look = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
            if former is not None and former[:4] == look:
                return former
            text = self._sieve.plain(fd, found) if found.st_size <= LARGEST else None
        except OSError:
            return None
        finally:
            os.close(fd)
        if text is None or max(look[:2]) + RACY_NS >= at:
            return None
        self.last += 1
        self.indexed += 1
        self.bytes += len(text)
        index.add(self.last, text.decode("latin-1"))  # only ASCII is looked up; the rest must not fail
        return (*look, self.last)


def _path(pair: tuple[str, object]) -> bytes:
    return os.fsencode(pair[0])


def indexes(store: str) -> Iterator[str]:
    """The files of all indexes in a store."""
    folder = os.path.join(store, "search")
    if os.path.isdir(folder):
        yield from (os.path.join(folder, name) for name in sorted(os.listdir(folder)))
