"""Tasks, people and outside programs change files in any order; whatever was promised about going back must hold.

`AGENVOY_STEPS=100000 pytest tests/property` runs that many steps instead of the default.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from world import Picture, World, attempt, history, outcomes, read, sound

from agenvoy.blobs.hashing import hash_bytes
from agenvoy.types import Outcome
from agenvoy.workspace.service import Service

STEPS = int(os.environ.get("AGENVOY_STEPS", "1500"))
LENGTH = 50  # most steps of one story; hypothesis ends some early, which makes 39 on average
TOP = "/dev/shm" if os.path.isdir("/dev/shm") else None  # many small syncs: the real disk has its own tests

NAMES = ("a.txt", "b.txt", "d/c.txt", "d/e/f.txt", "d/e")
names = st.sampled_from(NAMES)
actors = st.sampled_from(("ada", "bob", "eve"))
ways = st.sampled_from(("abort", "merge", "overwrite", "skip"))
REFUSALS = {
    "conflict", "not_found", "is_directory", "already_exists", "stale_read", "not_read", "no_change", "no_task",
    "not_available", "no_such_task", "no_such_version", "anchor_not_found", "anchor_ambiguous", "would_empty",
}  # fmt: skip


class Rollback(RuleBasedStateMachine):
    """Every tool call is checked: refused and nothing changed, or done as it says."""

    def __init__(self) -> None:
        super().__init__()
        self.top = tempfile.mkdtemp(prefix="agenvoy-story-", dir=TOP)
        self.world = World(Path(self.top))
        self.services: dict[str, Service] = {a: self.world.service(actor=a) for a in ("ada", "bob", "eve")}
        self.count = 0
        self.overwritten: set[tuple[str, bytes]] = set()  # what was on disk when a tool changed it
        self.firsts: dict[str, dict[str, object]] = {}  # task → path → what it found there first
        self.mixed: dict[str, set[str]] = {}  # task → paths that somebody else changed after its first touch

    @initialize()
    def begin(self) -> None:
        for name in NAMES[:4]:
            self.world.put(name, "".join(f"line {n}\n" for n in range(6)))
        for actor in self.services:
            self.task(actor)

    def teardown(self) -> None:
        service = self.services["ada"]
        kept = {(row["path"], row["hash"]) for row in history(service)}
        lost = [(p, data) for p, data in self.overwritten if (p, hash_bytes(data)) not in kept]
        assert not lost
        for _, data in self.overwritten:
            assert service.session.log.vault.read(hash_bytes(data)) == data
        sound(service)
        self.world.close()
        shutil.rmtree(self.top)

    # ---- bookkeeping
    def fresh(self) -> str:
        self.count += 1
        return f"text {self.count}"

    def running(self, actor: str) -> str:
        task = self.services[actor].session.running()
        assert task is not None
        return task.id

    def call(self, task: str | None, verb: Callable[..., Outcome], *args: Any, **more: Any) -> Outcome | None:
        """A tool call of a task (None: a rollback); gives None where it was refused, which must change nothing."""
        before = self.world.picture()
        done: list[Outcome] = []
        code = attempt(lambda: done.append(verb(*args, **more)))
        if code is None:
            self.note(before, task)
            return done[0]
        assert code in REFUSALS and self.world.picture() == before
        return None

    def note(self, before: Picture, task: str | None, *, tool: bool = True) -> None:
        after = self.world.picture()
        for path in {p for p in before | after if _plain(before.get(p)) != _plain(after.get(p))}:
            old = before.get(path)
            if tool and old is not None and old[0] == "file":
                self.overwritten.add((path, old[2]))  # type: ignore[arg-type]
            for other, first in self.firsts.items():
                if other == task:
                    first.setdefault(path, _plain(old))
                elif path in first:
                    self.mixed[other].add(path)

    # ---- tasks
    @rule(actor=actors)
    def task(self, actor: str) -> None:
        task = self.services[actor].begin_task(self.fresh()).result["task_id"]
        self.firsts[task], self.mixed[task] = {}, set()

    # ---- tools
    @rule(actor=actors, name=names)
    def write(self, actor: str, name: str) -> None:
        service = self.services[actor]
        if (self.world.root / name).is_file():
            read(service, name)
        self.call(self.running(actor), service.edit_file, name, content="".join(f"{self.fresh()}\n" for _ in range(5)))

    @rule(actor=actors, name=names, at=st.integers(0, 5), look=st.booleans())
    def patch(self, actor: str, name: str, at: int, look: bool) -> None:
        service, path = self.services[actor], self.world.root / name
        lines = path.read_text().splitlines(keepends=True) if path.is_file() else []
        if len(lines) > at:
            if look:
                read(service, name)
            target = {"old_string": lines[at], "new_string": f"{self.fresh()}\n"}
            self.call(self.running(actor), service.edit_file, name, targets=[target])

    @rule(actor=actors, at=st.integers(0, 5))
    def patch_what_everybody_patches(self, actor: str, at: int) -> None:
        self.patch(actor, "a.txt", at, True)

    @rule(actor=actors, name=names)
    def remove(self, actor: str, name: str) -> None:
        if os.path.lexists(self.world.root / name):
            self.call(self.running(actor), self.services[actor].remove_file, name)

    @rule(actor=actors, often=st.integers(0, 5))
    def remove_folder(self, actor: str, often: int) -> None:
        if often == 0:
            self.call(self.running(actor), self.services[actor].remove_tree, "d")

    @rule(actor=actors, name=names, to=st.sampled_from((*NAMES, "new/way/m.txt", "n.txt")))
    def move(self, actor: str, name: str, to: str) -> None:
        if (self.world.root / name).is_file():
            self.call(self.running(actor), self.services[actor].move_file, name, to)

    # ---- somebody else
    @rule(name=names, what=st.sampled_from(("write", "append", "insert", "mode", "note", "remove", "link", "folder")))
    def outside(self, name: str, what: str) -> None:
        before = self.world.picture()
        path = self.world.root / name
        if not path.parent.is_dir() or path.parent.is_symlink():
            return
        _outside(path, what, self.fresh())
        self.note(before, None, tool=False)

    # ---- going back
    @rule(actor=actors, pick=st.integers(0, 20), way=ways, only=st.one_of(st.none(), names))
    def restore_task(self, actor: str, pick: int, way: str, only: str | None) -> None:
        service, task = self.services[actor], sorted(self.firsts)[pick % len(self.firsts)]
        wanted = {"task_id": task, "on_conflict": way} | ({"path": only} if only else {})
        by = self.running(actor)  # a rollback of another task is a change of the task that it is called in
        done = self.rollback(service, wanted, None if by == task else by)
        if done is None:
            assert only or self.mixed[task], "a task that nobody interfered with must go back"
            return
        if only is None and not self.mixed[task]:
            now = {p: _plain(v) for p, v in self.world.picture().items()}
            assert {p: now.get(p) for p in self.firsts[task]} == self.firsts[task]
        again = self.call(None, service.restore_file, **wanted)
        if again is not None and "skipped" not in outcomes(done).values():
            assert set(outcomes(again).values()) <= {"unchanged"}
        if only is None:
            self.firsts[task], self.mixed[task] = {}, set(NAMES)

    @rule(actor=actors, pick=st.integers(0, 10_000))
    def restore_version(self, actor: str, pick: int) -> None:
        service = self.services[actor]
        rows = history(service)
        if not rows:
            return
        row = rows[pick % len(rows)]
        if self.rollback(service, {"version": row["version"]}, self.running(actor)) is not None:
            now = self.world.picture().get(row["path"])
            assert (now[0] if now else "absent") == row["kind"]
            if row["kind"] == "file" and now is not None:
                assert (hash_bytes(now[2]), f"{now[1]:04o}") == (row["hash"], row["mode"])  # type: ignore[arg-type]

    def rollback(self, service: Service, wanted: dict[str, Any], task: str | None) -> Outcome | None:
        """The dry run says what the real one does."""
        before = self.world.picture()
        told = service.restore_file(**wanted, dry_run=True)
        assert self.world.picture() == before
        done = self.call(task, service.restore_file, **wanted, plan_id=told.result["plan_id"])
        if done is None:
            assert "conflict" in outcomes(told).values()
        else:
            assert done.result["changes"] == told.result["changes"]
        return done

    @rule(actor=actors, levels=st.integers(1, 3))
    def undo_and_redo(self, actor: str, levels: int) -> None:
        service, pictures = self.services[actor], [_all_plain(self.world)]
        for _ in range(levels):
            done = self.call(None, service.undo)
            if done is None or not done.result["changes"]:
                break
            pictures.append(_all_plain(self.world))
        for expected in reversed(pictures[:-1]):
            assert self.call(None, service.redo) is not None
            assert _all_plain(self.world) == expected

    @rule(actor=actors)
    def undo(self, actor: str) -> None:
        self.call(None, self.services[actor].undo)

    # ---- always
    @invariant()
    def nothing_of_ours_lies_about(self) -> None:
        assert self.world.leftovers() == []


def _plain(entry: tuple[object, ...] | None) -> object:
    """A state without what restores may change: how many names the inode has."""
    return (*entry[:3], *entry[4:]) if entry is not None else None


def _all_plain(world: World) -> dict[str, object]:
    return {path: _plain(entry) for path, entry in world.picture().items()}


def _outside(path: Path, what: str, text: str) -> None:
    plain = path.is_file() and not path.is_symlink()
    if what == "folder" and not os.path.lexists(path):
        path.mkdir()
    elif what == "append" and plain:
        path.write_text(path.read_text() + f"{text}\n")
    elif what == "insert" and plain:
        path.write_text(f"{text}\n" + path.read_text())
    elif what == "mode" and plain:
        path.chmod(0o600 if path.stat().st_mode & 0o077 else 0o755)
    elif what == "note" and plain:
        with contextlib.suppress(OSError, AttributeError):  # a system or file system without extended attributes
            os.setxattr(path, "user.note", text.encode())
    elif what == "remove" and (plain or path.is_symlink()):
        path.unlink()
    elif what == "link" and not path.is_dir():
        path.unlink(missing_ok=True)
        path.symlink_to("nowhere")
    elif what == "write" and not path.is_dir() and not path.is_symlink():
        path.write_text(f"{text}\nby hand\n")


TestRollback = Rollback.TestCase
TestRollback.settings = settings(
    max_examples=max(1, STEPS // 39), stateful_step_count=LENGTH, deadline=None, derandomize=STEPS <= 1500,
    suppress_health_check=list(HealthCheck), print_blob=True,
)  # fmt: skip
