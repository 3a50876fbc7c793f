"""`agenvoy call`: global options on both sides of the command, one document whatever comes."""

from __future__ import annotations

import pytest

from agenvoy.cli.calls import parse_line
from agenvoy.cli.options import Options


@pytest.mark.parametrize(
    "argv",
    [
        ["--yes", "--task", "t1", "call", "edit_file", "-"],
        ["call", "edit_file", "-", "--yes", "--task", "t1"],
        ["call", "--task=t1", "edit_file", "--yes", "-"],
    ],
)
def test_global_options_are_taken_anywhere(argv: list[str]) -> None:
    line = parse_line(argv)
    assert line is not None and line.words == ("edit_file", "-") and line.problem == ""
    assert line.options == Options(task="t1", yes=True)


def test_options_that_may_repeat_add_up() -> None:
    line = parse_line(["--allow", "a", "call", "--allow", "b", "--surface", "x", "t"])
    assert line is not None and line.options.allow == ("a", "b") and line.options.surface == ("x",)


@pytest.mark.parametrize("argv", [["read", "call"], ["--actor", "call", "list"], ["call", "--help"], [], ["--yes"]])
def test_other_command_lines_are_no_calls(argv: list[str]) -> None:
    assert parse_line(argv) is None


@pytest.mark.parametrize(
    ("argv", "problem"),
    [
        (["call"], "call takes"),
        (["call", "a", "{}", "b"], "call takes"),
        (["call", "a", "--nope"], "no option --nope"),
        (["call", "a", "--task"], "--task needs a value"),
    ],
)
def test_a_wrong_call_line_says_what_is_wrong(argv: list[str], problem: str) -> None:
    line = parse_line(argv)
    assert line is not None and problem in line.problem


def test_after_two_dashes_nothing_is_an_option() -> None:
    line = parse_line(["call", "tool", "--", "--json"])
    assert line is not None and line.words == ("tool", "--json") and not line.options.json
