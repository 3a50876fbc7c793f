"""Dying at a chosen moment: an action runs in a forked child that ends without any cleanup at its n-th write step.

What counts as a step: every step that the log reports, every change of the file system that Python itself reports
(audit events: rename, remove, mkdir, rmdir, chmod, symlink, opening for writing), every half-written block, and each
commit to history.db, just before and just after it.
"""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from world import World

from agenvoy.catalog import Catalog
from agenvoy.workspace.service import Service

DIED, DONE, FAILED = 77, 78, 79
_EVENTS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.symlink", "os.truncate", "os.setxattr"}


class Counter:
    """Ends the process at step number `last`."""

    def __init__(self, last: int) -> None:
        self.last, self.seen = last, 0

    def __call__(self, name: str = "") -> None:
        self.seen += 1
        if self.seen == self.last:
            os._exit(DIED)

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        writing = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR)
        if event in _EVENTS or (writing and not str(args[0]).startswith("/proc")):
            self()


class DyingConnection:
    """A connection that counts commits as two steps: before and after."""

    def __init__(self, connection: Any, counter: Counter) -> None:
        self._connection, self._counter = connection, counter

    def execute(self, sql: str, *args: Any) -> Any:
        if sql != "COMMIT":
            return self._connection.execute(sql, *args)
        self._counter()
        result = self._connection.execute(sql)
        self._counter()
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


def _count_commits(counter: Counter) -> None:
    connect = Catalog._connect
    Catalog._connect = lambda self: DyingConnection(connect(self), counter)  # type: ignore[method-assign,assignment]


def _half_writes(counter: Counter) -> None:
    whole = os.write

    def write(fd: int, data: bytes) -> int:
        if counter.seen + 1 == counter.last:
            whole(fd, bytes(data)[: len(data) // 2])
        counter()
        return whole(fd, data)

    os.write = write


def die_at(world: World, action: Callable[[Service], object], last: int) -> bool:
    """Run an action that dies at step `last`; False where it came to its end before."""
    child = os.fork()
    if child == 0:
        code = FAILED
        try:
            counter = Counter(last)
            _count_commits(counter)
            _half_writes(counter)
            sys.addaudithook(counter.audit)
            action(world.service(step=counter))
            code = DONE
        except BaseException as error:  # noqa: BLE001  told to the parent, then the child is gone
            os.write(2, f"{error!r}\n".encode())
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (DIED, DONE), f"the action failed in the child: {code}"
    return code == DIED


class Stage:
    """A prepared workspace and store that can be set again and again, at the same place."""

    def __init__(self, top: Path, prepare: Callable[[World, Service], None]) -> None:
        self.top, self.kept = top / "stage", top / "kept"
        world = World(self.top)
        service = world.service(inline_blob=64 * 1024)
        prepare(world, service)
        world.close()
        self.now = world.now
        subprocess.run(["cp", "-a", str(self.top), str(self.kept)], check=True)

    def as_it_is(self, name: str) -> Stage:
        """A stage whose start is what lies there now."""
        other = copy.copy(self)
        other.kept = self.top.parent / name
        subprocess.run(["cp", "-a", str(self.top), str(other.kept)], check=True)
        return other

    def set(self) -> World:
        """The stage as it was prepared; hard links and modes included."""
        subprocess.run(["chmod", "-R", "u+rwX", str(self.top)], check=False)
        shutil.rmtree(self.top)
        subprocess.run(["cp", "-a", str(self.kept), str(self.top)], check=True)
        world = World(self.top)
        world.now = self.now
        return world
