"""Several writers at once: exactly one winner, nothing lost, and a save in the last instant is never overwritten."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from world import World, actions, attempt, history, outcomes, patch, read, refused, sound, write

from agenvoy.disk import replace
from agenvoy.disk.locks import path_key
from agenvoy.workspace.service import Service

PROCESSES, ROUNDS = 8, 25


def together(work: Callable[[int], int]) -> list[int]:
    """Run `work` in forked processes that start at once; gives their exit statuses."""
    gate, open_gate = os.pipe()
    children = []
    for number in range(PROCESSES):
        child = os.fork()
        if child == 0:
            code = 99
            try:
                os.close(open_gate)
                os.read(gate, 1)
                code = work(number)
            finally:
                os._exit(code)
        children.append(child)
    os.close(open_gate)
    os.close(gate)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def _winner(world: World, number: int, name: str) -> int:
    service = world.service(actor=f"racer{number}")
    target = {"old_string": "free", "new_string": f"taken by {number}"}
    code = attempt(lambda: service.edit_file(name, targets=[target]))
    return {None: 0, "stale_read": 1}.get(code, 2)


def test_eight_processes_on_one_file_have_one_winner_each_round(world: World) -> None:
    world.put("f.txt", "free\n")
    for _ in range(ROUNDS):
        for number in range(PROCESSES):
            read(world.service(actor=f"racer{number}"), "f.txt")
        world.close()
        codes = together(lambda number: _winner(world, number, "f.txt"))
        assert sorted(codes) == [0] + [1] * (PROCESSES - 1)
        assert (world.root / "f.txt").read_text() == f"taken by {codes.index(0)}\n"
        world.put("f.txt", "free\n")
    service = world.service()
    assert actions(service, "f.txt").count("modify") == ROUNDS
    sound(service)


def test_eight_processes_on_eight_files_lose_nothing(world: World) -> None:
    def work(number: int) -> int:
        service = world.service(actor=f"racer{number}")
        for turn in range(5):
            write(service, f"f{number}.txt", f"turn {turn}\n")
        return 0

    world.service().begin_task("the store is there")
    world.close()
    assert together(work) == [0] * PROCESSES
    service = world.service()
    for number in range(PROCESSES):
        assert actions(service, f"f{number}.txt") == ["observed", "create"] + ["modify"] * 4
    sound(service)


def at(step: str, act: Callable[[], object]) -> Callable[[str], None]:
    """A step function that acts once, at a step's first occurrence."""
    waiting = [act]

    def watch(name: str) -> None:
        if name == step and waiting:
            waiting.pop()()

    return watch


@pytest.mark.parametrize("step", ["recorded", "prepared", "stage"])
def test_a_save_in_the_last_instant_is_kept_and_the_edit_refused(world: World, step: str) -> None:
    path = world.put("f.txt", "one\n")
    service = world.service(step=at(step, lambda: path.write_text("by hand\n")))
    read(service, "f.txt")
    assert refused(service.edit_file, "f.txt", content="two\n").code == "stale_read"
    assert path.read_text() == "by hand\n"
    assert actions(service, "f.txt") == ["observed", "external"]
    assert world.leftovers() == []
    sound(service)


def saving(path: Path, moments: dict[int, tuple[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Save a file before and after chosen exchanges, as an editor saves: exchange → (text before, text after)."""
    real, count = replace.exchange, 0

    def save(text: str) -> None:
        if text:
            path.with_name("new").write_text(text)
            os.replace(path.with_name("new"), path)

    def exchange(one: str, other: str, fd: int) -> None:
        nonlocal count
        count += 1
        before, after = moments.get(count, ("", ""))
        save(before)
        real(one, other, fd)
        save(after)

    monkeypatch.setattr(replace, "exchange", exchange)


@pytest.mark.parametrize("more", [0, 1, 2])
def test_of_several_saves_around_an_exchange_the_newest_stays(
    world: World, service: Service, monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    path = world.put("f.txt", "one\n")
    read(service, "f.txt")
    moments = {1: ("save A\n", "save B\n"), **{n: ("", f"save {n}\n") for n in range(2, 2 + more)}}
    saving(path, moments, monkeypatch)
    assert refused(service.edit_file, "f.txt", content="two\n").code == "stale_read"
    assert path.read_text() == f"save {1 + more if more else 'B'}\n" and actions(service, "f.txt")[-1] == "external"
    assert world.leftovers() == []
    sound(service)


def test_of_several_saves_while_a_restore_is_taken_back_the_newest_stays(
    world: World, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.begin_task("work")
    for name in ("a.txt", "b.txt"):
        world.put(name, "first\n")
        patch(service, name, "first", "second")
    racing = world.service(step=at("commit", lambda: world.put("b.txt", "by hand\n")))
    saving(world.root / "a.txt", {4: ("save C\n", "save D\n")}, monkeypatch)  # a forth, b forth, b back, a back
    assert refused(racing.restore_file, task_id="current").code == "conflict"
    assert [(world.root / n).read_text() for n in ("a.txt", "b.txt")] == ["save D\n", "by hand\n"]
    assert world.leftovers() == []
    sound(service)


@pytest.mark.parametrize("replacement", ["link", "nothing", "folder"])
def test_whatever_takes_the_place_in_the_last_instant_stays(world: World, replacement: str) -> None:
    path = world.put("f.txt", "one\n")

    def swap() -> None:
        path.unlink()
        if replacement == "link":
            path.symlink_to("/etc/passwd")
        elif replacement == "folder":
            path.mkdir()

    service = world.service(step=at("stage", swap))
    read(service, "f.txt")
    assert refused(service.edit_file, "f.txt", content="two\n").code == "stale_read"
    assert os.path.islink(path) == (replacement == "link") and path.is_dir() == (replacement == "folder")
    assert world.leftovers() == []
    sound(service)


def test_a_file_that_appears_in_the_last_instant_is_not_overwritten(world: World) -> None:
    service = world.service(step=at("stage", lambda: world.put("f.txt", "by hand\n")))
    assert refused(service.edit_file, "f.txt", content="two\n").code == "stale_read"
    assert (world.root / "f.txt").read_text() == "by hand\n"
    assert actions(service, "f.txt")[-1] == "external"


def test_a_removal_in_a_race_with_a_save_keeps_the_save(world: World) -> None:
    path = world.put("f.txt", "one\n")
    service = world.service(step=at("prepared", lambda: path.write_text("by hand\n")))
    assert refused(service.remove_file, "f.txt").code == "stale_read"
    assert path.read_text() == "by hand\n"
    sound(service)


def test_a_move_in_a_race_with_a_save_keeps_the_save(world: World) -> None:
    path = world.put("f.txt", "one\n")
    service = world.service(step=at("prepared", lambda: path.write_text("by hand\n")))
    assert refused(service.move_file, "f.txt", "g.txt").code == "stale_read"
    assert path.read_text() == "by hand\n" and not (world.root / "g.txt").exists()
    sound(service)


@pytest.mark.parametrize("step", ["prepared", "stage", "commit"])
def test_a_restore_in_a_race_puts_everything_back_and_keeps_the_later_edit(world: World, step: str) -> None:
    for name in ("a", "b", "c", "d"):
        world.put(f"{name}.txt", f"{name} first\n")
    service = world.service()
    service.begin_task("work")
    for name in ("a", "b", "c", "d"):
        patch(service, f"{name}.txt", "first", "second")
    racing = world.service(step=at(step, lambda: world.put("d.txt", "by hand\n")))
    error = refused(racing.restore_file, task_id="current")
    assert error.code == "conflict" and error.details["changes"]
    texts = [(world.root / f"{n}.txt").read_text() for n in "abcd"]
    assert texts == ["a second\n", "b second\n", "c second\n", "by hand\n"]
    assert history(service, "d.txt")[-1]["action"] == "external"
    sound(service)
    assert outcomes(service.restore_file(task_id="last", on_conflict="skip"))["a.txt"] == "restored"


def test_a_tree_that_grows_while_it_is_removed_stays_whole(world: World) -> None:
    world.put("d/a.txt", "a\n")
    service = world.service(step=at("prepared", lambda: world.put("d/new.txt", "by hand\n")))
    assert refused(service.remove_tree, "d").code in ("stale_read", "conflict")
    assert (world.root / "d/a.txt").read_text() == "a\n" and (world.root / "d/new.txt").read_text() == "by hand\n"
    sound(service)


def test_a_lock_that_stays_taken_is_store_busy_after_a_bounded_wait(world: World) -> None:
    path = world.put("f.txt", "one\n")
    other = world.service()
    service = world.service(busy_s=0.2)
    read(service, "f.txt")
    with other.session.log.locks.hold([path_key(str(path))]):
        assert refused(service.edit_file, "f.txt", content="two\n").code == "store_busy"
    assert path.read_text() == "one\n"
    write(service, "f.txt", "two\n")


def test_locks_of_a_dead_process_are_free(world: World) -> None:
    path = world.put("f.txt", "one\n")
    service = world.service(busy_s=2)
    read(service, "f.txt")
    child = os.fork()
    if child == 0:
        hold = world.service().session.log.locks.hold([path_key(str(path))])
        hold.__enter__()
        os._exit(0)
    os.waitpid(child, 0)
    assert service.edit_file("f.txt", content="two\n").result["action"] == "modify"


def test_readers_never_see_half_a_file(world: World, tmp_path: Path) -> None:
    path = world.put("f.txt", "x" * 200_000)
    child = os.fork()
    if child == 0:
        service: Service = world.service()
        for turn in range(12):
            write(service, "f.txt", "xy"[turn % 2] * 200_000)
        os._exit(0)
    seen = set()
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        data = path.read_bytes()
        seen.add((len(data), len(set(data))))
    assert seen == {(200_000, 1)}
