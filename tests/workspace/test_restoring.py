"""Restore by version and time, plans, undo and redo, notices; merges are in tests/history."""

from __future__ import annotations

import os
from datetime import datetime

import pytest
from world import START, World, history, outcomes, patch, read, refused, sound, write

from agenvoy.workspace.service import Service


def text(world: World, name: str = "f.txt") -> str:
    return (world.root / name).read_text()


def test_every_version_of_a_file_can_be_had_again(world: World, service: Service) -> None:
    for content in ("one\n", "two\n", "three\n"):
        write(service, "f.txt", content)
    service.remove_file("f.txt")
    for row in history(service, "f.txt"):
        service.restore_file(version=row["version"])
        assert (world.root / "f.txt").exists() == (row["kind"] == "file")
        assert row["kind"] == "absent" or text(world) == service.show(row["version"]).result["content"]
    sound(service)


def test_a_version_takes_its_place_back_from_a_folder_with_things_in_it(world: World, service: Service) -> None:
    world.put("f.txt", "one\n")
    patch(service, "f.txt", "one", "two")
    (world.root / "f.txt").unlink()
    world.put("f.txt/sub/by hand.txt", "kept\n")
    before = world.picture()
    service.restore_file(version=1)
    assert text(world) == "one\n"
    service.undo()
    assert world.picture() == before


def test_a_version_makes_its_parents_again(world: World, service: Service) -> None:
    world.put("d/e/f.txt", "one\n")
    patch(service, "d/e/f.txt", "one", "two")
    service.remove_tree("d")
    service.restore_file(version=1)
    assert text(world, "d/e/f.txt") == "one\n"
    assert refused(service.restore_file, version=1, path="other.txt").code == "invalid_arguments"


@pytest.mark.parametrize("version", [0, -1, 99])
def test_a_version_that_there_is_not_is_named(service: Service, version: int) -> None:
    assert refused(service.restore_file, version=version).code == "no_such_version"


def test_a_version_of_another_workspace_is_not_ours(world: World, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = World(tmp_path_factory.mktemp("other"))
    other.home = world.home
    write(other.service(), "secret.txt", "x\n")
    assert refused(world.service().restore_file, version=1).code == "no_such_version"
    assert history(world.service()) == []
    other.close()


def test_nothing_named_is_invalid(service: Service) -> None:
    assert refused(service.restore_file).code == "invalid_arguments"
    assert refused(service.restore_file, task_id="current", on_conflict="maybe").code == "invalid_arguments"


def test_a_time_takes_a_folder_back(world: World, service: Service) -> None:
    world.put("d/a.txt", "a\n")
    patch(service, "d/a.txt", "a", "A")
    write(service, "d/b.txt", "b\n")
    when = datetime.fromtimestamp(world.now / 1e9).strftime("%Y-%m-%d %H:%M:%S")
    patch(service, "d/a.txt", "A", "AA")
    service.remove_file("d/b.txt")
    write(service, "d/c.txt", "c\n")
    service.restore_file(time=when, path="d")
    assert {n: text(world, f"d/{n}") for n in os.listdir(world.root / "d")} == {"a.txt": "A\n", "b.txt": "b\n"}
    early = datetime.fromtimestamp(START / 1e9 - 100).strftime("%Y-%m-%d %H:%M:%S")
    service.restore_file(time=early, path="d")
    assert text(world, "d/a.txt") == "a\n"


def test_a_dry_run_writes_nothing_and_its_plan_can_be_carried_out(world: World, service: Service) -> None:
    write(service, "f.txt", "one\n")
    told = service.restore_file(task_id="current", dry_run=True)
    assert told.result["applied"] is False and text(world) == "one\n"
    done = service.restore_file(task_id="current", plan_id=told.result["plan_id"])
    assert done.result["changes"] == told.result["changes"] and outcomes(done) == {"f.txt": "removed"}


def test_a_plan_that_would_differ_now_is_a_conflict(world: World, service: Service) -> None:
    write(service, "f.txt", "one\n")
    told = service.restore_file(task_id="current", dry_run=True)
    write(service, "g.txt", "one\n")
    error = refused(service.restore_file, task_id="current", plan_id=told.result["plan_id"])
    assert error.code == "conflict" and (world.root / "g.txt").exists()


def test_a_path_limits_what_is_taken_back(world: World, service: Service) -> None:
    for name in ("a.txt", "d/b.txt", "d/c.txt"):
        write(service, name, "x\n")
    assert set(outcomes(service.restore_file(task_id="current", path="d"))) == {"d/b.txt", "d/c.txt"}
    assert set(world.picture()) == {"a.txt"}
    assert set(outcomes(service.restore_file(task_id="current"))) == {"a.txt"}


def test_a_task_that_is_undone_has_nothing_to_undo(world: World, service: Service) -> None:
    write(service, "f.txt", "one\n")
    service.restore_file(task_id="current")
    assert service.restore_file(task_id="last").result["changes"] == []
    write(service, "f.txt", "two\n")
    assert outcomes(service.restore_file(task_id="current")) == {"f.txt": "removed"}


def test_lost_bytes_are_found_before_anything_is_written(world: World, service: Service) -> None:
    world.put("big.txt", "x" * 300_000)
    world.put("f.txt", "one\n")
    write(service, "big.txt", "small\n")
    patch(service, "f.txt", "one", "two")
    for folder, _, names in os.walk(world.home / ".store/objects"):
        for name in names:
            os.unlink(os.path.join(folder, name))
    assert refused(service.restore_file, task_id="current").code == "not_restorable"
    assert text(world) == "two\n"
    row = history(service, "big.txt")[0]
    assert row["restorable"] is False and row["reason"]


# ---- undo and redo
def test_undo_and_redo_go_through_many_levels(world: World, service: Service) -> None:
    world.put("d/a.txt", "a\n")
    pictures = [world.picture()]
    for act in (
        lambda: patch(service, "d/a.txt", "a", "b"),
        lambda: service.move_file("d/a.txt", "m.txt"),
        lambda: write(service, "n.txt", "n\n"),
        lambda: service.restore_file(task_id="current"),
        lambda: service.remove_tree("d"),
    ):
        act()
        pictures.append(world.picture())
    for picture in pictures[-2::-1]:
        service.undo()
        assert world.picture() == picture
    assert service.undo().result["reason"] == "there is nothing to undo"
    for picture in pictures[1:]:
        service.redo()
        assert world.picture() == picture
    assert refused(service.redo).code == "not_available"


def test_a_new_change_ends_the_chain_of_redos(service: Service) -> None:
    write(service, "f.txt", "one\n")
    service.undo()
    write(service, "g.txt", "two\n")
    assert refused(service.redo).code == "not_available"


def test_undo_keeps_a_later_change_of_somebody_else(world: World, service: Service) -> None:
    world.put("f.txt", "1\n2\n3\n4\n5\n")
    patch(service, "f.txt", "2", "two")
    world.put("f.txt", text(world).replace("5", "five"))
    service.undo()
    assert text(world) == "1\n2\n3\n4\nfive\n"


def test_undo_of_an_operation_without_effect_goes_on_to_the_next(world: World, service: Service) -> None:
    write(service, "f.txt", "one\n")
    write(service, "f.txt", "two\n")
    world.put("f.txt", "one\n")
    service.undo()
    service.undo()
    assert not (world.root / "f.txt").exists()


def test_a_restore_takes_paths_out_of_the_memory_of_others_and_tells_them(world: World) -> None:
    world.put("f.txt", "one\n")
    ada, bob = world.service(actor="ada"), world.service(actor="bob")
    bob.begin_task("look")
    patch(ada, "f.txt", "one", "two")
    read(bob, "f.txt")
    ada.restore_file(task_id="current")
    assert refused(bob.edit_file, "f.txt", content="x\n").code == "not_read"
    notices = bob.edit_file("g.txt", content="g\n").notices
    assert any("f.txt" in notice and "operation" in notice for notice in notices)
    assert read(bob, "f.txt").notices == []


def test_the_current_task_is_the_callers_or_the_only_running_one(world: World) -> None:
    agent, person = world.service(actor="agent"), world.service(actor="person")
    write(agent, "f.txt", "one\n")
    person.restore_file(task_id="current")
    assert not (world.root / "f.txt").exists()
    write(agent, "f.txt", "one\n")
    write(world.service(actor="second"), "g.txt", "two\n")
    error = refused(person.restore_file, task_id="current")
    assert error.code == "no_task" and "agent" in error.hint and "second" in error.hint


def test_restoring_a_part_of_a_task_leaves_its_other_folders(world: World, service: Service) -> None:
    write(service, "new/f.txt", "one\n")
    write(service, "other/g.txt", "two\n")
    (world.root / "other/g.txt").unlink()
    service.restore_file(task_id="current", path="new")
    assert not (world.root / "new").exists() and (world.root / "other").is_dir()
    service.restore_file(task_id="current")
    assert not (world.root / "other").exists()
