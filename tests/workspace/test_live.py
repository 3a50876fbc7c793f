"""A watched workspace answers as a cold search does, whatever was done in between."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenvoy.config import Settings
from agenvoy.disk import watching
from agenvoy.disk.jail import Jail
from agenvoy.workspace import sweep
from agenvoy.workspace.find import find_files
from agenvoy.workspace.indexing import index_path
from tests.workspace.test_indexing import age, conf, made, write

__all__ = ["conf"]
ROUNDS = int(os.environ.get("AGENVOY_LIVE_ROUNDS", "60"))  # 9,000 in all were run once

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/sys/fs/inotify"), reason="needs inotify")


@pytest.fixture(autouse=True)
def trees(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(watching, "_LOCAL", watching._LOCAL | {"overlay"})  # what a container has; nobody else is on it
    yield
    sweep.trees.close()


def asked(conf: Settings, watched: bool, pattern: str = "needle", **options: Any) -> dict[str, Any]:
    queries = [{"pattern": pattern, **options.pop("query", {})}]
    return find_files(
        Jail(conf), mode="search", queries=queries, limit=10_000, index=index_path(conf), watched=watched, **options
    )


def warmed(conf: Settings, **options: Any) -> None:
    """Index the workspace and have its tree built."""
    age(conf)
    made(conf)
    for _ in range(2):
        asked(conf, True, **options)
    sweep.trees.settle()


def tree() -> Any:
    (found,) = sweep.trees._trees.values()
    return found


def same(conf: Settings, **options: Any) -> list[str]:
    live = asked(conf, True, **options)
    assert live == asked(conf, False, **options)
    return [row["path"] for row in live["rows"]]


def test_files_that_cannot_match_are_not_even_looked_at(conf: Settings) -> None:
    for number in range(20):
        write(conf, f"d{number % 3}/f{number}", "needle\n" if number == 7 else "hay\n")
    warmed(conf)
    assert tree().to_read(conf.root, set()) == {}
    assert same(conf) == ["d1/f7"]


def test_what_was_done_before_the_call_is_found(conf: Settings) -> None:
    for name in ("a", "d/b", "d/e/c"):
        write(conf, name, "hay\n")
    warmed(conf)
    write(conf, "d/b", "needle\n")
    write(conf, "d/new/deep/er", "needle\n")
    os.rename(Path(conf.root) / "d/e", Path(conf.root) / "moved")
    assert same(conf) == ["d/b", "d/new/deep/er"]
    write(conf, "moved/c", "needle\n")
    shutil.rmtree(Path(conf.root) / "d")
    assert same(conf) == ["moved/c"]
    assert len(sweep.trees._trees) == 1  # it was kept up to date, not built anew


def test_a_rule_that_comes_or_goes_holds_at_once(conf: Settings) -> None:
    for name in ("a.log", "d/b.log", "d/e/c.log"):
        write(conf, name, "needle\n")
    warmed(conf)
    write(conf, "d/.gitignore", "*.log\n")
    assert same(conf) == ["a.log"]
    write(conf, "d/e/.ignore", "!c.log\n")
    assert same(conf) == ["a.log", "d/e/c.log"]
    os.unlink(Path(conf.root) / "d/.gitignore")
    assert same(conf) == ["a.log", "d/b.log", "d/e/c.log"]
    write(conf, ".git/info/exclude", "a.log\n")
    assert same(conf) == ["d/b.log", "d/e/c.log"]
    write(conf, ".git/info/exclude", "b.log\n")  # lies in a folder that is not watched
    assert same(conf) == ["a.log", "d/e/c.log"]


def test_another_name_of_a_file_makes_it_read_again(conf: Settings) -> None:
    write(conf, "d/a", "hay\n")
    warmed(conf)
    os.link(Path(conf.root) / "d/a", Path(conf.root) / "z")
    same(conf)
    with open(Path(conf.root) / "z", "a") as other:
        other.write("needle\n")
    assert same(conf) == ["d/a", "z"]


def test_folders_and_patterns_for_names_narrow_the_watched_tree_too(conf: Settings) -> None:
    for name in ("a.py", "d/b.py", "d/c.txt", "d/.env", "d/h/.x.py"):
        write(conf, name, "needle\n")
    os.symlink("a.py", Path(conf.root) / "d/link.py")
    os.mkfifo(Path(conf.root) / "d/pipe.py")
    warmed(conf)
    assert same(conf, query={"dir": "d"}) == ["d/b.py", "d/c.txt"]
    assert same(conf, query={"file_pattern": "*.py"}) == ["a.py", "d/b.py"]
    assert same(conf, query={"dir": "d", "file_pattern": "*.txt"}) == ["d/c.txt"]
    assert asked(conf, True, query={"file_pattern": "*.py"})["skipped"]["special"] == 1


def test_a_folder_that_opens_or_closes_is_met(conf: Settings) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read every folder")
    write(conf, "d/a", "needle\n")
    warmed(conf)
    os.chmod(Path(conf.root) / "d", 0)
    assert same(conf) == []
    os.chmod(Path(conf.root) / "d", 0o755)
    assert same(conf) == ["d/a"]


def test_a_full_queue_and_a_new_index_are_noticed(conf: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    write(conf, "a", "hay\n")
    write(conf, "b", "hay\n")
    warmed(conf)
    with open("/proc/sys/fs/inotify/max_queued_events") as most:
        many = int(most.read()) + 10
    if many <= 40_000:
        for number in range(many):
            os.utime(Path(conf.root) / "ab"[number % 2])
        write(conf, "a", "needle\n")
        assert same(conf) == ["a"]
        assert not sweep.trees._trees or not tree()._watching.changes().lost
    sweep.trees.settle()
    age(conf)
    made(conf)
    assert same(conf) == ([] if many > 40_000 else ["a"])


def test_a_place_that_cannot_be_watched_is_searched_all_the_same(
    conf: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(conf, "a", "needle\n")
    monkeypatch.setattr(watching, "_LOCAL", frozenset())
    warmed(conf)
    assert not sweep.trees._trees
    assert same(conf) == ["a"]


@pytest.mark.parametrize("seed", range(3))
def test_any_changes_and_the_watched_answer_is_the_cold_one(conf: Settings, seed: int) -> None:
    chance = random.Random(seed)
    root = Path(conf.root)
    names = ["a", "b.log", ".h", ".gitignore", ".ignore", ".env", "needle"]
    dirs = ["", "d", "d/e", "x", "x/.y", "node"]

    def somewhere() -> Path:
        return root / chance.choice(dirs) / chance.choice(names)

    def change() -> None:
        path, other = somewhere(), somewhere()
        what = chance.choice(["write"] * 6 + ["append", "unlink", "move", "moved folder", "rmtree", "link", "symlink"])
        try:
            if what == "write":
                path.parent.mkdir(parents=True, exist_ok=True)
                texts = ["needle\n", "hay\n", "*.log\n", "d/\n!b.log\n", "\0needle"]
                path.write_text(chance.choice(texts))
            elif what == "append":
                with open(path, "a") as file:
                    file.write("needle\n")
            elif what == "unlink":
                path.unlink()
            elif what == "move":
                os.rename(path, other)
            elif what == "moved folder":
                os.rename(path.parent, root / chance.choice(["x", "node", "d/e", "new"]))
            elif what == "rmtree" and path.parent != root:
                shutil.rmtree(path.parent)
            elif what == "link":
                os.link(path, path.parent / other.name)  # of one in a folder that is not watched nobody hears
            elif what == "symlink":
                os.symlink("a", other)
        except OSError:  # what was to be changed is not there (or is something else): another round changes it
            pass

    for _ in range(40):
        change()
    warmed(conf)
    for number in range(ROUNDS):
        for _ in range(chance.randrange(4)):
            change()
        query = chance.choice([{}, {}, {"dir": "d"}, {"file_pattern": "*.log"}])
        if (root / query.get("dir", ".")).is_dir():
            same(conf, query=query)
        if number % 40 == 39:
            age(conf)
            made(conf)
            same(conf)
        sweep.trees.settle()
