"""Schemas and stores that are older, newer, read-only, damaged or held by somebody else."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from world import World, actions, history, read, refused, sound, write

from agenvoy.catalog import Catalog, migrations
from agenvoy.errors import AgenvoyError

FIRST = Path(__file__).parents[2] / "fixtures/stores/first_schema.sql"
FIRST_ROOT = "/srv/agenvoy-first/root"  # where the fixture's files were


def opened(store: Path) -> str:
    """The code of the refusal to open a store."""
    with pytest.raises(AgenvoyError) as caught:
        Catalog(str(store), 0.2)
    assert caught.value.hint
    return caught.value.code


def digest(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file() and p.name != "gate"}


@pytest.fixture
def first(world: World) -> World:
    """A store as the first schema wrote it."""
    (world.home / ".store").mkdir(parents=True)
    with sqlite3.connect(world.home / ".store/history.db") as c:
        c.executescript(FIRST.read_text())
    c.close()
    return world


def test_a_store_of_the_first_schema_migrates_and_keeps_everything(first: World) -> None:
    service = first.service(root=FIRST_ROOT)
    assert actions(service, "notes.txt") == ["observed", "modify"]
    assert actions(service, "new.txt") == ["observed", "create", "delete"]
    assert service.show(2).result["content"] == "one\n2\n"
    assert history(service)[0]["objective"] == "the first schema"
    sound(service)


def test_a_migrated_store_has_every_step_on_record(first: World) -> None:
    with Catalog(str(first.home / ".store")).read() as c:
        assert set(migrations.applied(c) or ()) == set(migrations.NAMES)


def test_a_store_of_a_newer_schema_is_refused_and_not_written(world: World) -> None:
    write(world.service(), "f.txt", "one\n")
    world.close()
    store = world.home / ".store"
    c = sqlite3.connect(store / "history.db")
    c.execute("INSERT INTO _sqlite_migrations(migration_set, name, applied_at) VALUES ('agenvoy', '999_new', '')")
    c.commit()
    c.close()
    before = digest(store)
    assert opened(store) == "store_unavailable"
    assert digest(store) == before


def test_a_new_store_is_private(world: World) -> None:
    write(world.service(), "f.txt", "x" * 200_000)
    for folder, folders, files in os.walk(world.home):
        assert all(os.stat(os.path.join(folder, name)).st_mode & 0o777 == 0o700 for name in folders)
        assert all(os.stat(os.path.join(folder, name)).st_mode & 0o777 == 0o600 for name in files)


def test_a_file_that_is_no_database_is_marked_damaged(world: World) -> None:
    store = world.home / ".store"
    store.mkdir(parents=True)
    (store / "history.db").write_bytes(b"not a database at all, but long enough to look at" * 100)
    assert opened(store) == "store_corrupt"
    assert (store / "history.db.damaged").exists()


def _spoil(world: World) -> None:
    """Zeroes over the pages that hold rows; the first page, with the schema, stays."""
    path = world.home / ".store/history.db"
    size = path.stat().st_size
    with open(path, "r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * (size - 8192))


def test_a_damaged_store_is_never_written_again_but_reading_files_goes_on(world: World) -> None:
    world.put("f.txt", "one\n")
    service = world.service()
    write(service, "f.txt", "two\n")
    service.session.catalog.checkpoint()
    world.close()
    _spoil(world)
    service = world.service()
    outcome = read(service, "f.txt")
    assert outcome.result["files"][0]["text"] and outcome.notices
    assert refused(service.edit_file, "f.txt", content="three\n").code == "store_corrupt"
    assert (world.root / "f.txt").read_text() == "two\n"
    assert not service.doctor().result["ok"]


def test_a_store_held_by_another_writer_is_busy_after_the_wait(world: World) -> None:
    world.put("f.txt", "one\n")
    service = world.service(busy_s=0.3)
    read(service, "f.txt")
    other = sqlite3.connect(world.home / ".store/history.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert refused(service.edit_file, "f.txt", content="two\n").code == "store_busy"
    assert (world.root / "f.txt").read_text() == "one\n"
    other.execute("ROLLBACK")
    write(service, "f.txt", "two\n")


@pytest.fixture
def read_only(world: World) -> Iterator[World]:
    """A store with a version in it, on a file system that is read-only."""
    world.put("f.txt", "one\n")
    mount = ["mount", "-t", "tmpfs", "none", _home(world)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False).returncode != 0:
        pytest.skip("needs the right to mount")
    write(world.service(), "f.txt", "two\n")
    world.close()
    subprocess.run(["mount", "-o", "remount,ro", str(world.home)], check=True)
    yield world
    world.close()
    subprocess.run(["umount", str(world.home)], check=True)


def _home(world: World) -> str:
    world.home.mkdir()
    return str(world.home)


def test_a_read_only_store_shows_its_history(read_only: World) -> None:
    assert actions(read_only.service(), "f.txt") == ["observed", "modify"]
    assert read_only.service().show(1).result["content"] == "one\n"


def test_a_read_only_store_refuses_every_change(read_only: World) -> None:
    service = read_only.service()
    assert "read-only" in read(service, "f.txt").notices[0]
    for verb, arguments in (
        (service.edit_file, {"path": "f.txt", "content": "three\n"}),
        (service.remove_file, {"path": "f.txt"}),
        (service.move_file, {"path": "f.txt", "to": "g.txt"}),
        (service.restore_file, {"version": 1}),
        (service.undo, {}),
        (service.begin_task, {"objective": "work"}),
    ):
        assert refused(verb, **arguments).code == "store_unavailable"
    assert read_only.picture().keys() == {"f.txt"} and (read_only.root / "f.txt").read_text() == "two\n"


def test_rows_after_a_checkpoint_and_before_it_are_one_history(world: World) -> None:
    service = world.service()
    for number in range(3):
        write(service, "f.txt", f"{number}\n")
        service.session.catalog.checkpoint()
    assert len(actions(service, "f.txt")) == 4
    assert os.path.getsize(world.home / ".store/history.db-wal") == 0
