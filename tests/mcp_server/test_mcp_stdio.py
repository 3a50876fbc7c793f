"""The MCP server, driven by the official client over stdio."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

TOP = Path(__file__).parents[2]
Elicit = Callable[..., Awaitable[types.ElicitResult]]
Work = Callable[[ClientSession], Awaitable[Any]]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@asynccontextmanager
async def connected(root: Path, *flags: str, elicit: Elicit | None = None) -> AsyncIterator[ClientSession]:
    env = {
        **os.environ, "AGENVOY_HOME": str(root.parent / "home"), "AGENVOY_ROOT": str(root), "PYTHONPATH": str(TOP),
    }  # fmt: skip
    server = StdioServerParameters(command=sys.executable, args=["-m", "agenvoy", *flags, "mcp"], env=env, cwd=root)
    info = types.Implementation(name="tester", version="1")
    async with (
        stdio_client(server) as (reader, writer),
        ClientSession(reader, writer, client_info=info, elicitation_callback=elicit) as session,
    ):
        await session.initialize()
        yield session


def drive(work: Work, root: Path, *flags: str, elicit: Elicit | None = None) -> Any:
    async def run() -> Any:
        async with connected(root, *flags, elicit=elicit) as session:
            return await work(session)

    return asyncio.run(run())


def test_tools_have_titles_schemas_and_annotations(root: Path) -> None:
    async def work(session: ClientSession) -> Any:
        return (await session.list_tools()).tools

    tools = {tool.name: tool for tool in drive(work, root)}
    assert len(tools) == 12 and tools["read_files"].annotations.read_only_hint
    assert tools["remove_file"].output_schema["type"] == "object" and tools["remove_file"].title


def test_results_and_errors_are_structured_and_told(root: Path) -> None:
    async def work(session: ClientSession) -> Any:
        made = await session.call_tool("edit_file", {"path": "f", "content": "x\n"})
        bad = await session.call_tool("read_files", {"files": [{"path": "missing"}]})
        odd = await session.call_tool("read_files", {"file": "f"})
        history = await session.call_tool("file_history", {})
        return made, bad, odd, history

    made, bad, odd, history = drive(work, root)
    assert not made.is_error and made.structured_content["action"] == "create" and "Undo" in made.content[0].text
    assert bad.is_error and bad.structured_content["error"]["code"] == "not_found"
    assert odd.is_error and "files" in odd.structured_content["error"]["message"]
    assert history.structured_content["rows"][0]["actor"] == "tester"


def test_without_anybody_to_ask_nothing_is_removed(root: Path) -> None:
    (root / "f").write_text("x")

    async def work(session: ClientSession) -> Any:
        return await session.call_tool("remove_file", {"path": "f"})

    assert drive(work, root).structured_content["error"]["code"] == "confirmation_required"
    assert (root / "f").exists()
    assert not drive(work, root, "--yes").is_error and not (root / "f").exists()


@pytest.mark.parametrize(("answer", "gone"), [("yes", True), ("no", False)])
def test_the_user_is_asked_through_the_client(root: Path, answer: str, gone: bool) -> None:
    (root / "f").write_text("x")
    asked: list[str] = []

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": answer})

    async def work(session: ClientSession) -> Any:
        return await session.call_tool("remove_file", {"path": "f"})

    done = drive(work, root, elicit=elicit)
    assert done.is_error is not gone and (root / "f").exists() is not gone and "f" in asked[0]


def test_a_sub_agent_is_not_offered_removal(root: Path) -> None:
    (root / "f").write_text("x")

    async def work(session: ClientSession) -> Any:
        names = {tool.name for tool in (await session.list_tools()).tools}
        return names, await session.call_tool("remove_file", {"path": "f"})

    names, refused = drive(work, root, "--subagent", "--yes")
    assert "read_files" in names and not names & {"remove_file", "restore_file"}
    assert refused.structured_content["error"]["code"] == "not_available" and (root / "f").exists()


def test_the_task_that_a_connection_began_ends_with_it(root: Path) -> None:
    async def first(session: ClientSession) -> Any:
        await session.call_tool("edit_file", {"path": "f", "content": "x\n"})

    async def second(session: ClientSession) -> Any:
        return (await session.call_tool("list_tasks", {})).structured_content["rows"]

    drive(first, root)
    assert [row["running"] for row in drive(second, root)] == [False]
