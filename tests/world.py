"""A workspace with a home beside it, services on it, and exact pictures of its files: for tests of the core."""

from __future__ import annotations

import itertools
import os
import stat
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenvoy.config import Settings
from agenvoy.errors import AgenvoyError
from agenvoy.types import Confirm, Outcome
from agenvoy.workspace.service import Service

START = 1_800_000_000_000_000_000  # a moment in 2027, epoch nanoseconds
Picture = dict[str, tuple[object, ...]]


class World:
    """One workspace folder and one home; clock and ids are counted, not read."""

    def __init__(self, top: Path) -> None:
        self.root, self.home = top / "root", top / "home"
        self.root.mkdir(parents=True, exist_ok=True)
        self.now = START
        self._ids = itertools.count(1)
        self._open: list[Service] = []

    def tick(self) -> int:
        """A clock that moves by a second at each look."""
        self.now += 1_000_000_000
        return self.now

    def settings(self, **more: Any) -> Settings:
        given = {"root": str(self.root), "home": str(self.home), "assume_yes": True, "busy_s": 20.0, **more}
        return Settings(**given)

    def service(
        self,
        *,
        step: Callable[[str], None] | None = None,
        clock: Callable[[], int] | None = None,
        confirm: Confirm | None = None,
        **settings: Any,
    ) -> Service:
        made = Service(
            self.settings(**settings),
            clock=clock or self.tick,
            new_id=lambda: f"task{os.getpid()}-{next(self._ids)}",
            confirm=confirm,
            step=step,
        )
        self._open.append(made)
        return made

    def close(self) -> None:
        for service in self._open:
            service.close()
        self._open.clear()

    def put(self, name: str, content: str | bytes, mode: int = 0o644) -> Path:
        """A file, made as a person would."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        path.chmod(mode)
        return path

    def picture(self) -> Picture:
        """Everything below the root: kind, mode, bytes or link target, names of the inode, extended attributes."""
        return picture(self.root)

    def leftovers(self) -> list[str]:
        """Temporary files in the workspace."""
        return [p for p in self.picture() if os.path.basename(p).startswith(".agenvoy")]


def picture(root: Path) -> Picture:
    """See `World.picture`; keys are relative paths."""
    found: Picture = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            found[os.path.relpath(path, root)] = _one(path)
    return found


def _one(path: str) -> tuple[object, ...]:
    info = os.lstat(path)
    if stat.S_ISLNK(info.st_mode):
        return ("link", os.readlink(path))
    if stat.S_ISDIR(info.st_mode):
        return ("dir", stat.S_IMODE(info.st_mode))
    names = os.listxattr(path) if hasattr(os, "listxattr") else []
    attributes = tuple((n, os.getxattr(path, n)) for n in sorted(names) if n.startswith("user."))
    return ("file", stat.S_IMODE(info.st_mode), Path(path).read_bytes(), info.st_nlink, attributes)


def read(service: Service, *names: str) -> Outcome:
    """Read files, so that they may be overwritten."""
    return service.read_files([{"path": name} for name in names])


def write(service: Service, name: str, content: str) -> dict[str, Any]:
    """Read a file where it is there, then write it; gives the result."""
    if os.path.lexists(os.path.join(service.settings.root, name)):
        read(service, name)
    return service.edit_file(name, content=content).result


def patch(service: Service, name: str, old: str, new: str) -> dict[str, Any]:
    """Read a file, then replace one place."""
    read(service, name)
    return service.edit_file(name, targets=[{"old_string": old, "new_string": new}]).result


def history(service: Service, name: str | None = None) -> list[dict[str, Any]]:
    """All rows of a path (or of the workspace), oldest first."""
    rows: list[dict[str, Any]] = []
    before: int | None = None
    while True:
        page = service.file_history(path=name, before_version=before).result
        rows += page["rows"]
        before = page["next"]
        if before is None:
            return rows[::-1]


def actions(service: Service, name: str) -> list[str]:
    """The actions of a path's rows, oldest first."""
    return [row["action"] for row in history(service, name)]


def outcomes(outcome: Outcome) -> dict[str, str]:
    """What a rollback did with each path."""
    return {change["path"]: change["outcome"] for change in outcome.result["changes"]}


def refused(verb: Callable[..., Outcome], *args: Any, **kwargs: Any) -> AgenvoyError:
    """The error of a call that must fail, which has a hint."""
    with pytest.raises(AgenvoyError) as caught:
        verb(*args, **kwargs)
    assert caught.value.hint
    return caught.value


def attempt(call: Callable[[], object]) -> str | None:
    """Make a call that may be refused; gives the code of the refusal, None where it was done."""
    try:
        call()
    except AgenvoyError as error:
        return error.code
    return None


def sound(service: Service) -> None:
    """The store says of itself that everything is as it was written."""
    assert service.verify().result["findings"] == []


def stored(service: Service) -> bytes:
    """Every byte of the store."""
    found = b""
    for folder, _, names in os.walk(service.settings.store):
        found += b"".join(Path(folder, name).read_bytes() for name in names)
    return found


def as_ordinary_user(act: Callable[[World], None]) -> None:
    """Do something on a world of an ordinary user; where tests run as root, in a child that is none."""
    if os.geteuid() != 0:
        with tempfile.TemporaryDirectory() as top:
            act(World(Path(top).resolve()))
        return
    with tempfile.TemporaryDirectory() as warm:
        act(World(Path(warm).resolve()))  # what is imported late may lie where only root can read
    with tempfile.TemporaryDirectory() as top:
        os.chown(top, 65534, 65534)
        child = os.fork()
        if child == 0:
            done = 1
            try:
                os.setgid(65534)
                os.setuid(65534)
                act(World(Path(top).resolve()))
                done = 0
            finally:
                traceback.print_exc()
                os._exit(done)
        assert os.waitpid(child, 0)[1] == 0
