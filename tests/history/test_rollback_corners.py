"""Rollbacks in corners that outsiders found: names of one inode, lost races, closed folders, altered rows."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest
from world import World, actions, as_ordinary_user, outcomes, refused, sound, write

from agenvoy.workspace.service import Service


def run(service: Service, world: World, command: str) -> None:
    service.run(["sh", "-c", command], dict(os.environ), str(world.root))


@pytest.mark.parametrize("command", ["echo 2 > a", "chmod 600 a", "echo longer > a; chmod 755 b", "echo 2 > a; rm b"])
def test_a_command_that_changes_a_file_with_several_names_is_undone(world: World, command: str) -> None:
    world.put("a", "first\n")
    os.link(world.root / "a", world.root / "b")
    before, service = world.picture(), world.service()
    run(service, world, command)
    after = world.picture()
    service.restore_file(task_id="current")
    assert world.picture() == before
    service.undo()
    assert world.picture() == after
    sound(service)


@pytest.mark.parametrize(
    "command",
    [
        "ln -f a b; echo 7 >> a",
        "ln -f a same; chmod 600 a",
        "ln -f a d/b; chmod -x d/b; echo 7 >> hard",
        "ln -f hard b; ln -f b d/b; rm a; chmod 755 d/b",
        "rm -r d; ln a d; echo 9 >> d",
        "ln -sfn d/e link; rm -r d/e; ln -s ../a d/e",
        "mv d real; ln -s real d; echo edited >> real/b",
        "mv d/e e; ln -s ../e d/e",
        "mkdir k; echo 2 > k/x; rm -rf d; ln -s k d",
    ],
)
def test_names_that_a_command_joined_are_parted_again(world: World, command: str) -> None:
    for name, mode in (("a", 0o755), ("b", 0o600), ("same", 0o644), ("d/b", 0o755), ("d/e/f", 0o644)):
        world.put(name, f"{name}\n" if name != "same" else "a\n", mode)
    os.link(world.root / "a", world.root / "hard")
    before, service = _plainly(world), world.service()
    run(service, world, command)
    after = _plainly(world)
    service.restore_file(task_id="current")
    assert _plainly(world) == before
    service.undo()
    assert _plainly(world) == after
    service.redo()
    assert _plainly(world) == before
    sound(service)


def _plainly(world: World) -> dict[str, tuple[object, ...]]:
    return {path: entry[:3] for path, entry in world.picture().items()}


def test_a_restore_that_lost_a_race_leaves_the_task_to_be_restored(world: World) -> None:
    for n in range(12):
        world.put(f"f{n}", f"{n}\n")
    work = world.service()
    run(work, world, "for f in f*; do echo x > $f; done")
    commits: list[str] = []

    def save(step: str) -> None:
        commits.append(step)
        if step == "commit" and commits.count("commit") == 3:
            for name in ("f0", "f9"):
                (world.root / name).write_text("saved by a person\n")

    loser = world.service(step=save)
    assert refused(loser.restore_file, task_id="last").code == "conflict"
    assert {(world.root / n).read_text() for n in ("f0", "f9")} == {"saved by a person\n"}
    assert {(world.root / f"f{n}").read_text() for n in range(1, 9)} == {"x\n"}
    assert "restore" not in actions(work, "f5")
    done = work.restore_file(task_id="last", on_conflict="skip")
    assert [(world.root / f"f{n}").read_text() for n in range(1, 9)] == [f"{n}\n" for n in range(1, 9)]
    assert {outcomes(done)[name] for name in ("f0", "f9")} == {"skipped"}
    sound(work)


def test_what_a_lost_restore_replaced_before_it_was_recorded_stays_in_the_history(world: World) -> None:
    for name in ("a", "b"):
        world.put(name, "1\n")
    work = world.service()
    run(work, world, "echo task > a; echo task > b")
    world.put("a", "a person's, that no row has\n")

    def save(step: str) -> None:
        if step == "commit" and (world.root / "a").read_text() != "a person's, that no row has\n":
            world.put("a", "saved at the same instant\n")
            world.put("b", "saved at the same instant\n")

    loser = world.service(step=save)
    assert refused(loser.restore_file, task_id="last", on_conflict="overwrite").code == "conflict"
    hashes = [r.state.hash for r in _rows(work, world, "a")]
    assert b"a person's, that no row has\n" in [work.session.vault.read(h) for h in hashes]
    sound(work)


def _rows(service: Service, world: World, name: str) -> list[object]:
    from agenvoy.catalog import versions

    with service.session.catalog.read() as c:
        return versions.of_path(c, str(world.root / name))  # type: ignore[return-value]


def test_a_file_in_place_of_a_parent_makes_room_for_folders_below_it(world: World) -> None:
    world.put("d/e/z", "1\n")
    service = world.service()
    service.remove_file("d/e/z")
    os.rmdir(world.root / "d/e")
    run(service, world, "rmdir d; echo file > d")
    service.restore_file(task_id="current", on_conflict="overwrite")
    assert (world.root / "d/e/z").read_text() == "1\n"
    service.undo()
    assert (world.root / "d").read_text() == "file\n"
    sound(service)


def test_a_folder_that_stood_before_the_task_is_never_dropped_as_its_own(world: World, service: Service) -> None:
    (world.root / "empty").mkdir()
    service.remove_tree("empty")
    write(service, "empty/q", "1\n")
    service.remove_file("empty/q")
    service.restore_file(task_id="current")
    assert world.picture().keys() == {"empty"}
    sound(service)


def test_an_edit_and_a_command_on_two_names_of_a_file_are_taken_back_together(world: World, service: Service) -> None:
    world.put("a", "1\n")
    os.link(world.root / "a", world.root / "h")
    before = world.picture()
    write(service, "a", "2\n")
    run(service, world, "echo 3 > h")
    service.restore_file(task_id="current")
    assert world.picture() == before
    service.undo()
    assert (world.root / "h").read_text() == "3\n"


@pytest.mark.parametrize("command", ["", "rm a", "rm a; echo 3 > a", "mv a z"])
def test_an_edit_through_a_name_that_went_is_taken_back_in_the_other_one(
    world: World, service: Service, command: str
) -> None:
    world.put("a", "1\n")
    os.link(world.root / "a", world.root / "h")
    before = _plainly(world)
    write(service, "a", "2\n")
    if command:
        run(service, world, command)
    else:
        service.remove_file("a")
    after = _plainly(world)
    service.restore_file(task_id="current")
    assert _plainly(world) == before
    service.undo()
    assert _plainly(world) == after
    sound(service)


def test_a_folder_that_the_task_made_and_removed_does_not_come_back(world: World, service: Service) -> None:
    write(service, "d/e/z", "1\n")
    service.remove_tree("d")
    done = service.restore_file(task_id="current")
    assert set(outcomes(done).values()) == {"unchanged"} and world.picture() == {}
    assert service.workspace_status().result["outside"] == []


def test_undoing_a_restore_brings_an_empty_folder_back(world: World, service: Service) -> None:
    write(service, "a/b", "1\n")
    service.remove_file("a/b")
    write(service, "n", "n\n")
    before = world.picture()
    assert outcomes(service.restore_file(task_id="current"))["a"] == "removed" and world.picture() == {}
    service.undo()
    assert world.picture() == before
    sound(service)


def test_nothing_is_restored_by_a_row_that_was_altered(world: World) -> None:
    world.put("f", "1\n")
    service = world.service()
    run(service, world, "echo 2 > f")
    with sqlite3.connect(Path(service.settings.store) / "history.db") as db:
        db.execute("UPDATE versions SET mode = mode + 1 WHERE action = 'observed'")
    for dry in (True, False):
        assert refused(service.restore_file, task_id="current", dry_run=dry).code == "store_corrupt"
    assert (world.root / "f").read_text() == "2\n"
    write(service, "g", "1\n")
    service.undo()  # what other operations recorded is not concerned
    assert not (world.root / "g").exists()


def test_an_ordinary_user_takes_back_folders_that_allow_no_change(tmp_path: Path) -> None:
    def act(world: World) -> None:
        service = world.service()
        run(service, world, "mkdir -p ro/deep; echo 1 > ro/f; echo 1 > ro/deep/g; chmod 555 ro ro/deep")
        made = world.picture()
        service.restore_file(task_id="current")
        assert world.picture() == {}
        service.undo()
        assert world.picture() == made
        service.redo()
        assert world.picture() == {}
        sound(service)

    as_ordinary_user(act)


def test_a_folder_that_goes_keeps_its_mode_where_the_restore_fails(tmp_path: Path) -> None:
    def act(world: World) -> None:
        run(world.service(), world, "mkdir ro; echo 1 > ro/f; echo 1 > ro/g; chmod 555 ro")
        made = world.picture()

        def full(step: str) -> None:
            if step == "commit":
                raise OSError(28, "No space left on device")

        assert refused(world.service(step=full).restore_file, task_id="current").code == "disk_full"
        assert world.picture() == made and stat.S_IMODE(os.stat(world.root / "ro").st_mode) == 0o555
        sound(world.service())

    as_ordinary_user(act)


def test_a_folder_that_cannot_be_read_holds_nothing_up(tmp_path: Path) -> None:
    def act(world: World) -> None:
        world.put("d/f", "1\n")
        service = world.service()
        run(service, world, "echo 2 > d/f")
        os.chmod(world.root / "d", 0o300)
        service.restore_file(task_id="current")
        assert (world.root / "d/f").read_text() == "1\n"
        os.chmod(world.root / "d", 0o755)
        sound(service)

    as_ordinary_user(act)


def test_a_folder_that_cannot_be_written_is_found_in_the_plan(tmp_path: Path) -> None:
    def act(world: World) -> None:
        if os.geteuid() == 0:
            return
        service = world.service()
        write(service, "c/d/f", "1\n")
        os.chmod(world.root / "c/d", 0o500)
        assert outcomes(service.restore_file(task_id="current", dry_run=True))["c/d/f"] == "failed"
        assert refused(service.restore_file, task_id="current").code == "permission_denied"
        assert (world.root / "c/d/f").read_text() == "1\n"
        sound(service)

    as_ordinary_user(act)


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="needs extended attributes")
def test_extended_attributes_that_a_command_changes_go_back_and_a_persons_stay(world: World) -> None:
    for name in ("changed", "added", "both", "edited"):
        world.put(name, "1\n")
    try:
        os.setxattr(world.root / "changed", "user.k", b"1")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    before, service = world.picture(), world.service()
    code = "import os; [os.setxattr(n, 'user.k', b'2') for n in ('changed', 'added', 'edited')]"
    service.run(["python3", "-c", code], dict(os.environ), str(world.root))
    after = world.picture()
    assert after != before
    service.restore_file(task_id="current")
    assert world.picture() == before
    service.undo()
    assert world.picture() == after
    world.put("edited", "a person's\n")
    service.restore_file(task_id="last")
    assert (world.root / "edited").read_text() == "a person's\n" and not os.listxattr(world.root / "edited")
    sound(service)


@pytest.mark.parametrize(
    "closed", ["mkdir n; chmod 0 n", "mkdir n; echo 1 > n/x; chmod 300 n", "mkdir -p n/m; chmod 0 n/m"]
)
def test_a_folder_that_a_command_closed_does_not_hold_up_the_rest(tmp_path: Path, closed: str) -> None:
    def act(world: World) -> None:
        world.put("f", "1\n")
        service = world.service()
        run(service, world, f"echo 2 > f; {closed}")
        told = outcomes(service.restore_file(task_id="current", dry_run=True))
        assert outcomes(service.restore_file(task_id="current")) == told
        assert (world.root / "f").read_text() == "1\n"
        for folder in ("n", "n/m"):
            if (world.root / folder).exists():
                os.chmod(world.root / folder, 0o755)
        sound(service)

    as_ordinary_user(act)


def test_a_conflict_says_where_a_file_was_moved(world: World) -> None:
    world.put("f", "1\n")
    one, other = world.service(actor="one"), world.service(actor="other")
    task = one.begin_task("change").result["task_id"]
    write(one, "f", "2\n")
    other.move_file("f", "g")
    error = refused(one.restore_file, task_id=task)
    assert error.details["changes"][0]["reason"] == "it was moved to g since"
    assert (world.root / "g").read_text() == "2\n"
