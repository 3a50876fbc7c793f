"""Ignore files are judged as ripgrep's `ignore` crate judges them, and names that are not UTF-8 as well."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenvoy.disk.folders import Rules, kept
from agenvoy.disk.ignores import Unsure, entered, global_excludes
from agenvoy.disk.walk import Walk

NAMES = st.sampled_from(["a", "b", "ab", "a.o", "b.mod.c", "x.c", "out", "doc"])
ATOMS = st.sampled_from(["a", "b", "*", "**", "?", "/", ".o", ".c", "out", "[ab]", "!", "doc/", "*.mod.c", "\\", "x"])
LINES = st.lists(st.lists(ATOMS, min_size=1, max_size=4).map("".join), max_size=4)
IGNORES = st.dictionaries(
    st.tuples(st.sampled_from(["", "a", "out", "a/b"]), st.sampled_from([".gitignore", ".ignore"])), LINES, max_size=3
)
PATHS = st.sets(st.lists(NAMES, min_size=1, max_size=3).map("/".join), min_size=1, max_size=10)


def grow(top: Path, paths: set[str], ignores: dict[tuple[str, str], list[str]]) -> None:
    for (folder, name), lines in ignores.items():
        (top / folder).mkdir(parents=True, exist_ok=True)
        (top / folder / name).write_text("\n".join(lines))
    for path in sorted(paths):
        place = top / path
        if not any(p.is_file() for p in place.parents) and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()


@settings(max_examples=300, deadline=None)
@given(PATHS, IGNORES)
def test_the_walk_keeps_what_rignore_keeps(paths: set[str], ignores: dict[tuple[str, str], list[str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        grow(Path(folder), paths, ignores)
        rules = Rules(top=folder, hidden=True)
        assert {e.path for e in Walk(folder, rules)} == kept(folder, rules) - {folder}


@pytest.mark.parametrize("line", ["a[!", "{a", "a[b-a]", "x[[:alpha:]]", "a\\", "**//", "a//c"])
def test_a_pattern_that_is_not_read_for_certain_is_left_to_rignore(tmp_path: Path, line: str) -> None:
    (tmp_path / ".gitignore").write_text(line + "\nb\n")
    (tmp_path / "b").touch()
    (tmp_path / "c").touch()
    with pytest.raises(Unsure):
        entered(None, str(tmp_path), {".gitignore"})
    assert [os.path.basename(e.path) for e in Walk(str(tmp_path), Rules(top=str(tmp_path)))] == ["c"]


def test_a_name_that_is_not_utf8_is_ignored_by_the_pattern_that_means_it(tmp_path: Path) -> None:
    for name in (b"\xff.log", b"\xff.txt"):
        Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name))).touch()
    (tmp_path / ".gitignore").write_text("*.log\n")
    found = [os.fsencode(os.path.basename(e.path)) for e in Walk(str(tmp_path), Rules(top=str(tmp_path)))]
    assert found == [b"\xff.txt"]


def test_the_users_own_excludes_count_for_every_folder(tmp_path: Path) -> None:
    (tmp_path / ".gitconfig").write_text("[core]\n\texcludesFile = ~/mine\n")
    (tmp_path / "mine").write_text("*.swp\n")
    (tmp_path / "w" / "d").mkdir(parents=True)
    (tmp_path / "w" / "d" / "x.swp").touch()
    excludes = global_excludes(str(tmp_path), "")
    assert excludes == str(tmp_path / "mine")
    walk = Walk(str(tmp_path / "w"), Rules(top=str(tmp_path / "w"), excludes=excludes))
    assert [e.kind for e in walk] == ["dir"]
    assert walk.skipped == {"ignored": 1}


def test_without_a_setting_the_excludes_lie_where_git_looks(tmp_path: Path) -> None:
    assert global_excludes("", "") == ""
    assert global_excludes("/h", "") == "/h/.config/git/ignore"
    assert global_excludes("/h", "/c") == "/c/git/ignore"
