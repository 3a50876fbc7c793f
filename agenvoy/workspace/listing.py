"""The list and the glob of find_files: entries of folders, files by name."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from agenvoy.disk.glob import Glob
from agenvoy.disk.jail import Jail, Place
from agenvoy.disk.walk import Entry, OutOfTime, Rules, Walk
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
        self.found: dict[str, os.stat_result] = {}
        self.complete = True

    def list(self, places: Sequence[Place], recursive: Sequence[bool]) -> dict[str, Any]:
        """Everything in the folders, in byte order of paths."""
        for place, deep in zip(places, recursive, strict=True):
            for entry in self._walk(place, replace(self.rules, recursive=deep)):
                self._add(entry.path)
        return self._result(sorted(self.found, key=os.fsencode))

    def glob(self, places: Sequence[Place], globs: Sequence[Glob]) -> dict[str, Any]:
        """Files and links whose path matches, newest first."""
        rules = with_names(self.rules, globs)
        for place, glob in zip(places, globs, strict=True):
            outright = named_outright(self.jail, place, glob, follow=False)
            if outright:
                self._add(outright)
            cut = len(os.path.dirname(place.real) if self._is_file(place) else place.real.rstrip("/")) + 1
            for entry in self._walk(place, rules):
                if glob.matches(entry.path[cut:]) and self._is_leaf(entry):
                    self._add(entry.path)
        return self._result(sorted(self.found, key=lambda p: (-self.found[p].st_mtime_ns, os.fsencode(p))))

    def _walk(self, place: Place, rules: Rules) -> Iterator[Entry]:
        if self._is_file(place):
            yield Entry(place.real, "file")
            return
        walk = Walk(place.real, rules)
        try:
            yield from walk
        except OutOfTime:
            self.complete = False
        self.skipped.update(walk.skipped)

    @staticmethod
    def _is_file(place: Place) -> bool:
        return not os.path.isdir(place.real)

    @staticmethod
    def _is_leaf(entry: Entry) -> bool:
        """A file, or a link that does not lead to a folder."""
        return entry.kind == "file" or (entry.kind == "link" and not os.path.isdir(entry.path))

    def _add(self, path: str) -> None:
        try:
            self.found.setdefault(path, os.lstat(path))
        except OSError:  # it went away since it was listed
            self.skipped["unreadable"] += 1

    def _result(self, paths: Sequence[str]) -> dict[str, Any]:
        """Rows up to the cap of the contract, and how many were dropped behind it."""
        rows: list[dict[str, Any]] = []
        room = self.jail.settings.list_bytes
        for path in paths:
            row = _row(self.jail.shown(path), self.found[path])
            room -= len(json.dumps(row["path"], ensure_ascii=not row["path"].isprintable()).encode()) + ROW_COST
            if room < 0:
                break
            rows.append(row)
        return {
            "rows": rows,
            "dropped": len(paths) - len(rows),
            "complete": self.complete,
            "skipped": dict(sorted(self.skipped.items())),
        }


def _row(shown: str, status: os.stat_result) -> dict[str, Any]:
    from datetime import datetime

    kinds = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "dir"), (stat.S_ISLNK, "link"))
    kind = next((name for test, name in kinds if test(status.st_mode)), "other")
    modified = datetime.fromtimestamp(status.st_mtime).astimezone().isoformat(timespec="seconds")
    return {"path": shown, "kind": kind, "size": status.st_size, "modified_at": modified}
