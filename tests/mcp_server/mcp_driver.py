"""The server as a process, driven by the official client over stdio and HTTP, in both eras of the protocol."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters

TOP = Path(__file__).parents[2]
WAYS = ("stdio-legacy", "stdio-2026-07-28", "http-legacy", "http-2026-07-28")
Work = Callable[[Client], Awaitable[Any]]


def environment(root: Path) -> dict[str, str]:
    """An environment with a home beside the workspace."""
    own = {"AGENVOY_HOME": str(root.parent / "home"), "AGENVOY_ROOT": str(root), "PYTHONPATH": str(TOP)}
    return {**os.environ, "HOME": str(root.parent), **own}


def command(*flags: str) -> list[str]:
    """The server's command line."""
    return [sys.executable, "-m", "agenvoy", "mcp", *flags]


@contextmanager
def http_server(root: Path, *flags: str, **extra: str) -> Iterator[str]:
    """A server over HTTP; gives its URL, and checks that it ends when it is told to."""
    argv = command("--http", "127.0.0.1:0", *flags)
    env = {**environment(root), **extra}
    with subprocess.Popen(argv, env=env, cwd=root, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = process.stderr.readline()
            assert "serving MCP at " in said, said + process.stderr.read()
            yield said.split()[-1]
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0


@asynccontextmanager
async def connected(
    root: Path, way: str, url: str, *flags: str, name: str = "tester", **given: Any
) -> AsyncIterator[Client]:
    """A client of one way; `given` goes to the SDK's client."""
    _, _, mode = way.partition("-")
    stdio = StdioServerParameters(command=sys.executable, args=command(*flags)[1:], env=environment(root), cwd=root)
    info = types.Implementation(name=name, version="1")
    async with Client(url or stdio, mode=mode, client_info=info, **given) as client:  # type: ignore[arg-type]
        yield client


class Driver:
    """Runs work against a fresh server of one way."""

    def __init__(self, root: Path, way: str) -> None:
        self.root = root
        self.way = way
        self.legacy = way.endswith("legacy")

    def __call__(self, work: Work, *flags: str, **given: Any) -> Any:
        async def run(url: str) -> Any:
            async with connected(self.root, self.way, url, *flags, **given) as client:
                return await work(client)

        if self.way.startswith("stdio"):
            return asyncio.run(run(""))
        with http_server(self.root, *flags) as url:
            return asyncio.run(run(url))


def code(result: types.CallToolResult) -> str:
    """The error code of a refused call; empty where it was done."""
    return str(result.structured_content["error"]["code"]) if result.is_error else ""
