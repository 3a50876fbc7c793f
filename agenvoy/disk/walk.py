"""A walk over a folder in byte order of paths that obeys ignore files, tells what it left out, and opens no file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from agenvoy.disk.folders import Lister, OutOfTime, Rules
from agenvoy.disk.ignores import Scope

__all__ = ["Entry", "EntryKind", "OutOfTime", "Rules", "Walk"]

EntryKind = Literal["file", "dir", "link", "other"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a folder.

    Args:
        path: absolute, below the walked folder.
        kind: file, dir, link (never followed), or other: a device, FIFO or socket, which is never opened.
    """

    path: str
    kind: EntryKind


class Walk:
    """One walk; iterate it once, then `skipped` tells by reason how many entries were left out.

    Reasons: see `Lister`. Iterating raises `OutOfTime` when `rules.expired` says so.
    """

    def __init__(self, folder: str, rules: Rules) -> None:
        self.folder = folder
        self.rules = rules
        self._lister = Lister(folder, rules)
        self.skipped = self._lister.skipped

    def __iter__(self) -> Iterator[Entry]:
        pending: list[tuple[bytes, EntryKind, str, Scope | None]] = []
        pending += self._children(self.folder, self._lister.scope_above(self.folder))
        while pending:
            _, kind, path, scope = pending.pop()
            yield Entry(path, kind)
            if kind == "dir" and self.rules.recursive:
                pending += self._children(path, scope)

    def _children(self, folder: str, above: Scope | None) -> list[tuple[bytes, EntryKind, str, Scope | None]]:
        """What stays of a folder, the last in the byte order of the paths below it first."""
        listed = self._lister.listed(folder, above)
        scope = listed.scope
        found: list[tuple[bytes, EntryKind, str, Scope | None]] = []
        found += ((os.fsencode(e.name), "file", e.path, None) for e in listed.files)
        found += ((os.fsencode(e.name + "/"), "dir", e.path, scope) for e in listed.dirs)
        found += ((os.fsencode(e.name), "link", e.path, None) for e in listed.links)
        found += ((os.fsencode(e.name), "other", e.path, None) for e in listed.others)
        found.sort(key=_order, reverse=True)
        return found


def _order(child: tuple[bytes, EntryKind, str, Scope | None]) -> bytes:
    return child[0]
