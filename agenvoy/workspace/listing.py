"""The list and the glob of find_files: entries of folders, files by name."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from agenvoy.disk.folders import Listed, Lister, OutOfTime, Rules
from agenvoy.disk.glob import Glob
from agenvoy.disk.jail import Jail, Place
from agenvoy.disk.names import is_utf8
from agenvoy.workspace.grep import named_outright, names_of

ROW_COST = 64  # bytes that a row of list or glob takes beside its path: size, time, marks


def with_names(rules: Rules, globs: Iterable[Glob | None]) -> Rules:
    """The rules, but files whose bare name is a pattern without wildcards are kept though hidden or ignored."""
    return replace(rules, named=frozenset(names_of(globs)).__contains__)


class Listing:
    """Entries of folders and files by name, each once."""

    def __init__(self, jail: Jail, rules: Rules) -> None:
        self.jail = jail
        self.rules = rules
        self.skipped: Counter[str] = Counter()
        self.complete = True

    def list(self, places: Sequence[Place], recursive: Sequence[bool]) -> dict[str, Any]:
        """Everything in the folders, in byte order of paths."""
        found: set[str] = set()
        for place, deep in zip(places, recursive, strict=True):
            if self._is_file(place):
                found.add(place.real)
            for listed in self._listings(place, replace(self.rules, recursive=deep)):
                for group in listed.groups():
                    found.update([entry.path for entry in group])
        # Characters sort as their UTF-8 does; only names that are not UTF-8 need to be looked at as bytes.
        plain = is_utf8("".join(found))
        return self._result(sorted(found, key=None if plain else os.fsencode), self._look)

    def glob(self, places: Sequence[Place], globs: Sequence[Glob]) -> dict[str, Any]:
        """Files and links whose path matches, newest first."""
        rules = with_names(self.rules, globs)
        found: dict[str, os.stat_result] = {}
        for place, glob in zip(places, globs, strict=True):
            paths = [named_outright(self.jail, place, glob, follow=False) or ""]
            cut = len(os.path.dirname(place.real) if self._is_file(place) else place.real.rstrip("/")) + 1
            if self._is_file(place) and glob.matches(place.real[cut:]):
                paths.append(place.real)
            for listed in self._listings(place, rules):
                paths += [e.path for e in listed.files if glob.matches(e.path[cut:])]
                paths += [e.path for e in listed.links if glob.matches(e.path[cut:]) and not os.path.isdir(e.path)]
            for path in filter(None, paths):
                status = self._look(path)
                if status is not None:
                    found.setdefault(path, status)
        paths = sorted(found, key=lambda p: (-found[p].st_mtime_ns, os.fsencode(p)))
        return self._result(paths, found.get)

    def _listings(self, place: Place, rules: Rules) -> Iterator[Listed]:
        """The listing of a folder and, where the rules say so, of every folder below; none of a file."""
        if self._is_file(place):
            return
        lister = Lister(place.real, rules)
        try:
            pending = [(place.real, lister.scope_above(place.real))]
            while pending:
                listed = lister.listed(*pending.pop())
                yield listed
                if rules.recursive:
                    pending += [(entry.path, listed.scope) for entry in listed.dirs]
        except OutOfTime:
            self.complete = False
        self.skipped.update(lister.skipped)

    @staticmethod
    def _is_file(place: Place) -> bool:
        return not os.path.isdir(place.real)

    def _look(self, path: str) -> os.stat_result | None:
        try:
            return os.lstat(path)
        except OSError:  # it went away since it was listed
            self.skipped["unreadable"] += 1
            return None

    def _result(self, paths: Sequence[str], look: Callable[[str], os.stat_result | None]) -> dict[str, Any]:
        """Rows up to the cap of the contract, and how many were dropped behind it."""
        rows: list[dict[str, Any]] = []
        room = self.jail.settings.list_bytes
        gone = 0
        for path in paths:
            status = look(path)
            if status is None:
                gone += 1
                continue
            row = _row(self.jail.shown(path), status)
            room -= len(json.dumps(row["path"], ensure_ascii=not row["path"].isprintable()).encode()) + ROW_COST
            if room < 0:
                break
            rows.append(row)
        return {
            "rows": rows,
            "dropped": len(paths) - len(rows) - gone,
            "complete": self.complete,
            "skipped": dict(sorted(self.skipped.items())),
        }


def _row(shown: str, status: os.stat_result) -> dict[str, Any]:
    from datetime import datetime

    kinds = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "dir"), (stat.S_ISLNK, "link"))
    kind = next((name for test, name in kinds if test(status.st_mode)), "other")
    modified = datetime.fromtimestamp(status.st_mtime).astimezone().isoformat(timespec="seconds")
    return {"path": shown, "kind": kind, "size": status.st_size, "modified_at": modified}
