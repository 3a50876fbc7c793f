"""`run`: what it leaves in the background, commands in commands, and limits."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from world import World

from agenvoy.types import Outcome
from agenvoy.workspace.service import Service
from agenvoy.workspace.spawning import Limits

linux = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="what is left running is known on Linux only")


def run(service: Service, world: World, command: str, **options: object) -> Outcome:
    return service.run(["sh", "-c", command], dict(os.environ), str(world.root), **options)


def _gone(pid: int) -> bool:
    """Whether nothing runs under a number; a process that ended and waits to be taken away counts as gone."""
    try:
        return b") Z" in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return True


def eventually(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert true()


@linux
def test_what_a_command_leaves_running_is_said_and_its_later_changes_are_told_apart(world: World) -> None:
    service = world.service(clock=time.time_ns)
    gate = world.root.parent / "gate"
    os.mkfifo(gate)
    done = run(service, world, f"(read x < {gate}; echo late > late.txt) > /dev/null 2>&1 & echo now > now.txt").result
    assert [c["path"] for c in done["changes"]] == ["now.txt"] and len(done["background"]) == 1
    gate.write_text("go\n")
    eventually(lambda: (world.root / "late.txt").exists() and (world.root / "late.txt").read_text() == "late\n")
    again = run(service, world, "true").result
    assert again["outside"] == ["late.txt"]
    rows = service.file_history(path="late.txt").result["rows"]
    assert rows[0]["action"] == "external" and not rows[0]["actor"]
    service.restore_file(task_id="current")
    assert (world.root / "late.txt").exists() and not (world.root / "now.txt").exists()


@linux
def test_what_ended_with_its_command_is_not_in_the_background(world: World) -> None:
    service = world.service(clock=time.time_ns)
    assert run(service, world, "(true) & wait; true").result["background"] == []


def test_a_command_in_a_command_leaves_the_outer_one_what_it_did_before(world: World) -> None:
    world.put("a", "1\n")
    service = world.service(clock=time.time_ns)
    inner = f"AGENVOY_HOME={world.home} {sys.executable} -m agenvoy --root {world.root} run -- sh -c 'echo 3 > c'"
    done = run(service, world, f"echo 2 > a; {inner}; echo 4 > d").result
    assert [c["path"] for c in done["changes"]] == ["d"]
    rows = service.file_history(task_id=done["task_id"]).result["rows"]
    assert {r["path"] for r in rows if r["tool"] == "run" and r["action"] in ("create", "modify")} == {"a", "c", "d"}
    service.restore_file(task_id="current")
    assert sorted(os.listdir(world.root)) == ["a"] and (world.root / "a").read_text() == "1\n"


@linux
def test_a_command_that_takes_too_long_ends_with_everything_it_started(world: World) -> None:
    service = world.service(clock=time.time_ns)
    command = f"echo x > a; sleep 600 & echo $! > {world.root.parent}/child; sleep 600"
    done = run(service, world, command, limits=Limits(seconds=0.5)).result
    assert done["status"] == 124 and done["timed_out"] and [c["path"] for c in done["changes"]] == ["a"]
    child = int((world.root.parent / "child").read_text())
    eventually(lambda: _gone(child))


def test_output_beyond_the_limit_is_dropped_and_the_command_goes_on(world: World) -> None:
    env = {**os.environ, "AGENVOY_HOME": str(world.home), "AGENVOY_ROOT": str(world.root)}
    script = ["sh", "-c", "yes | head -c 1000000; echo x > a"]
    command = [sys.executable, "-m", "agenvoy", "run", "--max-output", "10", "--", *script]
    done = subprocess.run(command, env=env, cwd=world.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout == "y\n" * 5
    assert "999990 bytes of output" in done.stderr and (world.root / "a").exists()


@pytest.mark.parametrize("wrong", [("--timeout", "0"), ("--timeout", "nan"), ("--max-output", "-1")])
def test_a_limit_that_is_none_is_refused(world: World, tmp_path: Path, wrong: tuple[str, str]) -> None:
    env = {**os.environ, "AGENVOY_HOME": str(world.home), "AGENVOY_ROOT": str(world.root)}
    command = [sys.executable, "-m", "agenvoy", "run", *wrong, "--", "touch", "a"]
    done = subprocess.run(command, env=env, cwd=world.root, capture_output=True, text=True, check=False)
    assert done.returncode == 125 and "invalid_arguments" in done.stderr and not (world.root / "a").exists()


def agenvoy(world: World, *words: str) -> list[str]:
    return [sys.executable, "-m", "agenvoy", "--root", str(world.root), *words]


def environment(world: World, actor: str) -> dict[str, str]:
    top = str(Path(__file__).parents[2])
    return {**os.environ, "PYTHONPATH": top, "AGENVOY_HOME": str(world.home), "AGENVOY_ACTOR": actor}


def test_a_command_whose_reader_goes_away_ends_as_without_a_limit(world: World) -> None:
    line = shlex.join(agenvoy(world, "run", "--max-output", "1000000", "--", "yes")) + " | head -1"
    env = environment(world, "cli")
    done = subprocess.run(["sh", "-c", line], env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "y\n" and "Traceback" not in done.stderr


def test_what_a_running_command_did_stays_its_own_when_another_one_begins(world: World) -> None:
    world.put("f", "1\n")
    world.put("gone", "1\n")
    before = world.picture()
    command = "echo p >> f; rm gone; touch ready; while [ ! -e go ]; do sleep 0.02; done; echo p >> f"
    words = agenvoy(world, "run", "--", "sh", "-c", command)
    first = subprocess.Popen(words, env=environment(world, "p"), cwd=world.root)
    eventually((world.root / "ready").exists)
    second = world.service(clock=time.time_ns, actor="q")
    done = second.run(["sh", "-c", "touch go"], dict(os.environ), str(world.root)).result
    assert first.wait(30) == 0 and done["outside"] == []
    for actor in ("q", "p"):  # what p did at the very end may have fallen into the window of q
        subprocess.run(
            agenvoy(world, "--yes", "restore", "--task", "current"), env=environment(world, actor),
            capture_output=True, check=False,
        )  # fmt: skip
    assert world.picture() == before


def test_signals_still_reach_the_command(world: World) -> None:
    env = {**os.environ, "AGENVOY_HOME": str(world.home), "AGENVOY_ROOT": str(world.root)}
    script = f"trap 'echo got > {world.root}/a; exit 3' TERM; echo up; while :; do sleep 0.05; done"
    command = [sys.executable, "-m", "agenvoy", "run", "--", "sh", "-c", script]
    child = subprocess.Popen(command, env=env, cwd=world.root, stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline() == b"up\n"
    child.send_signal(signal.SIGTERM)
    assert child.wait(30) == 3 and (world.root / "a").read_text() == "got\n"
