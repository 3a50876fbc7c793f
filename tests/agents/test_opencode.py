"""opencode, a real agent program, works through agenvoy: search, read, edit, a stale edit, remove, restore.

Runs where `opencode` is on the PATH (npm: opencode-ai). The model is a script; everything else is real.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from scripted import Script, served

TOP = Path(__file__).parents[2]
OPENCODE = shutil.which("opencode")
pytestmark = pytest.mark.skipif(OPENCODE is None, reason="opencode is not installed")


def configure(root: Path, url: str, *flags: str) -> dict[str, str]:
    """Let agenvoy install itself, add the scripted model, and give the environment to run in."""
    home = root.parent / "home"
    home.mkdir(exist_ok=True)
    env = {
        **{k: v for k, v in os.environ.items() if not k.startswith("XDG_")},
        "HOME": str(home), "AGENVOY_HOME": str(home / "agenvoy"), "PYTHONPATH": str(TOP), "PWD": str(root),
        "OPENCODE_DISABLE_MODELS_FETCH": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1",
    }  # fmt: skip
    argv = [sys.executable, "-m", "agenvoy", "install", "opencode", "--scope", "project"]
    subprocess.run(argv, env=env, cwd=root, check=True, capture_output=True)
    path = root / "opencode.json"
    config = json.loads(path.read_text())
    server = config["mcp"]["agenvoy"]
    server["command"] += list(flags)
    server["environment"]["PYTHONPATH"] = str(TOP)
    model = {"npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": {"baseURL": url, "apiKey": "x"},
             "models": {"scripted": {"name": "Scripted"}}}  # fmt: skip
    config |= {"provider": {"scripted": model}, "model": "scripted/scripted", "share": "disabled"}
    path.write_text(json.dumps(config))
    return {**env, "OPENCODE_CONFIG": str(path)}


def play(root: Path, steps: list[Any], *flags: str) -> Script:
    """Run opencode on a script; gives back what the model saw."""
    script = Script(steps)
    with served(script) as url:
        env = configure(root, url, *flags)
        argv = [str(OPENCODE), "run", "--model", "scripted/scripted", "do what has to be done"]
        done = subprocess.run(
            argv, env=env, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=200
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return script


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "setup.cfg").write_text("[options]\ncolour = red\n")
    (folder / "junk.tmp").write_text("junk\n")
    return folder


def test_a_whole_task_and_back(root: Path) -> None:
    def change_outside(answers: list[str]) -> dict[str, Any]:
        (root / "setup.cfg").write_text("[options]\ncolour = red\nsize = 3\n")
        return patch

    patch = {"path": "setup.cfg", "targets": [{"old_string": "colour", "new_string": "color"}]}
    files = {"files": [{"path": "setup.cfg"}]}
    script = play(
        root,
        [
            ("begin_task", {"objective": "rename the option"}),
            ("find_files", {"queries": [{"pattern": "colour", "file_pattern": "*.cfg"}]}),
            ("read_files", files),
            ("edit_file", change_outside),
            ("read_files", files),
            ("edit_file", patch),
            ("remove_file", {"path": "junk.tmp"}),
            ("workspace_status", {}),
            ("restore_file", {"task_id": "current"}),
        ],
        "--yes",
    )
    begun, found, read, stale, again, edited, removed, status, restored = script.answers
    assert "setup.cfg" in found and "2\tcolour = red" in read
    assert "stale_read" in stale and "size = 3" in stale and "size = 3" in again
    assert "Undo" in edited and "junk.tmp" in removed and "setup.cfg" in status and "junk.tmp" in restored
    assert (root / "setup.cfg").read_text() == "[options]\ncolour = red\nsize = 3\n"
    assert (root / "junk.tmp").read_text() == "junk\n" and re.search("[0-9a-z]{12}", begun)


def test_without_a_yes_nothing_is_removed(root: Path) -> None:
    script = play(root, [("remove_file", {"path": "junk.tmp"})])
    assert "confirmation_required" in script.answers[0] and (root / "junk.tmp").exists()
