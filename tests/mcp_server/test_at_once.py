"""Several calls and several clients at once; progress, and calls that are cancelled."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp_driver import Driver, code, connected, environment, http_server
from wire import Wire

SLOW = {"queries": [{"pattern": "x$", "file_pattern": "*.txt"}], "timeout_s": 60}


@pytest.fixture
def many(root: Path) -> Path:
    """Files whose search takes several seconds."""
    folder = root / "many"
    folder.mkdir()
    for number in range(1500):
        (folder / f"{number}.txt").write_text(("x" * 100 + "\n") * 300)
    return root


def test_a_slow_search_keeps_no_edit_waiting(many: Path) -> None:
    with Wire(many) as wire:
        search = wire.begin_call("find_files", SLOW)
        edit = wire.begin_call("edit_file", {"path": "f", "content": "x\n"})
        assert [wire.take()["id"], wire.take()["id"]] == [edit, search]


def test_a_cancelled_search_stops_and_is_not_answered(many: Path) -> None:
    with Wire(many) as wire:
        search = wire.begin_call("find_files", SLOW)
        wire.call("list_tasks", {})
        began = time.monotonic()
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": search}})
        ping = wire.begin("ping", {})
        assert wire.take()["id"] == ping
        cpu = processor_seconds(wire.process.pid)
    assert wire.status == 0 and time.monotonic() - began < 3 and cpu < 60


def processor_seconds(pid: int) -> float:
    stat = Path(f"/proc/{pid}/stat")
    return sum(map(int, stat.read_text().split()[13:15])) / 100 if stat.exists() else 0.0


def test_a_call_cancelled_before_its_turn_changes_nothing(root: Path) -> None:
    with Wire(root) as wire:
        first = wire.begin_call("edit_file", {"path": "big", "content": "x\n" * 5_000_000})
        second = wire.begin_call("edit_file", {"path": "late", "content": "x\n"})
        wire.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": second}})
        assert wire.take()["id"] == first
        assert wire.call("workspace_status", {})["result"]["isError"] is False
    assert sorted(path.name for path in root.iterdir()) == ["big"]


def test_progress_is_seen_and_rises(drive: Driver) -> None:
    (drive.root / "long.txt").write_text("a line of text\n" * 8_000_000)
    seen: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        seen.append((done, total, message))

    async def work(client: Client) -> types.CallToolResult:
        arguments = {"files": [{"path": "long.txt", "offset": 7_999_990}]}
        return await client.call_tool("read_files", arguments, progress_callback=progress)

    assert code(drive(work)) == "" and seen
    assert [done for done, _, _ in seen] == sorted(done for done, _, _ in seen)
    assert seen[0][1] == 120_000_000 and seen[0][2] == "bytes read"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
def test_two_clients_share_one_store(root: Path, mode: str) -> None:
    async def run(url: str) -> list[Any]:
        way = f"http-{mode}"
        async with connected(root, way, url, name="ann") as ann, connected(root, way, url, name="bob") as bob:
            calls = []
            for number in range(10):
                for client, who in ((ann, "ann"), (bob, "bob")):
                    calls.append(client.call_tool("edit_file", {"path": f"{who}{number}", "content": "x\n"}))
            done = await asyncio.gather(*calls)
            rows = (await ann.call_tool("list_tasks", {})).structured_content["rows"]
            return [[code(result) for result in done], {row["actor"]: row["files"] for row in rows}]

    with http_server(root) as url:
        assert asyncio.run(run(url)) == [[""] * 20, {"ann": 10, "bob": 10}]


def test_a_shell_and_a_client_share_one_store(stdio: Driver) -> None:
    async def work(client: Client) -> Any:
        await client.call_tool("edit_file", {"path": "f", "content": "one\n"})
        argv = [sys.executable, "-m", "agenvoy", "--yes", "restore", "--task", "current"]
        process = await asyncio.create_subprocess_exec(
            *argv, env=environment(stdio.root), cwd=stdio.root, stdout=subprocess.DEVNULL
        )
        assert await process.wait() == 0
        return await client.call_tool("edit_file", {"path": "g", "content": "two\n"})

    told = stdio(work)
    assert code(told) == "" and not (stdio.root / "f").exists() and "f" in told.content[0].text
