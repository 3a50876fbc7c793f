"""gc and purge: what goes, what stays, and what the history says of it."""

from __future__ import annotations

import pytest
from world import World

from agenvoy.errors import AgenvoyError
from agenvoy.workspace.service import Service


def rows(service: Service, path: str) -> list[tuple[int, bool]]:
    return [(r["version"], r["restorable"]) for r in service.file_history(path=path).result["rows"]]


def edited(service: Service, world: World, name: str, *texts: str) -> None:
    world.put(name, texts[0])
    service.read_files([{"path": name}])
    for text in texts[1:]:
        service.edit_file(name, content=text)


def test_old_versions_go_and_the_newest_stays(world: World, service: Service) -> None:
    service.begin_task("old")
    edited(service, world, "a", "one\n", "two\n", "three\n")
    service.end_task()
    done = service.gc(keep_days=0).result
    assert done["versions"] == 2
    assert [ok for _, ok in rows(service, "a")] == [True, False, False]
    assert "gc" in service.file_history(path="a").result["rows"][-1]["reason"]
    assert service.verify().result["ok"]


def test_a_dry_run_takes_nothing(world: World, service: Service) -> None:
    service.begin_task("old")
    edited(service, world, "a", "one\n", "two\n")
    service.end_task()
    assert service.gc(keep_days=0, dry_run=True).result["versions"] == 1
    assert all(ok for _, ok in rows(service, "a"))


def test_what_a_running_task_needs_never_goes(world: World, service: Service) -> None:
    service.begin_task("running")
    edited(service, world, "a", "one\n", "two\n")
    assert service.gc(keep_days=0, max_size=0).result["versions"] == 0
    service.restore_file(task_id="current")
    assert (world.root / "a").read_text() == "one\n"


def test_a_version_whose_bytes_went_is_refused_by_name(world: World, service: Service) -> None:
    service.begin_task("old")
    edited(service, world, "a", "one\n", "two\n")
    first = rows(service, "a")[-1][0]
    service.end_task()
    service.gc(keep_days=0)
    with pytest.raises(AgenvoyError) as refused:
        service.restore_file(version=first)
    assert refused.value.code == "not_restorable"
    assert (world.root / "a").read_text() == "two\n"


def test_purge_forgets_a_path_and_leaves_the_rest(world: World, service: Service) -> None:
    secret = "a secret that must not stay anywhere 8c1f\n"
    edited(service, world, "s", secret, "none\n")
    edited(service, world, "a", "one\n", "two\n")
    service.purge("s")
    assert [ok for _, ok in rows(service, "s")] == [False, False]
    assert [ok for _, ok in rows(service, "a")] == [True, True]
    held = [p for p in world.home.rglob("*") if p.is_file() and secret.encode().strip() in p.read_bytes()]
    assert held == []
    assert service.verify().result["ok"]


def test_what_purge_did_is_no_operation_that_undo_takes_back(world: World, service: Service) -> None:
    edited(service, world, "s", "x\n", "y\n")
    edited(service, world, "a", "one\n", "two\n")
    service.purge("s")
    service.undo()
    assert (world.root / "a").read_text() == "one\n"


def test_purge_forgets_what_was_only_read(world: World, service: Service) -> None:
    secret = "only ever read, and never to stay 5d2a\n"
    world.put("r", secret)
    service.read_files([{"path": "r"}])
    service.purge("r")
    held = [p for p in world.home.rglob("*") if p.is_file() and secret.encode().strip() in p.read_bytes()]
    assert held == []
