"""Files with several names come back as one file."""

from __future__ import annotations

import os

from world import World, read

from agenvoy.workspace.service import Service


def one_file(world: World, *names: str) -> bool:
    return len({os.stat(world.root / name).st_ino for name in names}) == 1


def test_a_removed_name_is_joined_to_the_others_again(world: World, service: Service) -> None:
    world.put("big", b"x" * 300_000)
    os.link(world.root / "big", world.root / "other")
    service.remove_file("other")
    service.undo()
    assert one_file(world, "big", "other")


def test_a_removed_folder_comes_back_with_its_hard_links(world: World, service: Service) -> None:
    world.put("d/a", "1\n")
    os.link(world.root / "d/a", world.root / "d/b")
    before = world.picture()
    service.remove_tree("d")
    service.undo()
    assert world.picture() == before
    assert one_file(world, "d/a", "d/b")


def test_a_name_is_not_joined_to_what_has_become_another_content(world: World, service: Service) -> None:
    world.put("a", "1\n")
    os.link(world.root / "a", world.root / "b")
    service.remove_file("b")
    (world.root / "a").write_text("2\n")
    service.undo()
    assert ((world.root / "a").read_text(), (world.root / "b").read_text()) == ("2\n", "1\n")


def linked(world: World, service: Service) -> None:
    world.put("a", "1\n2\n")
    os.link(world.root / "a", world.root / "b")
    service.begin_task("links", track=True)


def test_an_edit_after_a_command_is_the_tasks_under_every_name(world: World, service: Service) -> None:
    linked(world, service)
    service.run(["sh", "-c", "echo 3 >> a"], dict(os.environ), str(world.root))
    read(service, "a")
    service.edit_file("b", targets=[{"old_string": "3", "new_string": "three"}])
    status = service.workspace_status().result
    assert [row["path"] for row in status["task"]] == ["a", "b"] and not status["outside"]
    service.restore_file(task_id="current")
    assert (world.root / "b").read_text() == "1\n2\n" and one_file(world, "a", "b")
    service.undo()
    assert (world.root / "a").read_text() == "1\n2\nthree\n" and one_file(world, "a", "b")


def test_an_edit_is_no_outside_change_of_a_files_other_name(world: World, service: Service) -> None:
    linked(world, service)
    read(service, "a")
    service.edit_file("a", content="new\n")
    assert service.workspace_status().result["outside"] == []
    service.run(["sh", "-c", "echo more >> b"], dict(os.environ), str(world.root))
    service.restore_file(task_id="current")
    assert (world.root / "b").read_text() == "1\n2\n" and one_file(world, "a", "b")
