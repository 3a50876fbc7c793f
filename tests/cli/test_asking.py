"""A person at a terminal is asked, and the answer counts."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]


def at_a_terminal(root: Path, typed: str, *argv: str) -> tuple[int, str]:
    """Run a command with standard input and error on a terminal at which `typed` is entered."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(TOP)}
    os.write(ours, typed.encode())
    process = subprocess.Popen(
        [sys.executable, "-m", "agenvoy", *argv], cwd=root, env=env, stdin=theirs, stdout=subprocess.PIPE, stderr=theirs
    )
    os.close(theirs)
    process.communicate()
    said = b""
    try:
        while block := os.read(ours, 4096):
            said += block
    except OSError:  # EIO is how Linux says that the other side was closed
        pass
    os.close(ours)
    return process.returncode, said.decode()


@pytest.mark.parametrize(("typed", "code", "gone"), [("y\n", 0, True), ("huh\nyes\n", 0, True), ("n\n", 1, False)])
def test_removing_at_a_terminal_asks(root: Path, typed: str, code: int, gone: bool) -> None:
    (root / "f").write_text("x")
    status, said = at_a_terminal(root, typed, "remove", "f")
    assert (status, (root / "f").exists()) == (code, not gone)
    assert "remove f?" in said and "[a]ll in this task" in said


def test_all_in_this_task_is_asked_once(root: Path) -> None:
    (root / "f").write_text("x")
    (root / "g").write_text("x")
    subprocess.run(
        [sys.executable, "-m", "agenvoy", "task", "begin", "tidy"], cwd=root, check=True, capture_output=True,
        env={**os.environ, "PYTHONPATH": str(TOP)},
    )  # fmt: skip
    assert at_a_terminal(root, "a\n", "remove", "f")[0] == 0
    status, said = at_a_terminal(root, "", "remove", "g")
    assert status == 0 and "[y]es" not in said and not (root / "g").exists()


def test_a_sensitive_file_is_asked_for_each_time(root: Path) -> None:
    (root / ".env").write_text("KEY=1\n")
    status, said = at_a_terminal(root, "a\ny\n", "read", ".env", "--yes")
    assert status == 0 and "[a]ll" not in said
    assert at_a_terminal(root, "n\n", "read", ".env")[0] == 1
