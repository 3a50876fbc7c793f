"""Clients that are broken, malicious or gone: a protocol-correct error, no loss, and the server lives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp_driver import TOP, command, environment
from wire import HELLO, Wire


@pytest.fixture
def wire(root: Path) -> Iterator[Wire]:
    with Wire(root) as opened:
        yield opened
        assert opened.call("list_tasks", {})["result"]["isError"] is False, "the server lives"


def refused(answer: dict[str, Any]) -> str:
    assert answer["result"]["isError"] is True
    return str(answer["result"]["structuredContent"]["error"]["code"])


def test_unknown_tools_and_wrong_arguments_are_refused(wire: Wire) -> None:
    assert refused(wire.call("rm_rf", {})) == "unknown_tool"
    assert refused(wire.call("edit_file", {"path": 3, "content": "x"})) == "invalid_arguments"
    assert refused(wire.call("edit_file", {"path": "f", "content": {"a": [None]}})) == "invalid_arguments"
    assert refused(wire.call("read_files", {"files": "f"})) == "invalid_arguments"
    assert wire.call("edit_file", [1, 2])["error"]["code"] == -32602
    assert wire.call({"name": 1}, {})["error"]["code"] == -32602
    assert wire.ask("tools/destroy", {})["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b'{"jsonrpc":"2.0","id":9,"method":"ping","params":' + b"[" * 100_000, -32700),
        (b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"caf\xe9"}}', -32700),
        (b"\xff\xfe{}", -32700),
        (b'["what", "is", "this"]', -32600),
        (b'{"id": 7}', -32600),
        (b"null", -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":"tools/list"}', -32600),
        (b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}', -32600),
    ],
)
def test_what_is_no_message_is_answered_with_an_error(wire: Wire, line: bytes, code: int) -> None:
    wire.write(line)
    answer = wire.take()
    assert answer["error"]["code"] == code and answer["id"] == (7 if b"7" in line else None)


def test_what_cannot_be_interrupted_is_refused_before_it_begins(wire: Wire, root: Path) -> None:
    found = wire.call("find_files", {"queries": [{"pattern": "x" * 4_000_000, "file_pattern": "*"}]})
    assert found["result"]["structuredContent"]["error"]["code"] == "invalid_pattern"
    for tool, arguments in (
        ("find_files", {"queries": [{"pattern": "*" * 4_000_000}]}),
        ("read_files", {"files": [{"path": "f"}] * 100_000}),
        ("begin_task", {"objective": "x" * 5_000_000}),
    ):
        document = wire.call(tool, arguments)["result"]["structuredContent"]
        assert document["error"]["code"] == "invalid_arguments" and len(json.dumps(document)) < 10_000


def test_text_that_is_no_unicode_never_reaches_a_file(wire: Wire, root: Path) -> None:
    call = b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"edit_file","arguments":%s}}'
    wire.write(call % b'{"path":"f","content":"caf\xe9"}')
    assert wire.take()["error"]["code"] == -32700
    assert wire.call("edit_file", {"path": "f", "content": "half \ud800"})["error"]["code"] == -32600
    assert not (root / "f").exists()


def test_fifty_megabytes_are_written_or_refused_but_never_lost(wire: Wire, root: Path) -> None:
    content = "0123456789abcde\n" * (50 * 65536)
    assert wire.call("edit_file", {"path": "big", "content": content})["result"]["isError"] is False
    assert (root / "big").read_text() == content


def test_deep_arguments_are_refused(wire: Wire) -> None:
    deep: Any = "x"
    for _ in range(100):
        deep = [deep]
    assert refused(wire.call("read_files", {"files": deep})) == "invalid_arguments"


def test_a_client_that_vanishes_in_mid_call_loses_nothing(root: Path) -> None:
    with Wire(root) as wire:
        for number in range(20):
            wire.begin_call("edit_file", {"path": f"f{number}", "content": f"{number}\n"})
        assert wire.process.stdout is not None
        wire.process.stdout.close()
    made = {name: (root / name).read_text() for name in os.listdir(root) if not name.startswith(".agenvoy")}
    assert all(text == f"{name[1:]}\n" for name, text in made.items())
    argv = [sys.executable, "-m", "agenvoy", "verify"]
    done = subprocess.run(argv, env=environment(root), cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_messages_may_also_come_from_a_file(root: Path, tmp_path: Path) -> None:
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_tasks", "arguments": {}}}
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}, call]
    (tmp_path / "script").write_text("\n".join(map(json.dumps, lines)))
    with open(tmp_path / "script", "rb") as script:
        env = environment(root)
        done = subprocess.run(command(), env=env, stdin=script, capture_output=True, check=False, timeout=60)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2] and done.returncode == 0


def test_a_client_that_floods_is_served_in_order(wire: Wire) -> None:
    numbers = [wire.begin("ping", {}) for _ in range(500)]
    assert [wire.take()["id"] for _ in numbers] == numbers


def test_what_was_asked_before_the_end_of_input_is_still_answered(root: Path) -> None:
    with Wire(root) as wire:
        number = wire.begin_call("edit_file", {"path": "f", "content": "x\n"})
        assert wire.process.stdin is not None
        wire.process.stdin.close()
        assert wire.take()["id"] == number
    assert wire.status == 0 and (root / "f").read_text() == "x\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_cleanly(root: Path, number: signal.Signals) -> None:
    with Wire(root) as wire:
        wire.call("edit_file", {"path": "f", "content": "x\n"})
        wire.process.send_signal(number)
    assert wire.status == (0 if number == signal.SIGTERM else 130) and "Traceback" not in wire.said
    with Wire(root) as again:
        rows = again.call("list_tasks", {})["result"]["structuredContent"]["rows"]
    assert [row["running"] for row in rows] == [False]


def test_a_task_that_is_no_text_is_refused_instead_of_another_one_being_used(wire: Wire, root: Path) -> None:
    for named in (7, "", ["x"], {"id": "x"}):
        params = {"name": "edit_file", "arguments": {"path": "f", "content": "x"}, "_meta": {"agenvoy/task": named}}
        assert refused(wire.ask("tools/call", params)) == "invalid_arguments"
    assert not (root / "f").exists()
