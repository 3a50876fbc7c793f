"""Whole tasks on real source, and the order of states inside one tick of the clock."""

from __future__ import annotations

import os
import random
import sysconfig
from pathlib import Path

import pytest
from world import World, actions, history, outcomes, patch, refused, sound, write

from agenvoy.workspace.service import Service

COUNT = 1000


def _real_source(world: World) -> list[str]:
    """A thousand files of Python's own library, with modes and links as a checkout has them."""
    library, names = Path(sysconfig.get_paths()["stdlib"]), []
    for number, path in enumerate(sorted(library.rglob("*.py"))):
        if len(names) == COUNT:
            break
        name = str(path.relative_to(library))
        if "site-packages" not in name and path.stat().st_size < 60_000:
            world.put(name, path.read_bytes(), (0o644, 0o755, 0o600)[number % 3])
            names.append(name)
    for number in range(0, 50):
        (world.root / f"link{number}").symlink_to(names[number])
    (world.root / "empty/folder").mkdir(parents=True)
    return names


@pytest.mark.timeout(240)
def test_a_task_over_a_thousand_real_files_goes_back_byte_for_byte(world: World) -> None:
    names, dice = _real_source(world), random.Random(3)
    before, service = world.picture(), world.service()
    service.begin_task("turn everything over")
    for number, name in enumerate(names):
        match number % 4:
            case 0:
                write(service, name, f"# {name} {dice.random()}\n")
            case 1:
                service.remove_file(name)
            case 2:
                service.remove_file(name)
                service.edit_file(name, content="again\n")
            case 3:
                service.edit_file(f"made/{number % 7}/{number}.txt", content="new\n")
    for number in range(0, 50, 2):
        service.remove_file(f"link{number}")
    done = service.restore_file(task_id="current")
    assert world.picture() == before
    assert done.result["applied"] and set(outcomes(done).values()) == {"restored", "recreated", "removed"}
    sound(service)
    service.undo()
    assert (world.root / "made/3/3.txt").read_text() == "new\n"
    service.redo()
    assert world.picture() == before


def test_four_states_within_one_tick_are_four_rows_and_go_back_to_the_first(world: World) -> None:
    world.put("f.txt", "A\n")
    service = world.service(clock=lambda: 1_800_000_000_000_000_000)
    for old, new in ("AB", "BC", "CD"):
        patch(service, "f.txt", old, new)
    rows = history(service, "f.txt")
    assert [service.show(row["version"]).result["content"] for row in rows] == ["A\n", "B\n", "C\n", "D\n"]
    service.restore_file(task_id="current")
    assert (world.root / "f.txt").read_text() == "A\n"


# ---- others' changes stay
LINES = [f"line {n}\n" for n in range(9)]


def _lines(world: World, **changed: str) -> str:
    """The nine lines with some replaced: `l3="x"`."""
    found = [changed.get(f"l{n}", line.rstrip("\n")) + "\n" for n, line in enumerate(LINES)]
    world.put("f.txt", "".join(found))
    return "".join(found)


def text(world: World) -> str:
    return (world.root / "f.txt").read_text()


def test_a_users_line_between_two_edits_of_the_task_stays(world: World, service: Service) -> None:
    _lines(world)
    patch(service, "f.txt", "line 1", "task 1")
    world.put("f.txt", text(world).replace("line 4", "user 4"))
    patch(service, "f.txt", "line 7", "task 7")
    assert outcomes(service.restore_file(task_id="current")) == {"f.txt": "merged"}
    assert text(world) == "".join(LINES).replace("line 4", "user 4")


def test_a_task_in_the_middle_is_taken_back_alone(world: World) -> None:
    _lines(world)
    tasks = []
    for number in (1, 4, 7):
        service = world.service(actor=f"actor{number}")
        tasks.append(service.begin_task(f"change {number}").result["task_id"])
        patch(service, "f.txt", f"line {number}", f"task {number}")
    world.service().restore_file(task_id=tasks[1])
    assert text(world) == "".join(LINES).replace("line 1", "task 1").replace("line 7", "task 7")


def test_overlapping_changes_are_a_conflict_that_names_both_sides(world: World, service: Service) -> None:
    _lines(world)
    world.put("other.txt", "one\n")
    mine = patch(service, "f.txt", "line 4", "task 4")["version"]
    patch(service, "other.txt", "one", "two")
    world.put("f.txt", text(world).replace("task 4", "user 4"))
    error = refused(service.restore_file, task_id="current")
    plan = {c["path"]: c for c in error.details["changes"]}
    assert error.code == "conflict" and plan["f.txt"]["outcome"] == "conflict"
    assert (plan["f.txt"]["base_version"], plan["f.txt"]["to_version"]) == (mine, mine - 1)
    assert (world.root / "other.txt").read_text() == "two\n" and "user 4" in text(world)


@pytest.mark.parametrize(("way", "expected"), [("overwrite", "line 4"), ("skip", "user 4")])
def test_conflicts_go_as_they_are_told_to(world: World, service: Service, way: str, expected: str) -> None:
    _lines(world)
    world.put("other.txt", "one\n")
    patch(service, "f.txt", "line 4", "task 4")
    patch(service, "other.txt", "one", "two")
    world.put("f.txt", text(world).replace("task 4", "user 4"))
    service.restore_file(task_id="current", on_conflict=way)
    assert expected in text(world) and (world.root / "other.txt").read_text() == "one\n"
    kept = [service.show(r["version"]).result["content"] for r in history(service, "f.txt")]
    assert (way == "skip") or any("user 4" in (content or "") for content in kept)


def test_abort_refuses_whatever_changed_since(world: World, service: Service) -> None:
    _lines(world)
    patch(service, "f.txt", "line 1", "task 1")
    world.put("f.txt", text(world) + "user\n")
    assert refused(service.restore_file, task_id="current", on_conflict="abort").code == "conflict"
    assert outcomes(service.restore_file(task_id="current")) == {"f.txt": "merged"}
    assert text(world) == "".join(LINES) + "user\n"


def test_a_moved_file_goes_back_with_its_later_edits(world: World, service: Service) -> None:
    _lines(world)
    service.begin_task("move")
    service.move_file("f.txt", "far/away.txt")
    world.put("far/away.txt", (world.root / "far/away.txt").read_text().replace("line 4", "user 4"))
    service.restore_file(task_id="current")
    assert text(world) == "".join(LINES).replace("line 4", "user 4")
    assert not (world.root / "far").exists()


def test_a_move_keeps_one_history_on_both_paths(world: World, service: Service) -> None:
    _lines(world)
    service.move_file("f.txt", "g.txt")
    assert actions(service, "f.txt") == ["observed", "move"] and actions(service, "g.txt") == ["observed", "move"]
    assert history(service, "g.txt")[-1]["moved"] == "f.txt"


def test_a_removed_file_whose_place_was_taken_is_not_overwritten(world: World, service: Service) -> None:
    _lines(world)
    service.remove_file("f.txt")
    world.put("f.txt", "by hand\n")
    assert refused(service.restore_file, task_id="current").code == "conflict"
    assert text(world) == "by hand\n"
    service.restore_file(version=1)
    assert text(world) == "".join(LINES)
    assert service.show(3).result["content"] == "by hand\n"


def test_a_folder_goes_and_comes_back_whole(world: World, service: Service) -> None:
    world.put("d/a.txt", "a\n", 0o600)
    world.put("d/deep/run", "b\n", 0o755)
    (world.root / "d/empty").mkdir(mode=0o750)
    (world.root / "d/l").symlink_to("nowhere")
    before = world.picture()
    service.remove_tree("d")
    assert world.picture() == {}
    assert len({row["task_id"] for row in history(service)}) == 1
    service.restore_file(task_id="current")
    assert world.picture() == before


def test_folders_that_the_task_made_go_but_not_the_users(world: World, service: Service) -> None:
    (world.root / "mine/empty").mkdir(parents=True)
    service.edit_file("made/deep/f.txt", content="x\n")
    service.edit_file("mine/f.txt", content="x\n")
    service.restore_file(task_id="current")
    assert set(world.picture()) == {"mine", "mine/empty"}


def test_an_empty_folder_of_the_user_survives_undo_and_restore(world: World, service: Service) -> None:
    world.put("d/a.txt", "a\n")
    (world.root / "d/empty").mkdir()
    service.remove_tree("d")
    service.undo()
    patch(service, "d/a.txt", "a", "A")
    before = set(world.picture())
    service.restore_file(task_id="current")
    assert set(world.picture()) == before and os.path.isdir(world.root / "d/empty")


def test_a_long_moved_file_goes_back_with_edits_on_both_sides_of_the_move(world: World) -> None:
    lines = [f"line {n} of a file that is too long for history.db itself\n" for n in range(4000)]
    world.put("f.txt", "".join(lines))
    service = world.service(patch_bytes=1_000_000)
    patch(service, "f.txt", "line 10 of", "task 10 of")
    service.move_file("f.txt", "g.txt")
    world.put("g.txt", (world.root / "g.txt").read_text().replace("line 3000 of", "user 3000 of"))
    service.restore_file(task_id="current")
    assert text(world) == "".join(lines).replace("line 3000 of", "user 3000 of")


def test_two_services_of_one_actor_share_the_task_that_begins_by_itself(world: World) -> None:
    one, other = world.service(), world.service()
    specs = [s.session.spec("edit_file", "edit", "Edit(a)") for s in (one, other)]  # neither sees a running task yet
    assert specs[0].task != specs[1].task
    for service, name, spec in ((one, "a", specs[0]), (other, "b", specs[1])):
        service.session.spec = lambda *given, spec=spec, **more: spec  # type: ignore[method-assign]
        service.edit_file(name, content="x\n")
    assert len(world.service().list_tasks().result["rows"]) == 1
