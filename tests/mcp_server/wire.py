"""A client without manners: bytes straight to the server's standard input."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path
from typing import Any

from mcp_driver import command, environment

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "rude", "version": "1"}}


class Wire:
    """One server process and its pipes; leaving the block closes its input and waits for its end."""

    def __init__(self, root: Path, *flags: str, hello: dict[str, Any] = HELLO) -> None:
        self.process = subprocess.Popen(
            command(*flags), env=environment(root), cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )  # fmt: skip
        self.number = 0
        self.ask("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *exc: object) -> None:
        assert self.process.stdin is not None
        if self.process.poll() is None:
            self.process.stdin.close()
        self.status = self.process.wait(20)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.stdout.close()
        self.said = self.process.stderr.read().decode()
        self.process.stderr.close()

    def write(self, line: bytes) -> None:
        """One raw line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, message: Any) -> None:
        """One JSON value as a line."""
        self.write(json.dumps(message).encode())

    def take(self) -> dict[str, Any]:
        """The next message of the server, which must not be longer than half a minute in coming."""
        assert self.process.stdout is not None
        watch = threading.Timer(30, self.process.kill)
        watch.start()
        try:
            line = self.process.stdout.readline()
        finally:
            watch.cancel()
        assert line, "the server says nothing"
        found: dict[str, Any] = json.loads(line)
        return found

    def begin(self, method: str, params: Any) -> int:
        """Send a request without waiting; gives its id."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        return self.number

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        """A request and its answer; other messages in between are left out."""
        number = self.begin(method, params)
        while (found := self.take()).get("id") != number:
            pass
        return found

    def call(self, name: Any, arguments: Any) -> dict[str, Any]:
        """Call a tool."""
        return self.ask("tools/call", {"name": name, "arguments": arguments})

    def begin_call(self, name: str, arguments: Any) -> int:
        """Call a tool without waiting; gives the request's id."""
        return self.begin("tools/call", {"name": name, "arguments": arguments})
