"""MCP: round trips against the reference file server, memory over many calls, the time to start.

    PATH=…/node_modules/.bin:$PATH python -m pytest tests/benchmarks/test_mcp.py -s

The reference is npm's `@modelcontextprotocol/server-filesystem`, driven by the same client in the same run.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

TOP = Path(__file__).parents[2]
REFERENCE = shutil.which("mcp-server-filesystem")
ROUNDS, EACH = 10, 20
TEXT = ("x" * 63 + "\n") * 64  # 4 KiB
BARE = (
    "import anyio; from mcp.server.lowlevel import Server; from mcp.server.stdio import stdio_server\n"
    "async def main():\n"
    "    server = Server('bare')\n"
    "    async with stdio_server() as (r, w): await server.run(r, w, server.create_initialization_options())\n"
    "anyio.run(main)\n"
)
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "b", "version": "1"}},
}  # fmt: skip


def environment(root: Path) -> dict[str, str]:
    own = {"AGENVOY_HOME": str(root.parent / "home"), "AGENVOY_ROOT": str(root), "PYTHONPATH": str(TOP)}
    return {**os.environ, **own}


def ours(root: Path) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=["-m", "agenvoy", "mcp"], env=environment(root), cwd=root)


async def timed(call: Callable[[int], Awaitable[Any]], numbers: range) -> float:
    """Milliseconds a call, over the numbers."""
    began = time.perf_counter()
    for number in numbers:
        result = await call(number)
        assert not result.is_error, result.content
    return (time.perf_counter() - began) * 1000 / len(numbers)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    (folder / "f").write_text(TEXT)
    return folder


@pytest.mark.skipif(REFERENCE is None, reason="mcp-server-filesystem is not installed")
def test_round_trips_against_the_reference_server(root: Path) -> None:
    async def run() -> dict[str, list[float]]:
        theirs = StdioServerParameters(command=str(REFERENCE), args=[str(root)], env=dict(os.environ))
        found: dict[str, list[float]] = {"read": [], "read_theirs": [], "edit": [], "edit_theirs": []}
        async with Client(ours(root), mode="legacy") as a, Client(theirs, mode="legacy") as b:
            calls: dict[str, Callable[[int], Awaitable[Any]]] = {
                "read": lambda n: a.call_tool("read_files", {"files": [{"path": "f"}]}),
                "read_theirs": lambda n: b.call_tool("read_text_file", {"path": str(root / "f")}),
                "edit": lambda n: a.call_tool("edit_file", {"path": f"a{n}", "content": TEXT}),
                "edit_theirs": lambda n: b.call_tool("write_file", {"path": str(root / f"b{n}"), "content": TEXT}),
            }
            for call in calls.values():
                await timed(call, range(10_000, 10_005))
            for number in range(ROUNDS):  # in turns, so that what else the machine does falls on both
                for name, call in calls.items():
                    found[name].append(await timed(call, range(number * EACH, (number + 1) * EACH)))
        return found

    found = asyncio.run(run())
    middle = {name: statistics.median(times) for name, times in found.items()}
    print({name: f"{value:.2f} ms" for name, value in middle.items()})
    print(f"read {middle['read'] / middle['read_theirs']:.2f}x, edit {middle['edit'] / middle['edit_theirs']:.2f}x")
    assert middle["read"] <= 2 * middle["read_theirs"]
    assert middle["edit"] <= 3 * middle["edit_theirs"]


def resident(pid: int) -> int:
    """Kilobytes of a process in memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_a_thousand_calls_leak_nothing(root: Path) -> None:
    argv = [sys.executable, "-m", "agenvoy", "--yes", "mcp"]
    with subprocess.Popen(
        argv, env=environment(root), cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(number: int, method: str, params: Any) -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number

        def calls(first: int, count: int) -> None:
            for number in range(first, first + count, 4):
                name = f"n{number % 40}"
                for offset, (tool, arguments) in enumerate([
                    ("read_files", {"files": [{"path": "f"}]}),
                    ("edit_file", {"path": name, "content": f"{number}\n" + TEXT}),
                    ("find_files", {"queries": [{"pattern": "x", "file_pattern": "*"}]}),
                    ("remove_file", {"path": name}),
                ]):
                    ask(number + offset, "tools/call", {"name": tool, "arguments": arguments})

        ask(1, "initialize", HELLO["params"])
        process.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        calls(100, 300)
        before = resident(process.pid)
        calls(1000, 1000)
        after = resident(process.pid)
        process.stdin.close()
        assert process.wait(30) == 0
    print(f"{before} kB before, {after} kB after 1,000 calls: {100 * (after / before - 1):+.1f} %")
    assert after <= 1.1 * before


def start(argv: list[str], root: Path) -> float:
    """Seconds from the start of a server to its answer to `initialize`."""
    began = time.perf_counter()
    with subprocess.Popen(
        argv, env=environment(root), cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(HELLO) + "\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        took = time.perf_counter() - began
        process.stdin.close()
        process.wait(30)
    return took


def test_the_server_starts_as_fast_as_a_bare_one(root: Path) -> None:
    bare, own = [sys.executable, "-c", BARE], [sys.executable, "-m", "agenvoy", "mcp"]
    for argv in (bare, own):
        start(argv, root)
    pairs = [(start(bare, root), start(own, root)) for _ in range(9)]
    theirs, mine = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"bare {theirs * 1000:.0f} ms, agenvoy {mine * 1000:.0f} ms: {mine / theirs:.2f}x")
    assert mine <= 1.2 * theirs
