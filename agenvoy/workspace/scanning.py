"""Folders searched one by one, in this process or in a worker: most files are read once and done with.

A file that cannot hold a match is told by its raw bytes; only the others are decoded, and whatever is out of the
ordinary (several links, a NUL, another kind, more than some MiB) goes through `looking.look`, which is the judge.
"""

from __future__ import annotations

import functools
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from agenvoy.config import Settings
from agenvoy.disk.folders import Lister, OutOfTime, Rules
from agenvoy.disk.glob import compile_glob
from agenvoy.disk.ignores import Scope
from agenvoy.disk.jail import Jail
from agenvoy.search.matcher import Matcher
from agenvoy.search.pages import Page
from agenvoy.search.searcher import Found, Piece, Wanted, search, tally
from agenvoy.workspace.indexing import Known, texts_of
from agenvoy.workspace.looking import Ask, Options, literals_of, look
from agenvoy.workspace.secrets import Secrets
from agenvoy.workspace.sieve import RULED_OUT, Sieve
from agenvoy.workspace.sources import FLAGS, Chain, NotText, Opener, text_of

Hit = tuple[str, int, list[int]]
"""A file with matches: its path, how many rows, the first row numbers."""

_CHECK = 32  # files between two looks at the clock
_BIG = 1 << 20  # bytes; after a file that is larger the clock is looked at
_NONE = Wanted()


class Scanner:
    """Searches the folders of one query.

    Args:
        jail: as for `look`.
        asks: they share one folder, which is where the walk begins.
        options: of the search; `skipped` is counted here.

    `matchers` are the patterns, each once; `hits` the files with matches so far, in no order; `stopped` is the file at
    which the time ran out, if so.
    """

    def __init__(self, jail: Jail, asks: Sequence[Ask], options: Options) -> None:
        self.jail = jail
        self.asks = asks
        self.options = options
        self.top = asks[0].place.real
        self.hits: list[Hit] = []
        self.stopped: str | None = None
        self.matchers = list(dict.fromkeys(ask.matcher for ask in asks))
        self._globs = any(ask.glob is not None for ask in asks)
        self._lister = Lister(self.top, options.rules)
        self._secrets = Secrets(jail, options.expired)
        self._chain = Chain(asks[0].place.root)
        self._opener = Opener(jail)
        self._sieves: dict[tuple[bytes, ...], Sieve] = {}
        self._known: dict[tuple[str, ...], Known] = {}
        self._cut = len(self.top.rstrip("/")) + 1

    def close(self) -> None:
        """Close what is open."""
        self._chain.close()
        self._opener.close()
        for known in self._known.values():
            known.close()
        self._known.clear()

    def take_skipped(self) -> Counter[str]:
        """What was left out since this was asked last, by reason."""
        found = self.options.skipped + self._lister.skipped
        self.options.skipped.clear()
        self._lister.skipped.clear()
        return found

    def scope_above(self, folder: str) -> Scope | None:
        """See `Lister`."""
        return self._lister.scope_above(folder)

    def folder(self, folder: str, above: Scope | None) -> list[tuple[str, Scope | None]]:
        """Search the files of a folder; gives its subfolders, with the scope for each.

        Raises:
            OutOfTime: before anything in it was searched.
        """
        try:
            fd = self._chain.open(folder)
        except OSError:
            self.options.skipped["unreadable"] += 1
            return []
        listed = self._lister.listed(folder, above, fd)
        prefix = _prefix(folder)
        self.count(prefix, "link", [entry.name for entry in listed.links])
        self.count(prefix, "special", [entry.name for entry in listed.others])
        for matchers, wanted in self._by_wish(prefix, [entry.name for entry in listed.files]).items():
            names = self._public(wanted)
            known = self._index(matchers) if self.options.index else None
            if known is not None:
                names = known.unknown(folder, fd, names)
            self._files(fd, prefix, names, matchers)
        return [(prefix + entry.name, listed.scope) for entry in listed.dirs]

    def only(self, folder: str, names: Sequence[str]) -> None:
        """Search some files of a folder; the caller knows that they are to be searched, and that the others are not."""
        prefix = _prefix(folder)
        try:
            fd = self._chain.open(folder)
        except OSError:  # it went just now
            self.options.skipped["unreadable"] += 1
            return
        for matchers, wanted in self._by_wish(prefix, names).items():
            self._files(fd, prefix, wanted, matchers)

    def count(self, prefix: str, reason: str, names: Sequence[str]) -> None:
        """Count entries that are left out, as far as a query asks for them.

        Args:
            prefix: their folder, with a slash at its end.
            reason: as `skipped` has it.
            names: of the entries.
        """
        if names:
            wanted = sum(bool(self._wanting(prefix + name)) for name in names) if self._globs else len(names)
            self.options.skipped[reason] += wanted

    def _by_wish(self, prefix: str, names: Sequence[str]) -> dict[tuple[Matcher, ...], list[str]]:
        """Names by the patterns that are meant for them."""
        if not self._globs:
            return {tuple(self.matchers): list(names)}
        found: dict[tuple[Matcher, ...], list[str]] = {}
        for name in names:
            found.setdefault(self._wanting(prefix + name), []).append(name)
        found.pop((), None)
        return found

    def _wanting(self, path: str) -> tuple[Matcher, ...]:
        """The patterns that are meant for a file."""
        relative = path[self._cut :]
        found = (a.matcher for a in self.asks if a.glob is None or a.glob.matches(relative))
        return tuple(dict.fromkeys(found))

    def _public(self, names: list[str]) -> list[str]:
        secret = self._secrets.among(names)
        self.options.skipped["sensitive"] += len(secret)
        return [name for name in names if name not in secret] if secret else names

    def _files(self, folder: int, prefix: str, names: list[str], matchers: Sequence[Matcher]) -> None:
        """Search files of one folder."""
        sieve = self._sieve(literals_of(matchers))
        expired, skipped = self.options.expired, self.options.skipped
        open_, fstat, close = os.open, os.fstat, os.close
        if len(names) > _CHECK:
            # So that a search cut short has found the first ones; characters sort as their UTF-8 does.
            names = sorted(names, key=None if "".join(names).isascii() else os.fsencode)
        single = matchers[0] if len(matchers) == 1 and not self.options.multiline else None
        big = False
        for number, name in enumerate(names):
            if (number % _CHECK == 0 or big) and expired():
                self._stop(prefix + name)
                return
            try:
                fd = open_(name, FLAGS, dir_fd=folder)
            except OSError:
                skipped["unreadable"] += 1
                continue
            try:
                size = sieve.read(fd, fstat(fd))
            except OSError:
                skipped["unreadable"] += 1
                continue
            finally:
                close(fd)
            if size == RULED_OUT:
                continue
            data = None if size < 0 else sieve.data(size)
            big = size < 0 or size > _BIG
            if single and data is not None and _is_plain(data) and single.find(data) is None:
                continue  # what the judge would say, without its steps
            if not self._note(prefix + name, self._found(prefix + name, data, matchers)):
                return

    def _index(self, matchers: Sequence[Matcher]) -> Known | None:
        texts = texts_of(matchers)
        if texts and texts not in self._known:
            self._known[texts] = Known(self.options.index, texts)
        return self._known[texts] if texts and self._known[texts].there else None

    def _sieve(self, literals: tuple[bytes, ...]) -> Sieve:
        if literals not in self._sieves:
            self._sieves[literals] = Sieve(literals)
        return self._sieves[literals]

    def _note(self, path: str, found: Found | None) -> bool:
        """Keep what a file gave; whether it was searched to its end."""
        if found is None:
            return True
        if not found.complete:
            self._stop(path)
        elif found.count:
            self.hits.append((path, found.count, found.lines))
        return found.complete

    def _stop(self, path: str) -> None:
        if self.stopped is None or os.fsencode(path) < os.fsencode(self.stopped):
            self.stopped = path

    def _found(self, path: str, data: bytes | None, matchers: Sequence[Matcher]) -> Found | None:
        """What a file holds; None where it is not searched, which is counted."""
        try:
            if data is not None and data.find(b"\0") < 0 and not self.options.multiline:
                with suppress(NotText):  # the judge says why
                    text = text_of(data)
                    if len(matchers) == 1:
                        return tally(text, matchers[0], self.options.expired)
                    return search([Piece(text)], matchers, _NONE, self.options.expired)
            return look(path, self.jail.shown(path), matchers, _NONE, self.options, self._opener, self._secrets)
        except NotText as why:
            self.options.skipped[str(why)] += 1
        except OSError:
            self.options.skipped["unreadable"] += 1
        return None


def _prefix(folder: str) -> str:
    return folder if folder.endswith("/") else folder + "/"


def _is_plain(data: bytes) -> bool:
    """Whether a file's bytes are its rows as they are."""
    return data.isascii() and b"\r" not in data and b"\0" not in data and not data.startswith(b"%PDF-")


def _order(below: tuple[str, Scope | None]) -> bytes:
    return os.fsencode(below[0] + "/")


_SETTINGS = ("root", "home", "allow", "within", "sensitive")


def spec_of(jail: Jail, asks: Sequence[Ask], options: Options, named: Sequence[str]) -> str:
    """Everything that a worker must be told of a search, as JSON.

    Args:
        jail, asks, options: see `Scanner`.
        named: names of files that are searched though hidden or ignored.
    """
    rules = options.rules
    place = asks[0].place
    body: dict[str, Any] = {
        "settings": {name: getattr(jail.settings, name) for name in _SETTINGS},
        "dir": place.real,
        "asks": [(a.matcher.pattern, a.glob.pattern if a.glob else None) for a in asks],
        "case_sensitive": asks[0].matcher.case_sensitive,
        "multiline": options.multiline,
        "rules": {name: getattr(rules, name) for name in ("hidden", "ignored", "never", "top", "excludes")},
        "named": list(named),
        "index": options.index,
        "until": time.monotonic() + options.left(),  # one clock for all processes of a machine
    }
    return json.dumps(body)


@functools.lru_cache(maxsize=1)
def _scanner(spec: str) -> tuple[Scanner, Callable[[], bool]]:
    body: Mapping[str, Any] = json.loads(spec)
    settings: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in body["settings"].items()}
    jail = Jail(Settings(**settings))
    place = jail.resolve(body["dir"])
    asks = [
        Ask(
            place,
            Matcher(pattern, multiline=body["multiline"], case_sensitive=body["case_sensitive"]),
            None if glob is None else compile_glob(glob, place.real),
        )
        for pattern, glob in body["asks"]
    ]
    until = float(body["until"])

    def expired() -> bool:
        return time.monotonic() > until

    rules = Rules(**body["rules"], named=frozenset(body["named"]).__contains__, expired=expired)
    options = Options("files", body["multiline"], 0, rules, Page(0, 1), expired, index=body["index"])
    return Scanner(jail, asks, options), expired


def work(fd: int | None, arguments: Mapping[str, Any], tell: object) -> tuple[dict[str, Any], bytes]:
    """A worker's job: search folders and what lies below them for a while.

    Args:
        fd: nothing.
        arguments: `spec` (see `spec_of`), `folders`, `seconds`; or `only`, pairs of a folder and the files in it
            that are to be searched.
        tell: is told nothing.

    Returns:
        `hits`, `skipped`, `left` (folders that are still to be searched), `stopped` (a file, where the time ran out).
    """
    scanner, expired = _scanner(arguments["spec"])
    end = time.monotonic() + arguments.get("seconds", 0.0)
    pending = [(folder, scanner.scope_above(folder)) for folder in reversed(arguments.get("folders", ()))]
    if "only" in arguments:
        for folder, names in arguments["only"]:
            if scanner.stopped is None and not expired():
                scanner.only(folder, names)
            elif scanner.stopped is None:
                scanner.stopped = folder
    try:
        while pending and time.monotonic() < end and scanner.stopped is None and not expired():
            folder, scope = pending[-1]
            below = scanner.folder(folder, scope)
            pending.pop()
            pending.extend(sorted(below, key=_order, reverse=True))
    except OutOfTime:
        scanner.stopped = scanner.stopped or pending[-1][0]
    answer = {
        "hits": scanner.hits,
        "skipped": scanner.take_skipped(),
        "left": [folder for folder, _ in pending],
        "stopped": scanner.stopped,
    }
    scanner.hits, scanner.stopped = [], None
    return answer, b""
