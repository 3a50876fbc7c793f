"""The quick parser gives what typer would give, or leaves the line to typer."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from agenvoy.cli import COMMANDS, wiring
from agenvoy.cli.app import invoke
from agenvoy.cli.direct import parse
from agenvoy.cli.params import parameters

LINES = [
    ["read", "a", "b", "--offset", "3", "-C", "0", "--around", "4", "--around=9"],
    ["--root", "/x", "--yes", "search", "-i", "pat", "--glob=*.py", "dir", "--timeout", "1.5", "--json"],
    ["restore", "--task", "current", "--dry-run", "f"],
    ["--task", "t1", "history", "--task", "t2", "--from", "2026-01-01", "f"],
    ["edit", "f", "--old", "--json", "--new", "--yes", "--all"],
    ["task", "begin", "some words", "--actor", "me"],
    ["task", "--json", "list", "--limit", "3"],
    ["show", "12"],
    ["read", "--", "-dash"],
    ["write", "-"],
    ["undo"],
]


@pytest.mark.parametrize("argv", LINES, ids=" ".join)
def test_both_parsers_agree(argv: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(wiring, "carry_out", lambda *found: seen.append(found) or 7)
    assert invoke(argv) == 7
    plain = parse(argv)
    assert plain is not None
    (function, options, given), (_, typed_options, typed_given) = plain, seen[0]
    assert (function.__name__, options) == (seen[0][0].__name__, typed_options)
    assert {k: v or None for k, v in given.items()} == {k: v or None for k, v in typed_given.items()}


@pytest.mark.parametrize(
    "argv",
    [[], ["--help"], ["read"], ["read", "--help"], ["nosuch"], ["show", "x"], ["show", "1", "2"], ["read", "f", "-C0"],
     ["history", "--nope"], ["task"], ["task", "nosuch"], ["restore", "--version"], ["undo", "--dry-run=1"]],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_typer(argv: list[str]) -> None:
    assert parse(argv) is None


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_parameter_is_declared_with_help(name: str) -> None:
    module = __import__(COMMANDS[name], fromlist=["x"])
    for function in getattr(module, "COMMANDS", {}).values() or [module.command]:
        assert all(item.declared.help for item in parameters(function)) and function.__doc__


def test_a_plain_line_imports_no_typer() -> None:
    code = "import sys; from agenvoy.cli.direct import parse; parse(['history', 'f']); sys.exit('typer' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
