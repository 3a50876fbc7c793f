"""A whole folder searched: this process goes through it in the order of paths, and workers help where it is large."""

from __future__ import annotations

import heapq
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from agenvoy.disk.folders import OutOfTime
from agenvoy.disk.ignores import Scope
from agenvoy.disk.jail import Jail
from agenvoy.workers.crew import Crew, processors
from agenvoy.workspace.indexing import texts_of
from agenvoy.workspace.looking import Ask, Options
from agenvoy.workspace.scanning import Hit, Scanner, spec_of
from agenvoy.workspace.trees import Trees

WORTH_S = 0.02  # seconds of search after which workers are started; what is done by then is not worth them
PART_S = 0.02  # seconds a worker searches before it gives back what is left: so long others may wait for work
PART_FOLDERS = 16
_MOST = 8  # workers; beyond that they wait for the disk and for each other

trees = Trees()
_crew = Crew("agenvoy.workspace.scanning:work", min(processors() - 1, _MOST))


class Sweep:
    """One search below one folder.

    Args:
        jail, asks, options: see `Scanner`.
        named: names of files that are searched though hidden or ignored.
        order: the sorting key of paths in the answer.
        tell: is told how many folders are done.

    Where `options.watch` is set and a tree of the workspace is watched (`live`), only files that may match are met.
    """

    def __init__(
        self, jail: Jail, asks: Sequence[Ask], options: Options, named: Sequence[str],
        order: Callable[[str], bytes], tell: Callable[[int], None],
    ) -> None:  # fmt: skip
        self._scanner = Scanner(jail, asks, options)
        self._options = options
        self._order = order
        self._tell = tell
        self._spec = spec_of(jail, asks, options, named)
        self._heap: list[tuple[bytes, str]] = []
        self._only: dict[str, list[str]] | None = None if named else self._plan(jail, options)
        self._stopped: list[str] = []
        self._done = 0

    def _plan(self, jail: Jail, options: Options) -> dict[str, list[str]] | None:
        """Per folder the files that are to be searched, where the watch knows them."""
        texts = texts_of(self._scanner.matchers) if options.watch and options.index else ()
        plan = trees.plan(jail, options.rules, options.index, self._scanner.top, texts) if texts else None
        if plan is None:
            return None
        files, folders = plan
        for folder, found in folders:
            options.skipped.update(found.skipped)
            prefix = folder.rstrip("/") + "/"
            for reason, names in (("link", found.links), ("special", found.others), ("sensitive", found.secret)):
                self._scanner.count(prefix, reason, names)
        return files

    def run(self) -> tuple[list[Hit], str | None]:
        """The files with matches in the order of paths, and where the time ran out: nothing ahead of it is missing."""
        self._push([self._scanner.top] if self._only is None else list(self._only))
        mine = _crew.most > 0 and _crew.take()
        try:
            self._work(_crew if mine else None)
        finally:
            if mine:
                _crew.release()
            self._scanner.close()
        self._options.skipped.update(self._scanner.take_skipped())
        hits = sorted(self._scanner.hits, key=lambda hit: self._order(hit[0]))
        left = [self._order(path) for path in self._stopped] + [key for key, _ in self._heap]
        if not left:
            return hits, None
        first = min(left)
        path = next((p for p in self._stopped if self._order(p) == first), None) or self._heap[0][1]
        return [hit for hit in hits if self._order(hit[0]) < first], path

    def _push(self, folders: Sequence[str]) -> None:
        for folder in folders:
            heapq.heappush(self._heap, (self._order(folder + "/"), folder))

    def _work(self, crew: Crew | None) -> None:
        self._until_done(crew)
        if crew:  # parts that are still out when the time is over count as not searched, whoever noticed it first
            self._stopped += [folder for part in crew.at_work for folder in part]

    def _until_done(self, crew: Crew | None) -> None:
        begun = time.monotonic()
        while (self._heap or (crew and crew.at_work)) and not self._stopped:
            if crew:
                if not crew.warm() and time.monotonic() - begun > WORTH_S and len(self._heap) >= PART_FOLDERS:
                    crew.hire()
                self._share(crew)
                for folders, answer in crew.answers(0.0 if self._heap else PART_S):
                    self._take(folders, answer)
            if self._options.expired():
                return
            if self._heap:
                self._one()

    def _one(self) -> None:
        """Search the first folder that waits."""
        _, folder = self._heap[0]
        scanner = self._scanner
        below: list[tuple[str, Scope | None]] = []
        try:
            if self._only is None:
                below = scanner.folder(folder, scanner.scope_above(folder))
            else:
                scanner.only(folder, self._only[folder])
        except OutOfTime:
            self._stopped.append(folder)
            return
        heapq.heappop(self._heap)
        self._push([path for path, _ in below])
        if scanner.stopped is not None:
            self._stopped.append(scanner.stopped)
        self._done += 1
        self._tell(self._done)

    def _share(self, crew: Crew) -> None:
        """Give each worker that has nothing to do its part of the next folders."""
        for worker in crew.free():
            count = min(PART_FOLDERS, len(self._heap) // (crew.most + 1))
            if count:
                part = [heapq.heappop(self._heap)[1] for _ in range(count)]
                what: dict[str, Any] = {"folders": part, "seconds": PART_S}
                if self._only is not None:
                    what = {"only": [(folder, self._only[folder]) for folder in part]}
                if not crew.give(worker, {"spec": self._spec, **what}, part):
                    self._push(part)

    def _take(self, folders: list[str], answer: dict[str, Any] | None) -> None:
        """A worker's answer; what a worker that died was to search goes back."""
        if answer is None:
            self._push(folders)
            return
        self._scanner.hits += [(path, count, lines) for path, count, lines in answer["hits"]]
        self._options.skipped.update(answer["skipped"])
        self._push(answer["left"])
        self._done += len(folders)
        if answer["stopped"] is not None:
            self._stopped.append(answer["stopped"])


def order_below(root: str) -> Callable[[str], bytes]:
    """The key by which paths are sorted: relative to the root where inside it."""
    prefix = root if root.endswith("/") else root + "/"
    cut = len(prefix)

    def order(path: str) -> bytes:
        return os.fsencode(path[cut:] if path.startswith(prefix) else path)

    return order
