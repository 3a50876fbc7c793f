"""Path patterns mean what they mean to ripgrep."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenvoy.disk.glob import compile_glob, only_wildcards
from agenvoy.errors import AgenvoyError


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.py", "a.py", True),
        ("*.py", "deep/er/a.py", True),
        ("*.py", "a.pyc", False),
        ("/*.py", "deep/a.py", False),
        ("./src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/x/y/a.py", True),
        ("**/test/*", "test/a", True),
        ("src/**", "src/x/y", True),
        ("src/", "src/x/y", True),
        ("src/**", "src", False),
        ("a?c", "abc", True),
        ("x/a?c", "x/a/c", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[^a-c]x", "dx", True),
        ("[]]x", "]x", True),
        ("*.{json,xml}", "d/m.xml", True),
        ("src/m.{j*,x{m,n}l}", "src/m.xnl", True),
        ("src/m.{j*,x{m,n}l}", "src/m.xql", False),
        ("{a,b/**}/c", "b/x/y/c", True),
        (r"\*.py", "*.py", True),
        (r"\*.py", "a.py", False),
        ("!*.py", "a.txt", True),
        ("!*.py", "a.py", False),
        ("a+(b).txt", "a+(b).txt", True),
        ("*", ".hidden", True),
        ("new*line", "new\nline", True),
    ],
)
def test_a_pattern_matches_as_in_ripgrep(pattern: str, path: str, expected: bool) -> None:
    assert compile_glob(pattern).matches(path) is expected


def test_a_name_that_is_not_utf8_is_matched_by_wildcards() -> None:
    assert compile_glob("caf?.txt").matches(os.fsdecode(b"d/caf\xe9.txt"))


def test_a_pattern_that_begins_with_the_folder_is_taken_relative_to_it() -> None:
    assert compile_glob("/top/src/*.py", "/top").matches("src/a.py")


@pytest.mark.parametrize("pattern", ["[abc", "{a,b", "", "  ", "../x", "a/../b", "[z-a]"])
def test_a_broken_pattern_is_refused_with_a_hint(pattern: str) -> None:
    with pytest.raises(AgenvoyError) as caught:
        compile_glob(pattern)
    assert caught.value.code == "invalid_arguments"
    assert caught.value.hint


@pytest.mark.parametrize(
    ("pattern", "bare"), [("**/*", True), ("*.*", True), ("?", True), ("*.t?t", False), ("a", False)]
)
def test_only_patterns_without_a_literal_character_are_bare(pattern: str, bare: bool) -> None:
    assert only_wildcards(pattern) is bare


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1))
def test_every_escaped_name_matches_itself_and_nothing_longer(name: str) -> None:
    if not name.strip() or name in (".", ".."):
        return
    glob = compile_glob("".join("\\" + c for c in name))
    assert glob.matches(name)
    assert not glob.matches(name + "x")
