"""Results as text for a model and for people."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenvoy.render.model import error_text, text_for_model
from agenvoy.render.plain import aligned, capped, human_size, visible, visible_rows
from agenvoy.render.style import Style
from agenvoy.render.terminal import error_for_people, text_for_people

EVIL = "a\r\x1b[2Jb\u202e\x85"
EDIT = {
    "path": "f", "version": 12, "previous_version": 11, "action": "modify", "replacements": 2, "bytes_before": 1200,
    "bytes_after": 1300, "diff": "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n", "undoable": True,
}  # fmt: skip
ROW = {
    "version": 3, "path": "d/f", "action": "modify", "size": 12, "mode": "0644", "hash": "ab", "task_id": "t1",
    "objective": "x", "actor": "cli", "tool": "edit_file", "changed_at": "2026-08-13T15:04:05.1+02:00",
    "restorable": True,
}  # fmt: skip
PLAN = {"applied": True, "plan_id": "p1", "changes": [
    {"path": "a", "outcome": "restored", "from_version": 4, "to_version": 9, "reason": None},
    {"path": "b", "outcome": "removed", "from_version": 5, "to_version": 10, "reason": None},
]}  # fmt: skip


@given(st.text())
def test_visible_text_is_one_row_without_controls(text: str) -> None:
    shown = visible(text)
    assert len(shown.splitlines()) <= 1 and not any(ord(c) < 32 and c != "\t" for c in shown)
    assert all(c.isprintable() or c in "\t\xa0\xad" or c.isspace() or ord(c) > 0x2FF for c in shown)
    shown.encode("utf-8")


def test_rows_keep_their_newlines_and_nothing_else() -> None:
    assert visible_rows("a\r\nb\rc\x1b[1m\n") == "a\nb\\rc\\e[1m\n"


@pytest.mark.parametrize(
    ("size", "shown"), [(0, "0 B"), (999, "999 B"), (1024, "1.0 KiB"), (20_000, "19 KiB"), (3 * 2**30, "3.0 GiB")]
)
def test_sizes_are_short(size: int, shown: str) -> None:
    assert human_size(size) == shown


def test_a_long_diff_is_cut_and_says_so() -> None:
    text = capped("\n".join(f"+{i}" for i in range(500)), 10, 10_000)
    assert text.splitlines()[-1] == "[… 490 more rows of this diff]" and len(text.splitlines()) == 11


def test_columns_are_aligned() -> None:
    assert aligned([["a", "1", "x"], ["bbb", "22", "y"]], right=frozenset({1})) == ["a     1  x", "bbb  22  y"]


def test_an_edit_ends_with_how_to_undo_it() -> None:
    text = text_for_model("edit_file", EDIT, {"path": "f"}, ["the file was restored meanwhile"])
    assert text.startswith("Notice: ") and "1,200 → 1,300 bytes" in text
    last = text.splitlines()[-1]
    assert last.startswith("Undo: restore_file version=11 (agenvoy restore --version 11)") and "task_id=current" in last


def test_a_restore_lists_each_path_and_the_totals() -> None:
    text = text_for_model("restore_file", PLAN, {"task_id": "current"})
    assert "restored  a  v4 → v9" in text and "Restored: 1 removed, 1 restored." in text and "agenvoy undo" in text


def test_a_dry_run_says_that_nothing_was_written() -> None:
    text = text_for_model("restore_file", {**PLAN, "applied": False}, {"dry_run": True})
    assert "nothing was written" in text and "plan_id=p1" in text


def test_nothing_to_undo_is_said_plainly() -> None:
    empty = {"applied": True, "plan_id": "p", "changes": []}
    assert text_for_model("restore_file", empty, {}).startswith("Nothing to undo")


def test_history_is_one_row_a_version_and_names_the_next_page() -> None:
    lines = text_for_model("file_history", {"rows": [ROW, {**ROW, "version": 2}], "next": 2}, {}).splitlines()
    assert lines[0].startswith("v3  2026-08-13 15:04:05  modify") and "before_version=2" in lines[-1]


def test_a_lost_version_says_why() -> None:
    row = {**ROW, "restorable": False, "reason": "its bytes are missing"}
    assert "not restorable: its bytes are missing" in text_for_model("file_history", {"rows": [row], "next": None}, {})


def test_an_error_text_shows_code_hint_and_what_changed() -> None:
    text = error_text({"code": "stale_read", "message": "f changed", "hint": "call again", "diff": "-a\n+b\n"})
    assert text.splitlines()[:2] == ["Error stale_read: f changed", "Hint: call again"] and "+b" in text


@pytest.mark.parametrize(
    ("tool", "result"),
    [
        ("find_files", {"rows": [{"path": EVIL, "kind": "file", "size": 1, "modified_at": None}]}),
        ("find_files", {"rows": [{"path": EVIL, "line": 1, "text": EVIL}]}),
        ("read_files", {"files": [{"path": EVIL, "text": f"1\t{EVIL}", "error": None}]}),
        ("edit_file", {**EDIT, "path": EVIL, "diff": f"+{EVIL}"}),
        ("remove_file", {"path": EVIL, "moved_to": EVIL, "version": 1}),
        ("restore_file", {**PLAN, "changes": [{"path": EVIL, "outcome": "conflict", "reason": EVIL}]}),
        ("file_history", {"rows": [{**ROW, "path": EVIL, "actor": EVIL}], "next": None}),
        ("list_tasks", {"rows": [{"task_id": "t", "objective": EVIL, "actor": EVIL, "running": True, "files": 1}]}),
        ("workspace_status", {"task": [{"path": EVIL, "change": "modified"}], "others": [], "outside": []}),
        ("show", {"path": EVIL, "version": 1, "content": EVIL, "bytes": 3}),
        ("blame", {"rows": [{"line": 1, "text": EVIL, "version": 1, "actor": EVIL}]}),
        ("trash_list", {"rows": [{"path": EVIL, "size": 1, "version": 1, "removed_at": ""}]}),
        ("doctor", {"ok": False, "checks": [{"name": "n", "ok": False, "detail": EVIL, "hint": EVIL}]}),
    ],
)
def test_neither_names_nor_contents_drive_the_terminal(tool: str, result: dict[str, Any]) -> None:
    for style in (Style(), Style(table=True)):
        text = text_for_people(tool, result, {}, style)
        assert not set(text) & {"\r", "\x1b", "\x85", "\u202e"}
        assert "a\\r\\e[2Jb\\u202e" in text


def test_an_error_for_people_names_code_and_hint() -> None:
    text = error_for_people({"code": "not_found", "message": f"{EVIL} is gone", "hint": "list"}, Style())
    assert text.splitlines()[0].startswith("agenvoy: not_found: a\\r") and "hint: list" in text


def test_colour_is_used_only_where_wanted() -> None:
    assert "\x1b[32m+b" in text_for_people("edit_file", EDIT, {}, Style(colour=True))
    assert "\x1b" not in text_for_people("edit_file", EDIT, {}, Style(table=True))
