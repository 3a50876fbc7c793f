"""The watched trees of this process: built in the background, kept up to date by the searches that use them."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from agenvoy.catalog import grams
from agenvoy.disk.folders import Rules
from agenvoy.disk.jail import Jail
from agenvoy.disk.watching import NoRoom
from agenvoy.workspace.live import Folder, Stale, Tree

_TREES = 2  # workspaces (or ways to walk them) that are watched at once


class Trees:
    """The trees of this process, the one used last at the end. Safe to be used by several threads."""

    def __init__(self, most: int = _TREES) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._trees: OrderedDict[object, Tree] = OrderedDict()
        self._asked: set[object] = set()
        self._hopeless: set[object] = set()
        self._building: threading.Thread | None = None
        self._ending = False

    def plan(
        self, jail: Jail, rules: Rules, index: str, top: str, texts: tuple[str, ...]
    ) -> tuple[dict[str, list[str]], list[tuple[str, Folder]]] | None:
        """What a search has to read, and the folders it goes through; None where it has to look for itself.

        From the second search of a workspace on a tree is built in the background for those that follow.

        Args:
            jail, rules, index: see `Tree`.
            top: the folder that is searched.
            texts: see `Known`.
        """
        key = (jail.settings.root, index, rules.hidden, rules.ignored, rules.excludes, rules.never, rules.top,
               jail.settings.sensitive)  # fmt: skip
        if not self._lock.acquire(blocking=False):
            return None
        try:
            tree = self._trees.get(key)
            if tree is not None:
                self._trees.move_to_end(key)
                try:
                    with grams.reading(index) as known:
                        if known is None:
                            raise Stale
                        tree.update(known)
                        files = tree.to_read(top, known.holding(texts))
                    return None if files is None else (files, list(tree.below(top)))
                except NoRoom:
                    self._hopeless.add(key)
                    self._forget(key)
                except (Stale, OSError, ValueError, EOFError, TypeError):  # the index may be damaged
                    self._forget(key)
            if key in self._asked and key not in self._hopeless:
                self._prepare(key, jail, rules, index)
            self._asked.add(key)
            return None
        finally:
            self._lock.release()

    def _forget(self, key: object) -> None:
        self._trees.pop(key).close()

    def _prepare(self, key: object, jail: Jail, rules: Rules, index: str) -> None:
        if self._building is not None and self._building.is_alive():
            return
        self._building = threading.Thread(target=self._build, args=(key, jail, rules, index), daemon=True)
        self._building.start()

    def _build(self, key: object, jail: Jail, rules: Rules, index: str) -> None:
        try:
            tree = Tree(jail, rules, index, self._pausing)
        except NoRoom:
            self._hopeless.add(key)
            return
        except (Stale, OSError, ValueError, EOFError, TypeError):  # searches look for themselves, as before
            return
        with self._lock:
            if self._ending:
                tree.close()
                return
            self._trees[key] = tree
            while len(self._trees) > self._most:
                self._trees.popitem(last=False)[1].close()

    def _pausing(self) -> bool:
        time.sleep(0)  # whoever waits for the interpreter goes first
        return self._ending

    def settle(self) -> None:
        """Wait until a tree that is being built is there."""
        if self._building is not None:
            self._building.join()

    def close(self) -> None:
        """Forget all trees."""
        self._ending = True
        self.settle()
        with self._lock:
            while self._trees:
                self._trees.popitem()[1].close()
            self._asked.clear()
            self._hopeless.clear()
            self._ending = False
