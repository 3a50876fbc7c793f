"""What a task found at different times may exclude each other: a folder with a file in it, and later a file there."""

from __future__ import annotations

import os

import pytest
from world import World, history, outcomes, refused, sound, write

from agenvoy.workspace.service import Service


@pytest.fixture
def ada(world: World) -> Service:
    """Ada changed `d/f.txt`, bob made `d` a file, ada removed that and got her text back: two states of `d`."""
    world.put("d/f.txt", "first\n")
    ada, bob = world.service(actor="ada"), world.service(actor="bob")
    ada.begin_task("one")
    bob.begin_task("two")
    write(ada, "d/f.txt", "by ada\n")
    bob.remove_tree("d")
    write(bob, "d", "a file of bob\n")
    ada.remove_file("d")
    row = next(r for r in history(ada, "d/f.txt") if r["action"] == "modify")
    ada.restore_file(version=row["version"])
    return ada


def test_without_leave_to_overwrite_the_outer_one_is_a_conflict_and_nothing_changes(world: World, ada: Service) -> None:
    before = world.picture()
    error = refused(ada.restore_file, task_id="current")
    assert error.code == "conflict" and world.picture() == before
    told = {row["path"]: (row["outcome"], row["reason"]) for row in error.details["changes"]}
    assert told["d"][0] == "conflict"


@pytest.mark.parametrize("mode", ["overwrite", "skip"])
def test_the_dry_run_and_the_real_one_agree_on_which_of_them_comes_back(world: World, ada: Service, mode: str) -> None:
    told = ada.restore_file(task_id="current", on_conflict=mode, dry_run=True)
    done = ada.restore_file(task_id="current", on_conflict=mode, plan_id=told.result["plan_id"])
    assert outcomes(done) == outcomes(told)
    assert (world.root / "d").is_file() == (mode == "overwrite")
    sound(ada)
    if mode == "overwrite":
        ada.undo()
    assert (world.root / "d/f.txt").read_text() == "by ada\n"


def test_a_folder_in_which_something_comes_back_stays(world: World) -> None:
    world.put("d/f.txt", "first\n")
    service = world.service()
    write(service, "d/f.txt", "second\n")
    os.unlink(world.root / "d/f.txt")
    os.rmdir(world.root / "d")
    service.run(["mkdir", "d"], dict(os.environ), str(world.root))
    done = service.restore_file(task_id="current", on_conflict="overwrite")
    assert (world.root / "d/f.txt").read_text() == "first\n" and outcomes(done)["d/f.txt"] == "recreated"
    assert set(outcomes(service.restore_file(task_id="current")).values()) <= {"unchanged"}
