"""The MCP inspector's command line (TypeScript SDK) and the protocol's conformance suite, where they are installed.

npm: `@modelcontextprotocol/inspector-cli` and `@modelcontextprotocol/conformance`, both on the PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[2]
INSPECTOR, CONFORMANCE = shutil.which("mcp-inspector-cli"), shutil.which("conformance")
# Scenarios that ask nothing of a server but the protocol; the others call tools of the suite's own example server.
SCENARIOS = (
    "server-initialize", "logging-set-level", "ping", "completion-complete", "tools-list", "resources-list",
    "prompts-list", "server-sse-multiple-streams", "dns-rebinding-protection",
)  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "a.txt").write_text("hello\n")
    return folder


def environment(root: Path) -> dict[str, str]:
    own = {"AGENVOY_HOME": str(root.parent / "home"), "AGENVOY_ROOT": str(root), "PYTHONPATH": str(TOP)}
    return {**os.environ, **own}


def inspect(root: Path, *arguments: str) -> dict[str, Any]:
    """What the inspector prints for one request."""
    own = environment(root)
    handed = [word for name in ("AGENVOY_HOME", "AGENVOY_ROOT", "PYTHONPATH") for word in ("-e", f"{name}={own[name]}")]
    argv = [str(INSPECTOR), "--cli", *handed, sys.executable, "-m", "agenvoy", "mcp", *arguments]
    done = subprocess.run(argv, env=own, cwd=root, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
    return found


@pytest.mark.skipif(INSPECTOR is None, reason="mcp-inspector-cli is not installed")
def test_the_inspector_lists_and_calls_tools(root: Path) -> None:
    assert len(inspect(root, "--method", "tools/list")["tools"]) == 12
    call = ("--method", "tools/call", "--tool-name")
    shown = inspect(root, *call, "read_files", "--tool-arg", 'files=[{"path": "a.txt"}]')
    assert shown["content"][0]["text"] == "1\thello" and shown["structuredContent"]["files"][0]["total"] == 1
    refused = inspect(root, *call, "remove_file", "--tool-arg", "path=a.txt")
    assert refused["isError"] and refused["structuredContent"]["error"]["code"] == "confirmation_required"


@pytest.mark.skipif(INSPECTOR is None, reason="mcp-inspector-cli is not installed")
def test_the_inspector_sees_resources_and_prompts(root: Path) -> None:
    assert "undo" in {prompt["name"] for prompt in inspect(root, "--method", "prompts/list")["prompts"]}
    assert len(inspect(root, "--method", "resources/templates/list")["resourceTemplates"]) == 2


@pytest.mark.skipif(CONFORMANCE is None, reason="the conformance suite is not installed")
def test_the_conformance_suite_finds_nothing_in_the_protocol_itself(root: Path) -> None:
    argv = [sys.executable, "-m", "agenvoy", "mcp", "--http", "127.0.0.1:0"]
    with subprocess.Popen(argv, env=environment(root), cwd=root, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            url = server.stderr.readline().split()[-1]
            said = {}
            for name in SCENARIOS:
                suite = [str(CONFORMANCE), "server", "--url", url, "--scenario", name]
                done = subprocess.run(suite, cwd=root.parent, capture_output=True, text=True, check=False, timeout=60)
                said[name] = "" if done.returncode == 0 else done.stdout[-800:]
        finally:
            server.send_signal(signal.SIGTERM)
    assert {name: text for name, text in said.items() if text} == {}
