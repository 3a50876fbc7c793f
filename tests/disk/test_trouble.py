"""Full disks, odd names, odd files, swapped links: each gives its code, and nothing is lost."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from world import World, actions, attempt, history, patch, read, refused, sound, write

from agenvoy.disk.names import spell
from agenvoy.workspace.service import Service

CJK = "漢" * 84 + ".md"  # 255 bytes, the longest name that there is
LATIN = os.fsdecode(b"caf\xe9.txt")


# ---- full disks
@pytest.fixture
def small(tmp_path: Path) -> Iterator[World]:
    """A workspace and a store, each on a file system of its own with 1 MiB."""
    world = World(tmp_path)
    world.home.mkdir()
    mounted = []
    for folder in (world.root, world.home):
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
        if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode != 0:
            pytest.skip("needs the right to mount")
        mounted.append(folder)
    yield world
    world.close()
    for folder in mounted:
        subprocess.run(["umount", folder], check=True)


def fill(folder: Path) -> Path:
    """Leave no byte free; the file that does it can be removed again."""
    path = folder / "filler"
    with open(path, "wb", buffering=0) as out:
        try:
            while True:
                out.write(b"x" * 4096)
        except OSError:
            return path


@pytest.mark.parametrize("full", ["root", "home"])
@pytest.mark.parametrize("verb", ["edit", "create", "remove", "restore"])
def test_a_full_disk_refuses_and_loses_nothing(small: World, verb: str, full: str) -> None:
    small.put("f.txt", os.urandom(60_000).hex())
    service = small.service()
    service.begin_task("work")
    write(service, "f.txt", os.urandom(60_000).hex())
    write(service, "g.txt", "g\n")
    calls: dict[str, Callable[[], object]] = {
        "edit": lambda: service.edit_file("f.txt", content=os.urandom(200_000).hex()),
        "create": lambda: service.edit_file("new.txt", content=os.urandom(200_000).hex()),
        "remove": lambda: service.remove_file("f.txt"),
        "restore": lambda: service.restore_file(task_id="current"),
    }
    filler = fill(getattr(small, full))
    before = small.picture()
    code = attempt(calls[verb])
    if code is None:
        assert verb in ("remove", "restore")  # those may find room: a rename needs none
    else:
        assert code == "disk_full" and small.picture() == before
    filler.unlink()
    after = small.service()
    sound(after)
    after.restore_file(task_id="last", on_conflict="overwrite")
    assert history(after, "f.txt")[0]["action"] == "observed"
    assert not (small.root / "g.txt").exists()


def test_a_limit_on_the_size_of_files_is_disk_full(world: World) -> None:
    path = world.put("f.txt", "one\n")
    service = world.service()
    read(service, "f.txt")
    held = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, held[0][1]))
    try:
        assert refused(service.edit_file, "f.txt", content="x" * 100_000).code == "disk_full"
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, held[0])
        signal.signal(signal.SIGXFSZ, held[1])
    assert path.read_text() == "one\n" and world.leftovers() == []
    write(service, "f.txt", "two\n")
    sound(service)


# ---- odd names
@pytest.mark.parametrize("name", [CJK, LATIN, "-rf", "two words", "line\nbreak", "bytes:x", "%41", " ", "~"])
def test_any_legal_name_has_a_history_and_comes_back(world: World, service: Service, name: str) -> None:
    world.put(name, "one\n")
    asked = "./" + name if name in (" ", "~") else spell(name)
    patch(service, asked, "one", "two")
    service.remove_file(asked)
    assert [row["path"] for row in history(service)] == [spell(name)] * 3
    service.restore_file(version=1)
    assert (world.root / name).read_text() == "one\n"
    sound(service)


def test_a_name_that_is_too_long_is_invalid(service: Service) -> None:
    assert refused(service.edit_file, CJK + "x", content="").code == "invalid_arguments"


# ---- odd files
def test_a_fifo_is_never_opened(world: World, service: Service) -> None:
    os.mkfifo(world.root / "pipe")
    calls = ((service.edit_file, {"content": "x"}), (service.remove_file, {}), (service.move_file, {"to": "y"}))
    for verb, more in calls:
        assert refused(verb, "pipe", **more).code == "not_a_file"
    assert world.root.joinpath("pipe").is_fifo()


def test_a_device_is_never_opened(world: World) -> None:
    (world.root / "zero").symlink_to("/dev/zero")
    service = world.service(allow=("/dev",))
    assert refused(service.edit_file, "zero", content="x").code == "not_a_file"
    service.remove_file("zero")  # the link itself is no device
    assert not os.path.lexists(world.root / "zero")


def test_a_parent_swapped_for_a_link_leads_nowhere(world: World, tmp_path: Path) -> None:
    world.put("d/f.txt", "one\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/f.txt").write_text("not ours\n")

    def swap(step: str) -> None:
        if step == "prepared" and not (world.root / "d").is_symlink():
            (world.root / "d").rename(tmp_path / "away")
            (world.root / "d").symlink_to(tmp_path / "outside")

    service = world.service(step=swap)
    read(service, "d/f.txt")
    assert refused(service.edit_file, "d/f.txt", content="two\n").code in ("symlink_loop", "not_found", "stale_read")
    assert (tmp_path / "outside/f.txt").read_text() == "not ours\n"
    assert (tmp_path / "away/f.txt").read_text() == "one\n"
    assert os.listdir(tmp_path / "outside") == ["f.txt"]


def test_git_folders_and_the_home_are_never_written(world: World, service: Service) -> None:
    world.put(".git/config", "[core]\n")
    world.put("sub/.git/HEAD", "ref\n")
    inside = world.service(home=str(world.root / "home"))
    assert refused(service.edit_file, ".git/config", content="").code == "permission_denied"
    assert refused(service.remove_tree, "sub").code == "permission_denied"
    assert refused(inside.edit_file, "home/x", content="").code == "permission_denied"
    assert (world.root / "sub/.git/HEAD").exists()


# ---- the whole state
def test_attributes_owner_and_mode_stay_through_edits_and_come_back(world: World, service: Service) -> None:
    path = world.put("f.txt", "one\n", 0o4711)
    os.setxattr(path, "user.note", b"kept")
    if os.geteuid() == 0:
        os.chown(path, 1234, 2345)
        path.chmod(0o4711)
    before = world.picture(), path.stat().st_uid, path.stat().st_gid
    patch(service, "f.txt", "one", "two")
    assert os.getxattr(path, "user.note") == b"kept" and path.stat().st_mode & 0o7777 == 0o4711
    service.remove_file("f.txt")
    service.restore_file(version=1)
    assert (world.picture(), path.stat().st_uid, path.stat().st_gid) == before


def test_all_names_of_one_inode_are_one_path_and_stay_one_inode(world: World, service: Service) -> None:
    path = world.put("f.txt", "one\n")
    os.link(path, world.root / "g.txt")
    patch(service, "f.txt", "one", "two")
    assert patch(service, "g.txt", "two", "three")["path"] == "g.txt"
    assert actions(service, "f.txt") == ["observed", "modify", "modify"]
    service.restore_file(task_id="current")
    assert path.read_text() == "one\n" and os.path.samefile(path, world.root / "g.txt")
    sound(service)


def test_a_link_is_followed_for_edits_and_is_itself_removed(world: World, service: Service) -> None:
    world.put("f.txt", "one\n")
    (world.root / "l").symlink_to("f.txt")
    patch(service, "l", "one", "two")
    service.remove_file("l")
    assert (world.root / "f.txt").read_text() == "two\n" and not os.path.lexists(world.root / "l")
    service.restore_file(task_id="current")
    assert os.readlink(world.root / "l") == "f.txt" and (world.root / "f.txt").read_text() == "one\n"


def test_a_change_of_mode_alone_does_not_rewrite_the_file(world: World, service: Service) -> None:
    path = world.put("f.txt", "one\n", 0o600)
    patch(service, "f.txt", "one", "two")
    path.chmod(0o755)
    first = history(service, "f.txt")[-1]["version"]
    inode, modified = path.stat().st_ino, path.stat().st_mtime_ns
    service.restore_file(version=first)
    assert path.stat().st_mode & 0o777 == 0o600
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (inode, modified)


def test_a_restore_does_not_touch_what_needs_no_change(world: World, service: Service) -> None:
    for name in ("a.txt", "b.txt"):
        world.put(name, "one\n")
        patch(service, name, "one", "two")
    world.put("a.txt", "one\n")
    inode, modified = (world.root / "a.txt").stat().st_ino, (world.root / "a.txt").stat().st_mtime_ns
    service.restore_file(task_id="current")
    assert ((world.root / "a.txt").stat().st_ino, (world.root / "a.txt").stat().st_mtime_ns) == (inode, modified)


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="needs a second file system")
def test_the_trash_works_across_file_systems(tmp_path: Path) -> None:
    import shutil
    import tempfile

    world = World(tmp_path)
    world.home = Path(tempfile.mkdtemp(dir="/dev/shm"))
    path = world.put("f.txt", "one\n", 0o640)
    (world.root / "l").symlink_to("f.txt")
    service = world.service()
    moved = [service.remove_file(name).result["moved_to"] for name in ("f.txt", "l")]
    assert Path(moved[0]).read_text() == "one\n" and os.readlink(moved[1]) == "f.txt"
    service.restore_file(task_id="current")
    assert path.read_text() == "one\n" and path.stat().st_mode & 0o777 == 0o640
    world.close()
    shutil.rmtree(world.home)
