"""`install CLIENT --hooks`: the client's own file, and nothing else in it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def install(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "AGENVOY_ROOT": str(home), "AGENVOY_HOME": str(home / "av")}
    command = [sys.executable, "-m", "agenvoy", "install", *words, "--hooks", "--json"]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


FILES = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
}


@pytest.mark.parametrize("client", list(FILES))
def test_hooks_come_once_and_go_without_a_trace(tmp_path: Path, client: str) -> None:
    path = tmp_path / FILES[client]
    assert install(tmp_path, client).returncode == 0
    first = path.read_text()
    assert f"agenvoy hook {client}" in first
    assert install(tmp_path, client).returncode == 0
    assert path.read_text() == first
    assert install(tmp_path, client, "--uninstall").returncode == 0
    assert not path.exists()


def test_what_a_person_wrote_stays(tmp_path: Path) -> None:
    own: dict[str, Any] = {
        "model": "x",
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}], "Notification": []},
    }
    path = tmp_path / FILES["claude-code"]
    path.parent.mkdir()
    path.write_text(json.dumps(own))
    install(tmp_path, "claude-code")
    now = json.loads(path.read_text())
    assert now["model"] == "x"
    assert now["hooks"]["Stop"][0] == own["hooks"]["Stop"][0]
    assert len(now["hooks"]["Stop"]) == 2
    install(tmp_path, "claude-code", "--uninstall")
    assert json.loads(path.read_text()) == own


@pytest.mark.parametrize("client", list(FILES))
@pytest.mark.parametrize("text", ['{"a":1,"hooks":{}}', '{"hooks": {"Stop": []}, "b": [1,\n 2]}\n', "{}"])
def test_a_file_that_was_not_changed_meanwhile_is_again_what_it_was(tmp_path: Path, client: str, text: str) -> None:
    path = tmp_path / FILES[client]
    path.parent.mkdir()
    path.write_text(text)
    install(tmp_path, client)
    assert path.read_text() != text
    install(tmp_path, client, "--uninstall")
    assert path.read_text() == text


@pytest.mark.parametrize("text", ["{", "[]", '{"hooks": 3}', '{"hooks": {"Stop": "x"}}', "// mine\n{}"])
def test_a_broken_file_is_an_error_and_stays(tmp_path: Path, text: str) -> None:
    path = tmp_path / FILES["claude-code"]
    path.parent.mkdir()
    path.write_text(text)
    done = install(tmp_path, "claude-code")
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (2, "invalid_arguments")
    assert path.read_text() == text


def test_a_client_without_hooks_is_said(tmp_path: Path) -> None:
    assert json.loads(install(tmp_path, "zed").stdout)["error"]["code"] == "not_available"
