"""HTTP: this machine only unless told, a bearer token, no foreign web page, requests without a session."""

from __future__ import annotations

import asyncio
import json
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from mcp_driver import TOP, code, command, connected, environment, http_server

INITIALIZE = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip


def post(url: str, **headers: str) -> int:
    """The status of an `initialize` with these headers."""
    own = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, json.dumps(INITIALIZE).encode(), {**own, **named})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("number", [None, 1.5, True, {"a": 1}])
def test_a_request_with_a_broken_id_is_refused_instead_of_swallowed(root: Path, number: Any) -> None:
    with http_server(root) as url:
        own = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(url, json.dumps({**INITIALIZE, "id": number}).encode(), own)
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request, timeout=20)
        assert caught.value.code == 400 and json.loads(caught.value.read())["error"]["code"] == -32600


def test_foreign_pages_and_foreign_names_are_refused(root: Path) -> None:
    with http_server(root, "--origin", "https://app.example") as url:
        assert post(url) == 200
        assert post(url, Origin="http://localhost:3000") == 200
        assert post(url, Origin="https://app.example") == 200
        assert post(url, Origin="https://evil.example") == 403
        assert post(url, Origin="http://localhost.evil.example") == 403
        assert post(url, Origin="null") == 403
        assert post(url, Host="evil.example") == 421


def test_a_token_is_asked_of_every_request(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("open sesame\n")
    with http_server(root, "--token-file", str(secret)) as url:
        assert post(url) == 401
        assert post(url, Authorization="Bearer open") == 401
        assert post(url, Authorization="Bearer open sesame") == 200
    with http_server(root, AGENVOY_HTTP_TOKEN="abc") as url:
        assert post(url) == 401 and post(url, Authorization="Bearer abc") == 200


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--http", "0.0.0.0:0"], "--allow-remote"),
        (["--http", "0.0.0.0:0", "--allow-remote"], "AGENVOY_HTTP_TOKEN"),
        (["--http", "nowhere"], "no HOST:PORT"),
        (["--http", "127.0.0.1:99999"], "no HOST:PORT"),
        (["--stateless"], "--http"),
        (["--http", "127.0.0.1:0", "--token-file", "missing"], "cannot be read"),
    ],
)
def test_what_would_open_the_workspace_unasked_is_refused(root: Path, flags: list[str], says: str) -> None:
    env = {k: v for k, v in environment(root).items() if k != "AGENVOY_HTTP_TOKEN"}
    done = subprocess.run(command(*flags), env=env, cwd=TOP, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2 and says in done.stderr


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_without_sessions_the_running_task_holds_and_outlives_the_client(root: Path, mode: str) -> None:
    async def change(url: str, name: str) -> Any:
        async with connected(root, f"http-{mode}", url) as client:
            done = await client.call_tool("edit_file", {"path": name, "content": "x\n"})
            rows = (await client.call_tool("list_tasks", {})).structured_content["rows"]
            return code(done), [(row["running"], row["files"]) for row in rows]

    with http_server(root, "--stateless") as url:
        assert asyncio.run(change(url, "f")) == ("", [(True, 1)])
        assert asyncio.run(change(url, "g")) == ("", [(True, 2)])


def test_a_session_that_ends_ends_its_task(root: Path) -> None:
    async def run(url: str) -> Any:
        async with connected(root, "http-legacy", url, name="ann") as client:
            await client.call_tool("edit_file", {"path": "f", "content": "x\n"})
        async with connected(root, "http-legacy", url, name="bob") as client:
            for _ in range(50):  # the server closes the session after the client's DELETE was answered
                rows = (await client.call_tool("list_tasks", {})).structured_content["rows"]
                if not rows[0]["running"]:
                    break
            return rows

    with http_server(root) as url:
        assert [row["running"] for row in asyncio.run(run(url))] == [False]
