"""The commands, from a command line to output and exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenvoy.cli import COMMANDS

Agenvoy = Callable[..., Any]


def call(agenvoy: Agenvoy, tool: str, *flags: str, **arguments: Any) -> Any:
    return agenvoy(*flags, "call", tool, "-", stdin=json.dumps(arguments))


def test_a_file_is_read_edited_shown_and_taken_back(agenvoy: Agenvoy, root: Path) -> None:
    (root / "f").write_text("one\ntwo\n")
    assert agenvoy("task", "begin", "count in French").code == 0
    assert "2\ttwo" in agenvoy("read", "f").out
    edited = agenvoy("edit", "f", "--old", "two", "--new", "deux")
    assert edited.code == 0 and "+deux" in edited.out and "undo" in edited.out
    history = agenvoy("history", "f")
    assert "modify" in history.out and "observed" in history.out
    assert agenvoy("restore", "--task", "current", "--yes").code == 0
    assert (root / "f").read_text() == "one\ntwo\n"


def test_write_takes_standard_input_and_show_gives_it_back_exactly(agenvoy: Agenvoy, root: Path) -> None:
    assert agenvoy("write", "d/f", stdin="a\r\nb\x1b").code == 0
    version = agenvoy("history", "--json").document["result"]["rows"][0]["version"]
    assert (root / "d/f").read_bytes() == b"a\r\nb\x1b"
    assert agenvoy("show", str(version), "--json").document["result"]["content"] == "a\r\nb\x1b"
    assert agenvoy("show", str(version)).out == "a\r\nb\x1b"


def test_write_refuses_what_is_not_utf8(agenvoy: Agenvoy, root: Path) -> None:
    done = agenvoy("write", "f", stdin=b"\xff")
    assert done.code == 2 and done.err.startswith("agenvoy: invalid_arguments: ") and not (root / "f").exists()


def test_removing_asks_and_without_a_terminal_nothing_happens(agenvoy: Agenvoy, root: Path) -> None:
    (root / "f").write_text("x")
    done = agenvoy("remove", "f")
    assert done.code == 3 and "confirmation_required" in done.err and "hint:" in done.err
    assert (root / "f").exists()
    assert agenvoy("remove", "f", "--yes").code == 0 and not (root / "f").exists()
    assert "f" in agenvoy("trash", "list").out
    assert agenvoy("undo", "--yes").code == 0 and (root / "f").read_text() == "x"
    assert agenvoy("redo", "--yes").code == 0 and not (root / "f").exists()


def test_a_folder_is_removed_only_recursively(agenvoy: Agenvoy, root: Path) -> None:
    (root / "d/e").mkdir(parents=True)
    (root / "d/f").write_text("x")
    assert "is_directory" in agenvoy("remove", "d", "--yes").err
    assert agenvoy("remove", "-r", "d", "--yes").code == 0 and not (root / "d").exists()
    assert agenvoy("--yes", "undo").code == 0 and (root / "d/e").is_dir() and (root / "d/f").read_text() == "x"


def test_listing_and_finding_print_plain_paths_in_a_pipe(agenvoy: Agenvoy, root: Path) -> None:
    (root / "a.py").write_text("def f():\n    pass\n")
    (root / "b.txt").write_text("def\n")
    assert agenvoy("list").out == "a.py\nb.txt\n"
    assert agenvoy("glob", "*.py").out == "a.py\n"
    assert agenvoy("search", "^def ").out == "a.py:1:def f():\n"
    assert agenvoy("search", "DEF", "-i", "-l", "-g", "*.txt").out == "b.txt:1\n"


def test_in_a_subfolder_names_are_meant_from_there(agenvoy: Agenvoy, root: Path, monkeypatch: Any) -> None:
    (root / "d").mkdir()
    (root / "d/f").write_text("inner\n")
    (root / "top").write_text("outer\n")
    monkeypatch.chdir(root / "d")
    assert "inner" in agenvoy("read", "f").out
    assert "inner" in agenvoy("read", "d/f").out
    assert "outer" in agenvoy("read", "../top").out
    assert agenvoy("list").out == "d/f\n"


def test_a_value_that_looks_like_an_option_is_a_value(agenvoy: Agenvoy, root: Path) -> None:
    (root / "f").write_text("--json\n")
    agenvoy("read", "f")
    assert agenvoy("edit", "f", "--old", "--json", "--new", "--yes").code == 0
    assert (root / "f").read_text() == "--yes\n"


def test_moving_and_undoing_it(agenvoy: Agenvoy, root: Path) -> None:
    (root / "a").write_text("x")
    assert agenvoy("move", "a", "d/b").code == 0 and (root / "d/b").read_text() == "x"
    assert agenvoy("move", "d/b", "d/b").code != 0
    assert agenvoy("undo", "--yes").code == 0 and (root / "a").read_text() == "x"


def test_diff_status_and_blame_tell_who_changed_what(agenvoy: Agenvoy, root: Path) -> None:
    agenvoy("write", "f", stdin="one\ntwo\n")
    agenvoy("edit", "f", "--old", "two", "--new", "2")
    rows = agenvoy("history", "f", "--json").document["result"]["rows"]
    newest, before = rows[0]["version"], rows[1]["version"]
    assert "-two" in agenvoy("diff", "--version", f"{before}:{newest}").out
    (root / "f").write_text("one\nzwei\n")
    assert "+zwei" in agenvoy("diff", "f").out
    assert "f" in agenvoy("status").out
    (root / "f").write_text("one\n2\n")
    assert f"v{newest}" in agenvoy("blame", "f").out


def test_tasks_are_listed_and_shown(agenvoy: Agenvoy) -> None:
    begun = agenvoy("task", "begin", "say hello", "--json").document["result"]["task_id"]
    agenvoy("write", "f", stdin="hello\n")
    assert "say hello" in agenvoy("task", "list").out
    assert "say hello" in agenvoy("task", "show", begun).out and "f" in agenvoy("task", "show", "current").out
    assert agenvoy("task", "end", "--summary", "done").code == 0


@pytest.mark.parametrize("name", ["verify", "du", "doctor"])
def test_the_stores_commands_answer(agenvoy: Agenvoy, name: str) -> None:
    agenvoy("write", "f", stdin="x\n")
    assert agenvoy(name).code == 0
    assert agenvoy(name, "--json").document["ok"] is True


@pytest.mark.parametrize(
    "argv",
    [["restore"], ["nosuch"], ["history", "--nope"], ["show", "x"], ["diff", "--version", "a"], ["edit", "f"]],
)
def test_wrong_usage_is_one_clear_line_and_status_2(agenvoy: Agenvoy, argv: list[str]) -> None:
    done = agenvoy(*argv)
    assert done.code == 2 and done.out == "" and done.err.startswith("agenvoy: invalid_arguments: ")
    assert len(done.err.splitlines()) == 2 and "hint:" in done.err
    assert agenvoy(*argv, "--json").document["error"]["code"] == "invalid_arguments"


def test_a_misspelt_command_is_answered_with_the_nearest(agenvoy: Agenvoy) -> None:
    assert "did you mean 'history'" in agenvoy("histroy").err


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_help(agenvoy: Agenvoy, name: str) -> None:
    done = agenvoy(name, "--help")
    assert done.code == 0 and "Usage: agenvoy" in done.out
    assert name in agenvoy("--help").out


def test_the_version_is_told(agenvoy: Agenvoy) -> None:
    assert agenvoy("--version").out.startswith("agenvoy ")


@pytest.mark.parametrize(
    ("tool", "text", "code"),
    [
        ("read_files", "{", "invalid_arguments"),
        ("read_files", "[]", "invalid_arguments"),
        ("read_files", "", "invalid_arguments"),
        ("nosuch", "{}", "unknown_tool"),
        ("edit_file", '{"path": "f", "content": "\\ud800"}', "invalid_arguments"),
    ],
)
def test_a_bad_call_prints_one_document_and_nothing_else(agenvoy: Agenvoy, tool: str, text: str, code: str) -> None:
    done = agenvoy("call", tool, "-", stdin=text)
    assert done.document["error"]["code"] == code and done.err == "" and done.code in (1, 2)


def test_a_call_takes_its_arguments_on_the_command_line_too(agenvoy: Agenvoy) -> None:
    done = agenvoy("call", "begin_task", '{"objective": "x"}')
    assert done.document["ok"] is True and done.document["task"]["objective"] == "x"
    assert agenvoy("call", "workspace_status").document["result"].keys() == {"task", "others", "outside"}


def test_a_sub_agent_cannot_remove(agenvoy: Agenvoy, root: Path) -> None:
    (root / "f").write_text("x")
    assert call(agenvoy, "remove_file", "--subagent", "--yes", path="f").document["error"]["code"] == "not_available"
    assert (root / "f").exists()


def test_a_name_that_is_no_unicode_is_read_from_the_command_line(agenvoy: Agenvoy, root: Path) -> None:
    (root / os.fsdecode(b"caf\xe9")).write_text("x\n")
    assert agenvoy("list").out == "bytes:caf%E9\n"
    assert agenvoy("read", os.fsdecode(b"caf\xe9")).code == 0 and agenvoy("read", "bytes:caf%E9").code == 0


def test_json_gives_the_document_of_a_call(agenvoy: Agenvoy, root: Path) -> None:
    (root / "f").write_text("x\n")
    mine = agenvoy("read", "f", "--json").document
    theirs = call(agenvoy, "read_files", files=[{"path": "f"}]).document
    assert mine == theirs


@pytest.mark.parametrize("form", ["mcp", "openai", "anthropic"])
def test_tools_prints_schemas(agenvoy: Agenvoy, form: str) -> None:
    found = json.loads(agenvoy("tools", "--format", form).out)
    assert len(found["tools"] if form == "mcp" else found) == 12
    assert "edit_file" in agenvoy("tools").out


def test_the_demo_restores_its_copy_and_proves_it(agenvoy: Agenvoy, root: Path) -> None:
    for name in "abc":
        (root / f"{name}.txt").write_text(f"some words about harvest {name}\n")
    done = agenvoy("demo", str(root))
    assert done.code == 0 and "as before, byte for byte" in done.out and "+" in done.out
    assert len(done.out.splitlines()) < 100
    assert sorted(p.name for p in root.iterdir()) == ["a.txt", "b.txt", "c.txt"]


def test_a_closed_pipe_is_quiet(root: Path) -> None:
    (root / "f").write_text("word\n" * 200_000)
    command = f"{sys.executable} -m agenvoy search word --limit 200000 | head -1"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(["bash", "-c", command], cwd=root, env=env, capture_output=True, text=True, check=False)
    assert done.stdout == "f:1:word\n" and done.stderr == ""
