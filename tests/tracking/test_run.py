"""`run`: attribution, statuses, limits, interruption; and what changed outside."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from world import World, as_ordinary_user

from agenvoy.types import Outcome
from agenvoy.workspace.service import Service


def run(service: Service, world: World, command: str, **options: object) -> Outcome:
    return service.run(["sh", "-c", command], dict(os.environ), str(world.root), **options)


def live(world: World, **settings: object) -> Service:
    return world.service(clock=time.time_ns, **settings)


def test_the_status_is_the_commands_own_and_its_changes_are_one_operation(world: World) -> None:
    world.put("a", "1\n")
    service = live(world)
    done = run(service, world, "echo 2 > a; echo 3 > b; exit 7").result
    assert done["status"] == 7
    assert [(c["path"], c["change"]) for c in done["changes"]] == [("a", "modified"), ("b", "created")]
    rows = service.file_history(task_id=done["task_id"]).result["rows"]
    assert {(r["path"], r["action"], r["tool"]) for r in rows if r["action"] != "observed"} == {
        ("a", "modify", "run"),
        ("b", "create", "run"),
    }


def test_a_command_that_is_not_there_changes_nothing(world: World) -> None:
    service = live(world)
    assert service.run(["no-such-program"], dict(os.environ), str(world.root)).result["status"] == 127


def test_a_signal_counts_as_a_shell_counts_it(world: World) -> None:
    assert run(live(world), world, "kill -9 $$").result["status"] == 137


def test_what_a_person_changed_before_is_outside_and_not_undone(world: World) -> None:
    world.put("a", "1\n")
    service = live(world)
    run(service, world, "true")
    world.put("a", "mine\n")
    done = run(service, world, "echo x > b").result
    assert done["outside"] == ["a"]
    assert [c["path"] for c in done["changes"]] == ["b"]
    service.restore_file(task_id="current")
    assert (world.root / "a").read_text() == "mine\n"
    assert not (world.root / "b").exists()


def test_a_tools_edit_is_not_taken_for_an_outside_change(world: World) -> None:
    world.put("a", "1\n")
    service = live(world)
    run(service, world, "true")
    service.read_files([{"path": "a"}])
    service.edit_file("a", content="2\n")
    done = run(service, world, "true").result
    assert (done["outside"], done["changes"]) == ([], [])
    assert service.workspace_status().result["outside"] == []


def test_status_shows_outside_changes_of_the_whole_tree_once_there_is_a_baseline(world: World) -> None:
    world.put("never/touched.txt", "1\n")
    service = live(world)
    run(service, world, "true")
    world.put("never/touched.txt", "2\n")
    world.put("new.txt", "n\n")
    (world.root / "x").mkdir()
    told = service.workspace_status().result["outside"]
    assert [(r["path"], r["change"]) for r in told] == [
        ("never/touched.txt", "modified"),
        ("new.txt", "created"),
        ("x", "created"),
    ]


def test_equal_size_and_times_do_not_hide_a_change(world: World) -> None:
    path = world.put("a", "1\n")
    service = live(world)
    run(service, world, "true")
    stamp = path.stat()
    path.write_text("2\n")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert [r["path"] for r in service.workspace_status().result["outside"]] == ["a"]


def test_ignored_files_are_left_out_unless_a_tool_touched_them(world: World) -> None:
    world.put(".gitignore", "*.log\n")
    world.put("a.log", "1\n")
    world.put("b.log", "1\n")
    service = live(world)
    service.read_files([{"path": "a.log"}])
    service.edit_file("a.log", content="2\n")
    done = run(service, world, "echo 3 > a.log; echo 3 > b.log").result
    assert [c["path"] for c in done["changes"]] == ["a.log"]
    assert done["left_out"]["ignored"] == 2


def test_a_file_over_the_limit_is_said_and_not_kept(world: World) -> None:
    world.put("big", b"x" * 5000)
    service = live(world, track_bytes=1000)
    done = run(service, world, "echo y >> big").result
    assert done["not_kept"] == ["big"]


def test_a_renamed_folder_is_its_files_moved_and_later_edits_go_back_with_them(world: World) -> None:
    world.put("a/b/y", "one\ntwo\nthree\n")
    os.utime(world.root / "a/b/y", (1, 1))
    service = live(world)
    run(service, world, "true")
    time.sleep(0.05)  # until the stamps of the baseline are old enough to be trusted
    run(service, world, "true")
    done = run(service, world, "mv a/b c").result
    assert {c["path"]: c["change"] for c in done["changes"]}["c/y"] == "moved"
    (world.root / "c/y").write_text("one\ntwo\nthree\na person's line\n")
    service.restore_file(task_id="current")
    assert (world.root / "a/b/y").read_text() == "one\ntwo\nthree\na person's line\n"
    assert not (world.root / "c").exists()


def test_a_fifo_that_a_command_makes_is_said(world: World) -> None:
    os.mkfifo(world.root / "before")
    service = live(world)
    done = run(service, world, "mkfifo p; mkdir d; mkfifo d/q; echo x > f").result
    assert done["not_kept"] == ["d/q", "p"]
    assert run(service, world, "true").result["not_kept"] == []


def test_a_file_that_a_fifo_replaced_comes_back_once_that_is_gone(world: World) -> None:
    world.put("f", "1\n")
    world.put("g", "1\n")
    service = live(world)
    done = run(service, world, "rm f; mkfifo f; echo 2 > g").result
    assert {c["path"]: c["change"] for c in done["changes"]} == {"f": "deleted", "g": "modified"}
    assert service.restore_file(task_id="current", on_conflict="skip").result["applied"]
    assert (world.root / "g").read_text() == "1\n"
    os.unlink(world.root / "f")
    service.restore_file(task_id="current")
    assert (world.root / "f").read_text() == "1\n"


def test_status_knows_what_was_adopted_and_what_was_taken_out(world: World) -> None:
    service = live(world)
    run(service, world, "echo 1 > n1; echo 1 > kept")
    world.put("out", "1\n")
    service.adopt(paths=["out"])
    service.adopt(paths=["n1"], outside=True)
    found = service.workspace_status().result["task"]
    assert {(row["path"], row["change"]) for row in found} == {("kept", "created"), ("out", "created")}


def test_a_folder_that_was_closed_before_is_not_made_by_the_command_that_opens_it(tmp_path: Path) -> None:
    def act(world: World) -> None:
        world.put("locked/s", "MINE\n")
        world.put("a", "1\n")
        os.chmod(world.root / "locked", 0)
        service = live(world)
        run(service, world, "echo 2 > a; chmod 755 locked")
        service.restore_file(task_id="current", on_conflict="skip")
        assert (world.root / "a").read_text() == "1\n"
        os.chmod(world.root / "locked", 0o755)
        assert (world.root / "locked/s").read_text() == "MINE\n"

    as_ordinary_user(act)


def test_what_a_command_closes_is_said(tmp_path: Path) -> None:
    def act(world: World) -> None:
        world.put("a", "1\n")
        service = live(world)
        done = run(service, world, "echo 2 > a; chmod 0 a; echo 3 > b").result
        assert os.getuid() == 0 or done["not_kept"] == ["a"]

    as_ordinary_user(act)


def test_a_second_baseline_of_an_unchanged_tree_stores_nothing(world: World) -> None:
    for n in range(50):
        world.put(f"f{n}", f"{n}\n" * 50)
    service = live(world)
    run(service, world, "true")
    first = service.du().result["blobs"]
    run(service, world, "true")
    assert service.du().result["blobs"] == first


def test_what_a_killed_run_changed_is_recorded_by_the_next_start(world: World) -> None:
    world.put("a", "1\n")
    code = (
        "import os, sys, time; sys.path.insert(0, sys.argv[3]); from agenvoy.config import Settings;"
        "from agenvoy.workspace.service import Service; s = Service(Settings(root=sys.argv[1], home=sys.argv[2]));"
        "s.run(['sh', '-c', 'echo 2 > a; kill -9 $PPID; sleep 0.2; echo 3 > b'], dict(os.environ), sys.argv[1])"
    )
    top = str(Path(__file__).parents[2])
    done = subprocess.run([sys.executable, "-c", code, str(world.root), str(world.home), top], check=False)
    assert done.returncode == -9
    while not (world.root / "b").exists():
        time.sleep(0.01)
    service = live(world)
    service.restore_file(task_id="last")
    assert (world.root / "a").read_text() == "1\n"
    assert not (world.root / "b").exists()


def test_a_hard_link_made_by_a_command_does_not_lead_a_restore_into_the_other_file(world: World) -> None:
    world.put("a", "AAA\n")
    world.put("c", "CCC\n")
    service = live(world)
    run(service, world, "ln -f a c")
    service.restore_file(task_id="last")
    assert ((world.root / "a").read_text(), (world.root / "c").read_text()) == ("AAA\n", "CCC\n")


def test_ignored_files_that_a_command_uncovers_are_not_its_own(world: World) -> None:
    world.put(".gitignore", "ig\ndata/\n")
    world.put("ig", "precious\n")
    world.put("data/d", "p\n")
    service = live(world)
    run(service, world, "true")
    run(service, world, "rm .gitignore; echo x > new")
    service.restore_file(task_id="last")
    assert (world.root / "ig").read_text() == "precious\n"
    assert (world.root / "data/d").read_text() == "p\n"
    assert not (world.root / "new").exists()
    assert (world.root / ".gitignore").exists()


def test_files_that_a_command_covers_are_still_followed(world: World) -> None:
    world.put("keep", "1\n")
    world.put("d/x", "1\n")
    before = world.picture()
    service = live(world)
    run(service, world, "printf 'keep\\nd/\\n' > .gitignore; echo 2 > keep; echo 2 > d/x")
    service.restore_file(task_id="last")
    assert world.picture() == before


def test_a_file_over_the_limit_that_appears_breaks_nothing(world: World) -> None:
    world.put("small", "1\n")
    service = live(world, track_bytes=1000)
    done = run(service, world, "head -c 5000 /dev/zero > big; echo 2 > small").result
    assert done["not_kept"] == ["big"]
    service.workspace_status()
    run(service, world, "true")
    service.restore_file(task_id="last")
    assert (world.root / "small").read_text() == "1\n"
    assert not (world.root / "big").exists()
    assert service.verify().result["ok"]
