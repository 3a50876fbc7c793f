"""What belongs to a state besides bytes and modes: owners, attributes of folders, marks, names of one file."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from world import World, attempt, outcomes, read, refused, sound, write

from agenvoy.disk import replace
from agenvoy.workspace.service import Service


def run(service: Service, world: World, command: str) -> None:
    service.run(["sh", "-c", command], dict(os.environ), str(world.root))


def facts(path: Path) -> tuple[object, ...]:
    found = os.lstat(path)
    names = [] if path.is_symlink() else [n for n in os.listxattr(path) if n.startswith("user.")]
    return found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode), [(n, os.getxattr(path, n)) for n in names]


def tag(path: Path) -> None:
    try:
        os.setxattr(path, "user.tag", b"mine")
    except OSError:
        pytest.skip("no extended attributes here")
    if os.geteuid() == 0:
        os.chown(path, 5, 6)


def test_a_removed_folder_comes_back_with_attributes_and_owners(world: World, service: Service) -> None:
    (world.root / "d").mkdir(0o750)
    (world.root / "d/link").symlink_to("nowhere")
    tag(world.root / "d")
    if os.geteuid() == 0:
        os.chown(world.root / "d/link", 7, 8, follow_symlinks=False)
    before = facts(world.root / "d"), facts(world.root / "d/link")
    service.remove_tree("d")
    service.undo()
    assert (facts(world.root / "d"), facts(world.root / "d/link")) == before


def test_a_refused_restore_leaves_a_folder_as_somebody_dressed_it(world: World) -> None:
    service = world.service()
    run(service, world, "mkdir made; echo 1 > f")
    tag(world.root / "made")
    before = facts(world.root / "made")

    def full(step: str) -> None:
        if step == "trash":  # the folder is gone by then
            raise OSError(28, "No space left on device")

    assert refused(world.service(step=full).restore_file, task_id="current").code == "disk_full"
    assert facts(world.root / "made") == before
    sound(service)


def test_a_file_that_nobody_may_change_is_found_in_the_plan(world: World, service: Service) -> None:
    path = world.put("d/f", "1\n")
    world.put("g", "1\n")
    run(service, world, "echo 2 > d/f; echo 2 > g")
    if shutil.which("chattr") is None or subprocess.call(["chattr", "+i", path], stderr=-3):
        pytest.skip("no immutable files here")
    try:
        assert outcomes(service.restore_file(task_id="current", dry_run=True))["d/f"] == "failed"
        error = refused(service.restore_file, task_id="current")
        assert error.code == "permission_denied" and "d/f" in error.message
        assert (world.root / "g").read_text() == "2\n"
    finally:
        subprocess.run(["chattr", "-i", path], check=True)
    service.restore_file(task_id="current")
    assert path.read_text() == "1\n"


def test_a_name_that_something_is_mounted_over_is_written_in_place(
    world: World, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world.put("f", "1\n")
    inode = path.stat().st_ino

    def busy(one: str, other: str, fd: int) -> None:
        raise OSError(16, "Device or resource busy")

    monkeypatch.setattr(replace, "exchange", busy)  # what the system says of a file that a container mounts
    write(service, "f", "2\n")
    assert path.read_text() == "2\n" and path.stat().st_ino == inode
    service.restore_file(task_id="current")
    assert path.read_text() == "1\n" and world.leftovers() == []
    sound(service)


@pytest.mark.parametrize("apart", [True, False])
def test_names_that_go_one_after_the_other_come_back_as_one_file(world: World, apart: bool) -> None:
    service = world.service()
    world.put("x", "1\n")
    os.link(world.root / "x", world.root / "y")
    service.begin_task("remove both")
    if apart:
        service.remove_file("x")
        service.remove_file("y")
    else:
        run(service, world, "rm x")
        run(service, world, "rm y")
    service.restore_file(task_id="current")
    assert (world.root / "x").stat().st_ino == (world.root / "y").stat().st_ino


def test_a_name_that_a_command_gave_is_given_again_by_redo(world: World, service: Service) -> None:
    world.put("x", "1\n")
    run(service, world, "ln x y")
    service.undo()
    assert not (world.root / "y").exists()
    service.redo()
    assert (world.root / "x").stat().st_ino == (world.root / "y").stat().st_ino


def page_of(db: Path, name: str) -> tuple[int, int]:
    with closing(sqlite3.connect(db)) as c:
        c.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = c.execute("PRAGMA page_size").fetchone()[0]
        root = c.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0]
    return (root - 1) * size, size


@pytest.mark.parametrize("index", ["versions_path", "operations_task"])
def test_rows_that_a_damaged_index_hides_stop_a_restore(world: World, index: str) -> None:
    for name in ("a", "b", "c"):
        world.put(name, "1\n")
    service = world.service()
    service.begin_task("change")
    read(service, "a", "b", "c")
    for name in ("a", "b", "c"):
        service.edit_file(name, content="2\n")
    world.close()
    db = Path(service.settings.store) / "history.db"
    start, size = page_of(db, index)
    sound_bytes = db.read_bytes()
    for at in [n for n in range(start + 8, start + size) if sound_bytes[n]][::7]:
        damaged = bytearray(sound_bytes)
        damaged[at] ^= 0x10
        for end in ("-wal", "-shm"):
            Path(f"{db}{end}").unlink(missing_ok=True)
        db.write_bytes(damaged)
        Path(f"{db}.damaged").unlink(missing_ok=True)
        answer = attempt(lambda: world.service().restore_file(task_id="last"))
        assert answer in (None, "store_corrupt", "no_task"), (at, answer)
        texts = {(world.root / name).read_text() for name in ("a", "b", "c")}
        assert texts == ({"2\n"} if answer else {"1\n"}), (at, answer)
        for name in ("a", "b", "c"):
            (world.root / name).write_text("2\n")
        world.close()
