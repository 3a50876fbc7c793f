"""What was refused is never carried out later, and what was done is never told as failed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from world import World

from agenvoy.errors import AgenvoyError


def full_at(name: str) -> Callable[[str], None]:
    """A step that fails as a full disk does."""

    def step(now: str) -> None:
        if now == name:
            raise OSError(28, "No space left on device")

    return step


def test_a_failure_that_history_cannot_take_is_not_carried_out_by_the_next_start(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put("a", "one\n")
    service = world.service(step=full_at("stage"))
    service.read_files([{"path": "a"}])
    log = service.session.log
    write, calls = log.catalog.write, []

    def full(*, sync: bool = True):  # type: ignore[no-untyped-def]
        calls.append(sync)
        if len(calls) > 1:  # the operation is recorded as prepared; then the disk is full
            raise AgenvoyError("disk_full", "the history cannot be written: the disk is full")
        return write(sync=sync)

    monkeypatch.setattr(log.catalog, "write", full)
    with pytest.raises(AgenvoyError) as refused:
        service.edit_file("a", content="two\n")
    assert refused.value.code == "disk_full"
    monkeypatch.undo()
    again = world.service()
    again.workspace_status()
    assert (world.root / "a").read_text() == "one\n"
    assert again.file_history(path="a").result["rows"] == []
    assert again.verify().result["ok"]


def test_a_change_that_is_done_is_told_so_though_history_is_full(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put("a", "one\n")
    service = world.service()
    service.read_files([{"path": "a"}])
    log = service.session.log

    def full(*given: object) -> None:
        raise AgenvoyError("disk_full", "the history cannot be written: the disk is full")

    monkeypatch.setattr(log, "confirm", full)
    assert service.edit_file("a", content="two\n").result["action"] == "modify"
    monkeypatch.undo()
    again = world.service()
    assert [r["action"] for r in again.file_history(path="a").result["rows"]] == ["modify", "observed"]
    assert (world.root / "a").read_text() == "two\n"


def test_a_trash_without_room_is_no_reason_to_keep_a_file(world: World) -> None:
    world.put("a", "one\n")
    service = world.service()
    service.session.catalog  # noqa: B018  the store is made
    (world.home / ".store/temp").rmdir()
    (world.home / ".store/temp").write_text("in the way")
    service.remove_file("a")
    assert not (world.root / "a").exists()
    service.undo()
    assert (world.root / "a").read_text() == "one\n"
