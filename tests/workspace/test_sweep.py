"""A large folder searched by several processes: the same answer, whoever searched what."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from agenvoy.config import Settings
from agenvoy.disk.jail import Jail
from agenvoy.workspace import sweep
from agenvoy.workspace.find import find_files

FOLDERS, FILES = 400, 12


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("large") / "root"
    for n in range(FOLDERS):
        folder = top / f"a{n % 20}" / f"b{n % 7}" / f"c-{n}"
        folder.mkdir(parents=True)
        for m in range(FILES):
            (folder / f"f{m}.txt").write_text("x = 1\n" * 200 + ("needle\n" * (m % 3)))
        (folder / "skip.log").write_text("needle\n")
        (folder / "data.bin").write_bytes(b"\0needle")
        (folder / ".env").write_text("needle\n")
    (top / ".gitignore").write_text("*.log\n")
    return top


def search(tree: Path, folder: str = ".", **options: Any) -> dict[str, Any]:
    jail = Jail(Settings(root=str(tree), home=str(tree.parent / "home")))
    return find_files(jail, mode="search", queries=[{"dir": folder, "pattern": "^needle$"}], limit=100_000, **options)


def test_workers_find_and_count_what_one_process_does(tree: Path) -> None:
    result = search(tree)
    parts = [search(tree, f"a{n}") for n in range(20)]
    assert result["rows"] == sorted((r for p in parts for r in p["rows"]), key=lambda r: os.fsencode(r["path"]))
    assert result["total"] == FOLDERS * FILES * 2 // 3
    assert result["skipped"] == {"binary": FOLDERS, "hidden": FOLDERS + 1, "ignored": FOLDERS}
    assert search(tree, hidden=True)["skipped"] == {"binary": FOLDERS, "ignored": FOLDERS, "sensitive": FOLDERS}


def test_a_worker_that_is_killed_costs_no_result(tree: Path) -> None:
    whole = search(tree)
    for pid in sweep._crew.pids():
        os.kill(pid, signal.SIGKILL)
    assert search(tree) == whole


def test_a_search_cut_short_has_found_the_first_files_and_all_of_them(tree: Path) -> None:
    whole = search(tree)["rows"]
    for timeout_s in (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.1, 0.15):
        result = search(tree, timeout_s=timeout_s)
        assert result["rows"] == whole[: len(result["rows"])]
        assert result["complete"] or result["stopped_at"]
        if result["complete"]:
            assert len(result["rows"]) == len(whole)


def test_rows_of_a_page_are_the_same_from_workers(tree: Path) -> None:
    first = search(tree, output="content")["rows"]
    jail = Jail(Settings(root=str(tree), home=str(tree.parent / "home")))
    query = {"pattern": "^needle$"}
    page = find_files(jail, mode="search", queries=[query], output="content", offset=1000, limit=7)
    assert page["rows"] == first[1000:1007]
