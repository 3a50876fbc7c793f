"""Unified diffs against those of the standard library over the whole texts."""

from __future__ import annotations

from difflib import unified_diff

from hypothesis import given
from hypothesis import strategies as st

from agenvoy.history.diff import unified
from agenvoy.types import State

texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=30).map("".join)


def _apply(old: list[str], diff: list[str]) -> list[str]:
    """What the hunks make of the old lines, by their line numbers."""
    out, at = [], 0
    for line in diff:
        if line.startswith("@@"):
            begin, _, count = line.split()[1].lstrip("-").partition(",")
            start = int(begin) - (count != "0")
            out += old[at:start]
            at = start
        elif line[0] in " -":
            assert old[at] == line[1:]
            at += 1
        if line[0] in " +" and not line.startswith("@@"):
            out.append(line[1:])
    return out + old[at:]


@given(texts, texts)
def test_the_hunks_lead_from_one_text_to_the_other(old: str, new: str) -> None:
    states = [State("file", 0o644, len(t), f"{hash(t)}") for t in (old, new)]
    diff = unified(old.encode(), new.encode(), "f", *states).splitlines(keepends=True)[2:]
    assert _apply(old.splitlines(keepends=True), diff) == new.splitlines(keepends=True)


def test_a_single_change_is_told_as_the_library_tells_it() -> None:
    old = [f"line {n}\n" for n in range(100)]
    new = [*old[:50], "changed\n", *old[51:]]
    expected = "".join(list(unified_diff(old, new, "", "", n=3))[2:])
    states = State("file", 1, 1, "a"), State("file", 1, 1, "b")
    found = unified("".join(old).encode(), "".join(new).encode(), "f", *states)
    assert found.endswith(expected) and found.startswith("--- a/f\n+++ b/f\n")


def test_a_name_with_a_newline_stays_on_its_line() -> None:
    before, after = State("file", 0o644, 1, "1"), State("file", 0o644, 1, "2")
    head = unified(b"a\n", b"b\n", "odd\nname", before, after).splitlines()
    assert head[0] == '--- "a/odd\\nname"' and head[1] == '+++ "b/odd\\nname"'
