"""A walk obeys ignore files as git does, and counts what it leaves out."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agenvoy.disk.walk import OutOfTime, Rules, Walk


def make(top: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)


def files(top: Path, rules: Rules | None = None) -> list[str]:
    walk = Walk(str(top), rules or Rules(top=str(top)))
    return [os.path.relpath(e.path, top) for e in walk if e.kind != "dir"]


def test_a_negation_does_not_reach_below_an_excluded_folder(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "out/\n!out/keep/*\n", "out/keep/f": "", "k": ""})
    assert files(tmp_path) == ["k"]


def test_a_nested_negation_takes_a_folder_back_in(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "**/gen/\n", "a/.gitignore": "!gen\n", "a/gen/f": "", "b/gen/g": ""})
    assert files(tmp_path) == ["a/gen/f"]


def test_a_white_list_keeps_what_it_names(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*\n!assets/\n!assets/**\n!.git*\n", "assets/x/y": "", "no": "", ".git/z": ""})
    assert files(tmp_path) == ["assets/x/y"]


def test_ignored_subfolders_stay_ignored_for_a_file_negation(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*\n!*.c\n", "a/a.c": "", "top.c": ""})
    assert files(tmp_path) == ["top.c"]


def test_git_is_never_entered_even_where_everything_is_asked_for(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "!.git*\n", ".git/config": "", "sub/.git": "gitdir: x", "f": ""})
    assert files(tmp_path, Rules(hidden=True, ignored=True)) == [".gitignore", "f"]
    assert files(tmp_path, Rules(hidden=True)) == [".gitignore", "f"]


def test_gits_own_exclude_file_and_ignore_files_count(tmp_path: Path) -> None:
    make(tmp_path, {".git/info/exclude": "secret*\n", ".ignore": "big\n", "secret1": "", "big": "", "f": ""})
    assert files(tmp_path) == ["f"]


def test_what_is_left_out_is_counted_by_reason(tmp_path: Path) -> None:
    make(
        tmp_path,
        {".gitignore": "*.log\ngen/\n", "a.log": "", "gen/x": "", "gen/y": "", ".h": "", "f": "", ".git/x": ""},
    )
    walk = Walk(str(tmp_path), Rules(top=str(tmp_path)))
    assert [e.kind for e in walk] == ["file"]
    assert dict(walk.skipped) == {"ignored": 2, "hidden": 2, "git": 1}


def test_the_ignore_file_of_a_parent_folder_counts_inside_the_workspace_only(tmp_path: Path) -> None:
    make(tmp_path, {".gitignore": "*.a\n", "root/.gitignore": "*.b\n", "root/sub/x.a": "", "root/sub/x.b": ""})
    assert files(tmp_path / "root", Rules(top=str(tmp_path / "root"))) == ["sub/x.a"]
    (tmp_path / ".git").mkdir()
    assert files(tmp_path / "root" / "sub", Rules(top=str(tmp_path / "root"))) == []


def test_entries_come_in_the_byte_order_of_their_paths(tmp_path: Path) -> None:
    make(tmp_path, dict.fromkeys(("a/z", "a.txt", "a-b", "Z", "é/1", "b/c/d", "b.d"), ""))
    found = files(tmp_path)
    assert found == sorted(found, key=os.fsencode)
    assert len(found) == 7


def test_links_are_told_and_not_followed(tmp_path: Path) -> None:
    make(tmp_path, {"d/f": ""})
    os.symlink("..", tmp_path / "d" / "loop")
    os.symlink("nowhere", tmp_path / "broken")
    walk = Walk(str(tmp_path), Rules())
    assert [(os.path.basename(e.path), e.kind) for e in walk] == [
        ("broken", "link"), ("d", "dir"), ("f", "file"), ("loop", "link"),
    ]  # fmt: skip


def test_a_fifo_is_told_as_other(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p")
    assert [e.kind for e in Walk(str(tmp_path), Rules())] == ["other"]


def test_names_that_are_not_utf8_are_found_with_their_folders(tmp_path: Path) -> None:
    folder = os.path.join(os.fsencode(tmp_path), b"caf\xe9")
    os.mkdir(folder)
    Path(os.fsdecode(os.path.join(folder, b"f\xff"))).touch()
    (tmp_path / ".gitignore").write_text("*.log\n")
    found = [e.path for e in Walk(str(tmp_path), Rules()) if e.kind == "file"]
    assert [os.fsencode(p) for p in found] == [os.path.join(folder, b"f\xff")]


def test_a_folder_that_is_never_entered_is_left_out(tmp_path: Path) -> None:
    make(tmp_path, {"home[1]/.store/x": "", "home[1]/y": "", "f": ""})
    rules = Rules(hidden=True, never=(str(tmp_path / "home[1]" / ".store"),))
    assert files(tmp_path, rules) == ["f", "home[1]/y"]


def test_a_walk_without_time_stops(tmp_path: Path) -> None:
    make(tmp_path, {f"f{i}": "" for i in range(600)})
    with pytest.raises(OutOfTime):
        files(tmp_path, Rules(expired=lambda: True))


def test_without_recursion_only_the_folder_itself_is_told(tmp_path: Path) -> None:
    make(tmp_path, {"d/e/f": "", "x": "", ".gitignore": "y\n", "y": ""})
    walk = Walk(str(tmp_path), Rules(recursive=False))
    assert [(os.path.basename(e.path), e.kind) for e in walk] == [("d", "dir"), ("x", "file")]
    assert walk.skipped["ignored"] == 1
