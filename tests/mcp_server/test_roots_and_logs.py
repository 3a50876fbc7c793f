"""What a client may set: roots that narrow, the level of log messages, the task of a call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp_driver import Driver, code
from wire import HELLO, Wire

from agenvoy.mcp_server.roots import narrow


def roots(*paths: Path) -> Any:
    async def answer(context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=path.as_uri()) for path in paths])

    return answer


def test_roots_narrow_what_is_allowed(stdio: Driver) -> None:
    for name in ("in", "out"):
        (stdio.root / name).mkdir()
        (stdio.root / name / "f").write_text(f"{name}\n")

    async def work(client: Client) -> list[str]:
        paths = ["in/f", "out/f", "in/../out/f", str(stdio.root / "out/f")]
        calls = [await client.call_tool("read_files", {"files": [{"path": path}]}) for path in paths]
        calls.append(await client.call_tool("edit_file", {"path": "in/g", "content": "x\n"}))
        calls.append(await client.call_tool("edit_file", {"path": "g", "content": "x\n"}))
        calls.append(await client.call_tool("find_files", {"queries": [{"dir": "out"}]}))
        return [code(call) for call in calls]

    outside = "outside_workspace"
    found = stdio(work, list_roots_callback=roots(stdio.root / "in"))
    assert found == ["", outside, outside, outside, "", outside, outside]


def test_roots_never_widen(stdio: Driver, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x\n")

    async def work(client: Client) -> list[str]:
        paths = [str(tmp_path / "secret"), "."]
        return [code(await client.call_tool("find_files", {"queries": [{"dir": path}]})) for path in paths]

    assert stdio(work, list_roots_callback=roots(tmp_path)) == ["outside_workspace", ""]


@pytest.mark.parametrize(
    ("allowed", "uris", "expected"),
    [
        (["/w"], [], None),
        (["/w"], ["https://x.example/"], ()),
        (["/w"], ["https://x.example/", "file:///w/a", ""], ("/w/a",)),
        (["/w"], ["file://[x/"], ()),
        (["/w"], ["file:///w"], ("/w",)),
        (["/w"], ["file:///"], ("/w",)),
        (["/w"], ["file:///w/a", "file:///w/b"], ("/w/a", "/w/b")),
        (["/w"], ["file:///wide"], ()),
        (["/w", "/x"], ["file:///x/caf%E9"], ("/x/caf\udce9",)),
        (["/w"], ["file://elsewhere/w"], ()),
    ],
)
def test_narrowing_is_the_intersection(allowed: list[str], uris: list[str], expected: tuple[str, ...] | None) -> None:
    assert narrow(allowed, uris) == expected


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"roots": []}, "not_found"),
        ({"roots": [{"uri": "http://x/y"}, {"uri": 5}, {"uri": "in:"}, 7, {"uri": "IN"}]}, "outside_workspace"),
        ({"roots": [{"uri": "http://x/y"}]}, "outside_workspace"),
        ({}, "outside_workspace"),
    ],
)
def test_roots_that_are_odd_never_let_through_what_the_others_rule_out(
    root: Path, told: dict[str, Any], expected: str
) -> None:
    (root / "in").mkdir()
    text = json.dumps(told).replace("IN", (root / "in").as_uri())
    hello = {**HELLO, "capabilities": {"roots": {}}}
    with Wire(root, hello=hello) as wire:
        wire.send(
            {"jsonrpc": "2.0", "id": 50, "method": "tools/call",
             "params": {"name": "read_files", "arguments": {"files": [{"path": "absent"}]}}}
        )  # fmt: skip
        asked = wire.take()
        assert asked["method"] == "roots/list"
        wire.send({"jsonrpc": "2.0", "id": asked["id"], "result": json.loads(text)})
        document = wire.take()["result"]["structuredContent"]
    code = document.get("error", {}).get("code") or document["result"]["files"][0]["error"]["code"]
    assert code == expected


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_log_messages_come_at_the_level_asked_for(stdio: Driver) -> None:
    seen: list[tuple[str, Any]] = []

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        seen.append((params.level, params.data["label"]))

    async def work(client: Client) -> None:
        await client.call_tool("edit_file", {"path": "quiet", "content": "x\n"})
        await client.set_logging_level("info")
        await client.call_tool("edit_file", {"path": "told", "content": "x\n"})
        await client.call_tool("read_files", {"files": [{"path": "missing"}]})

    stdio(work, logging_callback=log)
    assert seen == [("info", "Edit(told)"), ("notice", "Read(missing)")]


def test_a_call_may_name_its_task(drive: Driver) -> None:
    async def work(client: Client) -> Any:
        first = (await client.call_tool("begin_task", {"objective": "first"})).structured_content["task_id"]
        await client.call_tool("begin_task", {"objective": "second"})
        meta: Any = {"agenvoy/task": first}
        named = await client.call_tool("edit_file", {"path": "f", "content": "x\n"}, meta=meta)
        wrong = await client.call_tool("edit_file", {"path": "f", "content": "x\n"}, meta={"agenvoy/task": "zzz"})
        rows = (await client.call_tool("list_tasks", {})).structured_content["rows"]
        return code(named), code(wrong), {row["objective"]: row["files"] for row in rows}

    assert drive(work) == ("", "no_such_task", {"first": 1, "second": 0})
