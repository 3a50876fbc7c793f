"""A baseline that is killed goes on where it was, and is then as good as one that was not."""

from __future__ import annotations

import os
import random
import select
import signal
import time
from pathlib import Path

from world import World, sound

from agenvoy.workspace.service import Service

KILLS = int(os.environ.get("AGENVOY_KILLS", "50")) // 5


def fill(world: World) -> None:
    chance = random.Random(1)
    for n in range(1500):
        world.put(f"d{n % 7}/f{n}", f"{n} " * chance.randint(1, 300), 0o600 if n % 5 else 0o755)
    for n in range(4):
        (world.root / f"large{n}").write_bytes(chance.randbytes(300_000) * 4)
    (world.root / "link").symlink_to("d1/f1")
    (world.root / "empty").mkdir()


def work(world: World, command: str) -> Service:
    service = world.service(clock=time.time_ns)
    service.run(["sh", "-c", command], dict(os.environ), str(world.root))
    return service


def killed_after(world: World, seconds: float) -> bool:
    """Start a run in a child and kill it; whether it was still at work."""
    child = os.fork()
    if child == 0:
        try:
            work(world, "true")
        finally:
            os._exit(0)
    select.select([], [], [], seconds)  # the moment of the kill: chance is the point here
    os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


def test_a_killed_baseline_goes_on_and_restores_every_byte(tmp_path: Path) -> None:
    measured = World(tmp_path / "measured")
    fill(measured)
    begun = time.perf_counter()
    work(measured, "true")
    whole = time.perf_counter() - begun
    measured.close()
    chance, counts = random.Random(int(os.environ.get("AGENVOY_SEED", "1"))), []
    world = World(tmp_path / "killed")
    fill(world)
    before = world.picture()
    for _ in range(KILLS):
        killed_after(world, chance.uniform(0.1, 1.0) * whole)
        service = world.service(clock=time.time_ns)
        sound(service)
        counts.append(service.du().result["blobs"])
        assert world.picture() == before
    assert counts == sorted(counts) and counts[-1] > 0  # what was kept stays, and is not kept again
    service = work(world, "rm -r d0 d3 large1 link; for f in d1/*; do echo x >> $f; chmod 644 $f; done; rmdir empty")
    service.restore_file(task_id="last")
    assert world.picture() == before
    sound(service)
