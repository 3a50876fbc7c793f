"""Tasks, status, history pages, trash, sizes, verify and doctor."""

from __future__ import annotations

import os
import sqlite3

import pytest
from world import World, actions, history, patch, read, refused, sound, write

from agenvoy.catalog import tasks
from agenvoy.workspace.service import Service


# ---- tasks
def test_a_task_is_begun_by_the_first_change_and_by_nothing_else(world: World, service: Service) -> None:
    world.put("f.txt", "one\n")
    read(service, "f.txt")
    assert service.list_tasks().result["rows"] == []
    write(service, "f.txt", "two\n")
    rows = service.list_tasks().result["rows"]
    assert [(row["objective"], row["running"], row["files"], row["versions"]) for row in rows] == [("", True, 1, 2)]


def test_the_next_task_of_an_actor_ends_the_one_before(world: World, service: Service) -> None:
    service.begin_task("first")
    world.service(actor="other").begin_task("besides")
    service.begin_task("second")
    running = {row["objective"]: row["running"] for row in service.list_tasks().result["rows"]}
    assert running == {"first": False, "besides": True, "second": True}


def test_a_task_ends_when_it_is_idle_for_twelve_hours(world: World, service: Service) -> None:
    first = service.begin_task("slow").result["task_id"]
    world.now += 12 * 3600 * 1_000_000_000 + 10_000_000_000
    assert service.list_tasks().result["rows"][0]["running"] is False
    write(service, "f.txt", "one\n")
    assert history(service)[0]["task_id"] != first


def test_a_task_is_named_by_any_unique_prefix(world: World, service: Service) -> None:
    ids = [service.begin_task("x").result["task_id"] for _ in range(2)]
    assert service.task_show(ids[0]).result["task_id"] == ids[0]
    assert refused(service.task_show, ids[0][:4]).code == "no_such_task"
    assert refused(service.task_show, "zzz").code == "no_such_task"


def test_calls_can_name_their_task(world: World, service: Service) -> None:
    task = service.begin_task("named").result["task_id"]
    other = world.service(actor="somebody", task=task)
    write(other, "f.txt", "one\n")
    assert history(service)[0]["task_id"] == task


def test_ending_without_a_task_names_the_last_one(service: Service) -> None:
    assert refused(service.end_task).code == "no_task"
    write(service, "f.txt", "one\n")
    task = service.end_task("done").result["task_id"]
    error = refused(service.restore_file, task_id="current")
    assert error.code == "no_task" and task in error.hint


# ---- looking back
def test_history_comes_in_pages_of_at_most_twenty_four(service: Service) -> None:
    for number in range(30):
        write(service, "f.txt", f"{number}\n")
    page = service.file_history(path="f.txt", limit=1000).result
    assert len(page["rows"]) == 24 and page["next"] == page["rows"][-1]["version"]
    rest = service.file_history(path="f.txt", before_version=page["next"]).result
    assert len(rest["rows"]) == 7 and rest["next"] is None


def test_history_follows_folders_tasks_and_times(world: World, service: Service) -> None:
    write(service, "d/a.txt", "a\n")
    task = history(service)[-1]["task_id"]
    between = world.now
    service.begin_task("second")
    write(service, "b.txt", "b\n")
    assert {row["path"] for row in history(service, "d")} == {"d/a.txt"}
    rows = service.file_history(task_id=task).result["rows"]
    assert {row["path"] for row in rows} == {"d/a.txt"}
    from datetime import datetime

    since = datetime.fromtimestamp(between / 1e9 + 1).strftime("%Y-%m-%d %H:%M:%S")
    assert {row["path"] for row in service.file_history(from_=since).result["rows"]} == {"b.txt"}


def test_a_removed_or_moved_file_is_found_by_its_old_name(world: World, service: Service) -> None:
    world.put("old.txt", "x\n")
    service.move_file("old.txt", "new.txt")
    service.remove_file("new.txt")
    assert actions(service, "old.txt") == ["observed", "move"]
    assert actions(service, "new.txt")[-1] == "delete"


def test_diffs_of_versions_of_the_disk_and_of_a_task(world: World, service: Service) -> None:
    world.put("f.txt", "one\n")
    patch(service, "f.txt", "one", "two")
    world.put("f.txt", "three\n")
    between = service.file_history(versions=[1, 2]).result["diffs"][0]["diff"]
    against = service.file_history(mode="read", path="f.txt").result["diffs"][0]["diff"]
    task = service.diff().result["diffs"][0]["diff"]
    assert "-one\n+two\n" in between and "-two\n+three\n" in against and "-one\n+two\n" in task


def test_blame_names_the_version_that_gave_each_line(world: World, service: Service) -> None:
    world.put("f.txt", "one\ntwo\n")
    patch(service, "f.txt", "two", "2")
    rows = service.blame("f.txt").result["rows"]
    assert [(row["text"], row["version"]) for row in rows] == [("one", 1), ("2", 2)]
    assert [row["actor"] for row in rows] == [None, "cli"]  # the first line was there before anybody looked


def test_status_tells_own_others_and_outside_changes(world: World) -> None:
    ada, bob = world.service(actor="ada"), world.service(actor="bob")
    ada.begin_task("work")
    write(ada, "mine.txt", "x\n")
    write(bob, "his.txt", "x\n")
    write(bob, "both.txt", "x\n")
    (world.root / "both.txt").unlink()
    found = ada.workspace_status().result
    assert found["task"] == [{"path": "mine.txt", "change": "created"}]
    assert {row["path"] for row in found["others"]} == {"his.txt", "both.txt"}
    assert {"path": "both.txt", "change": "deleted"} in found["outside"]


# ---- the store
def test_the_trash_lists_what_was_removed_and_forgets_what_is_back(world: World, service: Service) -> None:
    for name in ("a.txt", "b.txt"):
        world.put(name, "x\n")
        service.remove_file(name)
    assert [row["path"] for row in service.trash_list().result["rows"]] == ["b.txt", "a.txt"]
    service.undo()
    assert [row["path"] for row in service.trash_list().result["rows"]] == ["a.txt"]
    assert service.trash_empty().result["removed"] == 1
    assert os.listdir(world.home / ".store/temp") == [] and service.trash_list().result["rows"] == []
    service.restore_file(version=1)
    assert (world.root / "a.txt").read_text() == "x\n"
    sound(service)


def _change(world: World, sql: str) -> None:
    with sqlite3.connect(world.home / ".store/history.db") as c:
        c.execute(sql)
    c.close()


@pytest.mark.parametrize(
    ("sql", "kind", "what"),
    [
        ("UPDATE versions SET mode = 511 WHERE id = 2", "chain", "operation 1"),
        ("UPDATE operations SET label = 'innocent' WHERE id = 2", "chain", "operation 2"),
        ("DELETE FROM versions WHERE id = 3", "chain", "operation 2"),
        ("DELETE FROM operations WHERE id = 1", "chain", "operation 2"),
        ("UPDATE blobs SET data = x'00' WHERE hash = (SELECT hash FROM versions WHERE id = 2)", "blob", ""),
        ("DELETE FROM blobs WHERE hash = (SELECT hash FROM versions WHERE id = 2)", "version", "2 "),
    ],
)
def test_verify_names_what_was_altered(world: World, service: Service, sql: str, kind: str, what: str) -> None:
    world.put("f.txt", "one\n")
    patch(service, "f.txt", "one", "two")
    patch(service, "f.txt", "two", "three")
    sound(service)
    world.close()
    _change(world, sql)
    result = world.service().verify().result
    assert not result["ok"] and any(f["kind"] == kind and f["what"].startswith(what) for f in result["findings"])


def test_a_damaged_blob_leaves_the_rest_usable(world: World, service: Service) -> None:
    world.put("f.txt", "one\n")
    patch(service, "f.txt", "one", "two")
    patch(service, "f.txt", "two", "three")
    _change(world, "UPDATE blobs SET data = x'00' WHERE hash = (SELECT hash FROM versions WHERE id = 2)")
    assert refused(service.restore_file, version=2).code in ("store_corrupt", "not_restorable")
    assert (world.root / "f.txt").read_text() == "three\n"
    service.restore_file(version=1)
    assert (world.root / "f.txt").read_text() == "one\n"


def test_sizes_and_doctor_answer(service: Service) -> None:
    write(service, "f.txt", "x" * 200_000)
    sizes = service.du().result
    assert sizes["versions"] == 2 and sizes["content_bytes"] == 200_000
    assert service.doctor().result["ok"]


def test_thousands_of_tasks_do_not_slow_the_next_one_down(world: World, service: Service) -> None:
    for number in range(2000):
        with service.session.catalog.write(sync=False) as c:
            tasks.insert(c, f"old{number}", tasks.ensure_workspace(c, str(world.root)), "old", "", 1)
    service.begin_task("now")
    write(service, "f.txt", "one\n")
    assert service.restore_file(task_id="current").result["applied"]
