"""Edit, remove and move on real files: freshness, what is kept, what is recorded, what is refused."""

from __future__ import annotations

import os

import pytest
from world import World, actions, history, patch, read, refused, sound, write

from agenvoy.types import Answer, ConfirmRequest
from agenvoy.workspace.service import Service


def test_an_existing_file_must_be_read_before_it_is_overwritten(world: World, service: Service) -> None:
    path = world.put("f.txt", "one\n")
    assert refused(service.edit_file, "f.txt", content="two\n").code == "not_read"
    read(service, "f.txt")
    service.edit_file("f.txt", content="two\n")
    assert path.read_text() == "two\n"


def test_a_file_changed_since_the_read_is_stale_and_the_refusal_shows_how(world: World, service: Service) -> None:
    world.put("f.txt", "one\ntwo\n")
    read(service, "f.txt")
    world.put("f.txt", "one\nby hand\n")
    error = refused(service.edit_file, "f.txt", content="x\n")
    assert error.code == "stale_read" and "-two" in error.details["diff"] and "+by hand" in error.details["diff"]
    assert refused(service.edit_file, "f.txt", content="x\n").code == "stale_read"  # a refusal is no read


def test_only_the_content_judges_freshness(world: World, service: Service) -> None:
    path = world.put("f.txt", "one\n")
    read(service, "f.txt")
    info = path.stat()
    path.write_text("two\n")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    assert refused(service.edit_file, "f.txt", content="x\n").code == "stale_read"
    path.write_text("one\n")
    os.utime(path, ns=(1, 1))
    service.edit_file("f.txt", content="x\n")


def test_a_task_may_go_on_from_what_it_wrote_itself(service: Service) -> None:
    service.edit_file("f.txt", content="one\n")
    service.edit_file("f.txt", targets=[{"old_string": "one", "new_string": "two"}])
    assert service.edit_file("f.txt", content="three\n").result["action"] == "modify"


def test_a_read_counts_for_one_task_and_not_for_the_next(world: World, service: Service) -> None:
    world.put("f.txt", "one\n")
    service.begin_task("first")
    read(service, "f.txt")
    service.begin_task("second")
    assert refused(service.edit_file, "f.txt", content="two\n").code == "not_read"


def test_a_read_of_one_service_counts_for_another_of_the_same_task(world: World, service: Service) -> None:
    world.put("f.txt", "one\n")
    read(service, "f.txt")
    assert world.service().edit_file("f.txt", content="two\n").result["action"] == "modify"


def test_a_file_that_appeared_after_a_failed_read_is_not_read(world: World, service: Service) -> None:
    refused(service.read_files, [{"path": "f.txt"}])
    world.put("f.txt", "one\n")
    assert refused(service.edit_file, "f.txt", content="two\n").code == "not_read"


def test_the_result_names_the_versions_around_the_change(world: World, service: Service) -> None:
    world.put("f.txt", "one\n")
    result = patch(service, "f.txt", "one", "two")
    rows = history(service, "f.txt")
    assert [row["action"] for row in rows] == ["observed", "modify"]
    assert (result["previous_version"], result["version"]) == (rows[0]["version"], rows[1]["version"])
    assert (result["bytes_before"], result["bytes_after"], result["replacements"]) == (4, 4, 1)
    assert "-one" in result["diff"] and result["undoable"]


def test_a_change_by_somebody_else_is_a_row_of_its_own(world: World, service: Service) -> None:
    write(service, "f.txt", "one\n")
    world.put("f.txt", "by hand\n")
    write(service, "f.txt", "two\n")
    assert actions(service, "f.txt") == ["observed", "create", "external", "modify"]


@pytest.mark.parametrize("spelling", ["./f.txt", "d/../f.txt", "l/f.txt", "{root}/f.txt"])
def test_every_spelling_means_one_file_with_one_history(world: World, service: Service, spelling: str) -> None:
    world.put("f.txt", "one\n")
    (world.root / "d").mkdir()
    (world.root / "l").symlink_to(".")
    patch(service, spelling.format(root=world.root), "one", "two")
    assert {row["path"] for row in history(service)} == {"f.txt"}


def test_parents_are_made_and_the_folder_of_a_file_is_not(world: World, service: Service) -> None:
    service.edit_file("a/b/c.txt", content="x\n")
    assert refused(service.edit_file, "a/b/c.txt/d.txt", content="x\n").code == "not_found"
    assert refused(service.edit_file, "a/b", content="x\n").code == "is_directory"


def test_a_large_file_is_recorded_by_streaming_and_comes_back(world: World, service: Service) -> None:
    data = os.urandom(1_500_000)
    world.put("big.bin", data)
    service.remove_file("big.bin")
    service.restore_file(version=1)
    assert (world.root / "big.bin").read_bytes() == data
    sound(service)


def test_a_removal_says_where_the_file_lies(world: World, service: Service) -> None:
    world.put("f.txt", "one\n")
    moved = service.remove_file("f.txt").result["moved_to"]
    assert os.path.isabs(moved) and open(moved).read() == "one\n"  # noqa: SIM115
    assert refused(service.remove_file, "f.txt").code == "not_found"
    (world.root / "d").mkdir()
    assert refused(service.remove_file, "d").code == "is_directory"


def test_a_move_refuses_an_occupied_place(world: World, service: Service) -> None:
    world.put("f.txt", "f\n")
    world.put("g.txt", "g\n")
    assert refused(service.move_file, "f.txt", "g.txt").code == "already_exists"
    assert refused(service.move_file, "none.txt", "x.txt").code == "not_found"
    service.move_file("f.txt", "new/f.txt")
    assert (world.root / "new/f.txt").read_text() == "f\n"


def test_a_moved_file_stays_read(world: World, service: Service) -> None:
    world.put("f.txt", "one\n")
    read(service, "f.txt")
    service.move_file("f.txt", "g.txt")
    service.edit_file("g.txt", content="two\n")


def test_removing_asks_and_nothing_happens_without_a_yes(world: World) -> None:
    path = world.put("f.txt", "one\n")
    service = world.service(assume_yes=False)
    assert refused(service.remove_file, "f.txt").code == "confirmation_required"
    no = world.service(assume_yes=False, confirm=lambda request: "no")
    assert refused(no.remove_file, "f.txt").code == "declined"
    assert path.exists() and history(service) == []


def test_all_in_this_task_is_asked_once_per_tool_and_task(world: World) -> None:
    asked: list[ConfirmRequest] = []

    def confirm(request: ConfirmRequest) -> Answer:
        asked.append(request)
        return "task"

    for name in "abc":
        world.put(name, "x")
    service = world.service(assume_yes=False, confirm=confirm)
    service.begin_task("clean up")
    service.remove_file("a")
    service.remove_file("b")
    service.begin_task("another")
    service.remove_file("c")
    assert [request.label for request in asked] == ["Remove(a)", "Remove(c)"]


def test_a_subagent_removes_and_restores_nothing(world: World) -> None:
    world.put("f.txt", "one\n")
    service = world.service(subagent=True)
    write(service, "f.txt", "two\n")
    for verb, arguments in (
        (service.remove_file, {"path": "f.txt"}), (service.remove_tree, {"path": "."}),
        (service.restore_file, {"version": 1}), (service.undo, {}), (service.redo, {}),
    ):  # fmt: skip
        assert refused(verb, **arguments).code == "not_available"


def test_a_sensitive_file_is_never_shown_in_a_diff(world: World) -> None:
    world.put(".env", "KEY=old\n")
    service = world.service(allow_sensitive=True)
    read(service, ".env")
    plain = world.service()
    result = plain.edit_file(".env", content="KEY=new\n").result
    assert "old" not in result["diff"] and "new" not in result["diff"]
    assert plain.show(result["version"]).result["content"] is None
    world.put(".env", "KEY=hand\n")
    assert "hand" not in str(refused(plain.edit_file, ".env", content="x").document())
