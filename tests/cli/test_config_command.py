"""agenvoy config: what holds, where it comes from, and trusting a workspace's file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Agenvoy = Callable[..., Any]


@pytest.fixture
def files(root: Path) -> Path:
    (root.parent / "home").mkdir()
    (root.parent / "home" / "config.toml").write_text("busy_s = 7\n")
    (root / ".agenvoy").mkdir()
    (root / ".agenvoy" / "config.toml").write_text('allow = ["/srv"]\n')
    return root


def test_show_tells_where_each_value_comes_from(files: Path, agenvoy: Agenvoy) -> None:
    done = agenvoy("config", "show", "--json", "--subagent")
    rows = {row["key"]: (row["value"], row["source"]) for row in done.document["result"]["rows"]}
    assert rows["busy_s"] == (7, str(files.parent / "home" / "config.toml"))
    assert rows["subagent"] == (True, "--subagent") and rows["audio.model"] == ("", "default")
    assert rows["allow"] == ([], "default") and done.document["result"]["ignored"] == ["allow"]
    assert "allow" in agenvoy("config", "show").out


def test_an_untrusted_file_is_told_of_by_every_command(files: Path, agenvoy: Agenvoy) -> None:
    assert "not trusted" in agenvoy("list").err and "config trust" in agenvoy("list").err


def test_trust_needs_a_yes_and_can_be_taken_back(files: Path, agenvoy: Agenvoy) -> None:
    assert agenvoy("config", "trust").code == 3
    assert agenvoy("config", "trust", "--subagent", "--yes").code == 1
    assert agenvoy("--yes", "config", "trust").code == 0
    assert agenvoy("config", "show", "--json").document["result"]["ignored"] == []
    assert agenvoy("config", "trust", "--revoke").code == 0
    assert agenvoy("config", "show", "--json").document["result"]["ignored"] == ["allow"]


def test_a_broken_file_stops_every_command_and_says_where(files: Path, agenvoy: Agenvoy) -> None:
    (files.parent / "home" / "config.toml").write_text("busy = 1\n")
    done = agenvoy("call", "list_tasks", "{}")
    assert done.code == 2 and done.document["error"]["line"] == 1 and done.document["error"]["key"] == "busy"
    assert agenvoy("history").code == 2
