"""Which files of a search are sensitive: by name, or as another hard link of a file with such a name."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Sequence

from agenvoy.disk.ignores import triggers
from agenvoy.disk.jail import Jail
from agenvoy.disk.walk import OutOfTime, Rules, Walk


class Secrets:
    """Judges many files quickly; `Settings.is_sensitive` has the last word on names."""

    def __init__(self, jail: Jail, expired: Callable[[], bool]) -> None:
        self._jail = jail
        self._expired = expired
        rules = "|".join(fnmatch.translate(p.casefold()) for p in jail.settings.sensitive)
        self._maybe = re.compile(rules or r"(?!)").match
        self._triggers = triggers(p.casefold() for p in jail.settings.sensitive)
        self._inodes: set[tuple[int, int]] | None = None

    def named(self, path: str) -> bool:
        """Whether the file's own name is a sensitive one."""
        return self._maybe(os.path.basename(path).casefold()) is not None and self._jail.settings.is_sensitive(path)

    def among(self, names: Sequence[str]) -> set[str]:
        """Those of a folder's file names that are sensitive; a few looks for all of them together."""
        folded = [name.casefold() for name in names]
        maybe = set(self._triggers.pick(folded))
        if not maybe:
            return set()
        return {n for n, f in zip(names, folded, strict=True) if f in maybe and self._jail.settings.is_sensitive(n)}

    def linked(self, status: os.stat_result) -> bool:
        """Whether a file has another name that is sensitive.

        Only files with several links are asked about; then the roots are gone through once. Where the time ends
        before that, every such file counts as sensitive.
        """
        if status.st_nlink < 2:
            return False
        if self._inodes is None:
            try:
                self._inodes = self._sweep()
            except OutOfTime:
                return True
        return (status.st_dev, status.st_ino) in self._inodes

    def _sweep(self) -> set[tuple[int, int]]:
        rules = Rules(hidden=True, ignored=True, never=(self._jail.store,), expired=self._expired)
        found = set()
        for root in self._jail.settings.roots:
            for entry in Walk(root, rules):
                if entry.kind == "file" and self.named(entry.path):
                    status = os.lstat(entry.path)
                    found.add((status.st_dev, status.st_ino))
        return found
