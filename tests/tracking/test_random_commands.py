"""Random shell commands under `run`: a restore gives the first tree, undo the last one; AGENVOY_SEEDS says how many."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from world import World, outcomes, sound

SEEDS = int(os.environ.get("AGENVOY_SEEDS", "30"))
NAMES = ("a", "b", "d/a", "d/b", "d/e/c", "x y", "d", "d/e", "link", "café")
FILES = NAMES[:6]
COMMANDS = (
    "echo {n} > {f}", "echo {n} >> {f}", "rm -rf {f}", "mv {f} {g}", "cp -a {f} {g}", "ln -sf {f} {g}", "ln -f {f} {g}",
    "chmod 7{n}5 {f}", "chmod -x {f}", "mkdir -p {f}", "rmdir {f}", "sed -i s/1/{n}/ {f}", "touch -r {f} {g}",
    "tar cf t.tar d; rm -rf d; tar xf t.tar", "find d -type f -exec sed -i 's/a/b/' {{}} +", "mv d e; mv e d",
    "mv d r; ln -s r d", "mkdir k; echo {n} > k/x; rm -rf d; ln -s k d", "mv d/e w; ln -s ../w d/e",
    "rm -rf d; mkdir d; echo {n} > d/a", "head -c 300000 /dev/zero > {f}", "cat {f} {f} > {g}",
    "install -m 600 {f} {g}", "echo {n} > {f}.tmp && mv {f}.tmp {f}", "rm {f}; mkdir {f}; echo {n} > {f}/in",
    "printf x | tee {f} {g} > t",
)  # fmt: skip


def commands(dice: random.Random) -> str:
    def one() -> str:
        f, g = (f"'{dice.choice(NAMES)}'" for _ in range(2))
        return dice.choice(COMMANDS).format(n=dice.randint(0, 7), f=f, g=g)

    return "; ".join(one() for _ in range(dice.randint(1, 3)))


def plainly(world: World) -> dict[str, tuple[object, ...]]:
    """Everything but how many names an inode has."""
    return {path: (*entry[:3], *entry[4:]) for path, entry in world.picture().items()}


def tick(probe: Path) -> None:
    """Wait until the file system's clock has moved on: what is changed from now on looks changed."""
    probe.write_text("")
    first = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == first:
        probe.write_text("")


@pytest.mark.parametrize("seed", range(SEEDS))
def test_whatever_commands_do_a_restore_takes_back_and_undo_brings_again(tmp_path: Path, seed: int) -> None:
    dice, world = random.Random(seed), World(tmp_path)
    for number, name in enumerate(FILES):
        world.put(name, f"1\n{name}\na{number}\n", dice.choice((0o644, 0o600, 0o755)))
    (world.root / "link").symlink_to("a")
    (world.root / "empty").mkdir()
    if seed % 2:
        os.link(world.root / "a", world.root / "hard")
    # Half of the stories happen so fast that no look is trusted, in the others each is, as in people's hands.
    later = 10**9 if seed // 2 % 2 else 0
    service, before = world.service(clock=lambda: time.time_ns() + later), plainly(world)
    service.begin_task("commands")
    for _ in range(dice.randint(1, 5)):
        tick(tmp_path / "probe")
        service.run(["sh", "-c", f"{{ {commands(dice)}; }} 2> /dev/null"], dict(os.environ), str(world.root))
    after = plainly(world)
    if after != before:
        told = outcomes(service.restore_file(task_id="current", dry_run=True))
        assert plainly(world) == after
        assert outcomes(service.restore_file(task_id="current")) == told and plainly(world) == before
        service.undo()
        assert plainly(world) == after
        service.redo()
    assert plainly(world) == before
    sound(service)
    world.close()
