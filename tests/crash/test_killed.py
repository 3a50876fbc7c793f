"""SIGKILL from outside at random moments of a fixed piece of work; `AGENVOY_KILLS=1000` kills that often."""

from __future__ import annotations

import os
import random
import select
import signal
import time
from collections.abc import Callable
from pathlib import Path

from crashing import Stage
from world import Picture, World, patch, sound, write

from agenvoy.workspace.service import Service

KILLS = int(os.environ.get("AGENVOY_KILLS", "50"))
LONG = "".join(f"a line of a file that goes to the blob files, number {n}\n" for n in range(4000))


def _prepare(world: World, service: Service) -> None:
    for name in ("a.txt", "b.txt", "d/c.txt", "d/deep/e.txt"):
        world.put(name, f"{name} as it was\n", 0o600)
    world.put("shared.txt", "two names\n")
    os.link(world.root / "shared.txt", world.root / "other name.txt")
    (world.root / "d/link").symlink_to("c.txt")
    (world.root / "d/empty").mkdir()
    service.begin_task("work")


WORK: list[Callable[[Service], object]] = [
    lambda s: patch(s, "a.txt", "was", "is"),
    lambda s: write(s, "new/deep/f.txt", LONG),
    lambda s: write(s, "shared.txt", "longer than what was there\n"),
    lambda s: s.move_file("b.txt", "moved/b.txt"),
    lambda s: s.remove_tree("d"),
    lambda s: s.undo(),
    lambda s: s.remove_file("a.txt"),
    lambda s: s.undo(),
    lambda s: s.redo(),
    lambda s: s.restore_file(task_id="last"),
    lambda s: s.undo(),
    lambda s: write(s, "new/deep/f.txt", LONG + LONG),
    lambda s: s.restore_file(version=1),
    lambda s: s.restore_file(task_id="last", on_conflict="overwrite"),
]


def _work(world: World, told: int) -> None:
    service = world.service()
    for act in WORK:
        act(service)
        os.write(told, b".")


def _killed_after(world: World, seconds: float) -> int:
    """Start the work in a child, kill it, and give the number of pieces that it had done and told."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            _work(world, tell)
        finally:
            os._exit(0)
    os.close(tell)
    select.select([], [], [], seconds)  # the moment of the kill: chance is the point here
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    done = len(os.read(told, 1000))
    os.close(told)
    return done


def test_random_kills_leave_whole_operations_and_a_sound_store(tmp_path: Path) -> None:
    stage = Stage(tmp_path, _prepare)
    world = stage.set()
    service, pictures, begun = world.service(), [world.picture()], time.perf_counter()
    for act in WORK:
        act(service)
        pictures.append(world.picture())
    whole, dice, seen = time.perf_counter() - begun, random.Random(7), set()
    for _ in range(KILLS):
        world = stage.set()
        done = _killed_after(world, dice.uniform(0, whole * 1.5))
        service = world.service()
        service.session.log  # noqa: B018  opening brings what was left to an end
        assert world.picture() in pictures[done : done + 2], (done, service.session.said)
        sound(service)
        _back_to_the_start(world, service, pictures[0])
        seen.add(done)
        world.close()
    assert len(seen) > 3  # else the kills did not spread over the work


def _back_to_the_start(world: World, service: Service, first: Picture) -> None:
    for _ in range(len(WORK)):
        if world.picture() == first:
            return
        service.undo()
    assert _without_inodes(world.picture()) == _without_inodes(first)


def _without_inodes(picture: Picture) -> dict[str, object]:
    return {path: entry[:3] for path, entry in picture.items()}
