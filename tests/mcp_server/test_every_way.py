"""What every client gets, over stdio and HTTP, in both eras of the protocol."""

from __future__ import annotations

from typing import Any

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_driver import Driver, code


def test_every_tool_can_be_called(drive: Driver) -> None:
    async def work(client: Client) -> dict[str, types.CallToolResult]:
        done = {"begin_task": await client.call_tool("begin_task", {"objective": "try everything"})}
        done["edit_file"] = await client.call_tool("edit_file", {"path": "f", "content": "one\n"})
        version = done["edit_file"].structured_content["version"]
        calls: list[tuple[str, dict[str, Any]]] = [
            ("read_files", {"files": [{"path": "f"}]}),
            ("find_files", {"queries": [{"pattern": "one", "file_pattern": "f"}]}),
            ("move_file", {"path": "f", "to": "g"}),
            ("remove_file", {"path": "g"}),
            ("restore_file", {"version": version}),
            ("file_history", {"path": "f"}),
            ("workspace_status", {}),
            ("list_tasks", {}),
            ("open_file", {"target": "missing"}),
            ("end_task", {"summary": "tried"}),
        ]
        for name, arguments in calls:
            done[name] = await client.call_tool(name, arguments)
        assert {tool.name for tool in (await client.list_tools()).tools} == set(done)
        return done

    done = drive(work, "--yes")
    assert {name: code(result) for name, result in done.items() if result.is_error} == {"open_file": "not_found"}
    assert (drive.root / "f").read_text() == "one\n"
    assert done["list_tasks"].structured_content["rows"][0]["actor"] == "tester"


async def remove(client: Client) -> types.CallToolResult:
    return await client.call_tool("remove_file", {"path": "f"})


@pytest.mark.parametrize(("given", "expected"), [("yes", ""), ("no", "declined"), (None, "declined")])
def test_the_user_is_asked_through_the_client(drive: Driver, given: str | None, expected: str) -> None:
    (drive.root / "f").write_text("x")
    asked: list[str] = []

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        action: Any = "accept" if given else "cancel"
        return types.ElicitResult(action=action, content={"answer": given} if given else None)

    assert code(drive(remove, elicitation_callback=elicit)) == expected
    assert (drive.root / "f").exists() == bool(expected) and asked == ["remove f?"]


def test_without_anybody_to_ask_nothing_is_removed(drive: Driver) -> None:
    (drive.root / "f").write_text("x")
    assert code(drive(remove)) == "confirmation_required" and (drive.root / "f").exists()


def test_yes_for_the_task_is_asked_once_and_sensitive_files_each_time(drive: Driver) -> None:
    (drive.root / ".env").write_text("KEY=1\n")
    asked: list[list[str]] = []

    async def elicit(context: Any, params: Any) -> types.ElicitResult:
        choices = params.requested_schema["properties"]["answer"]["enum"]
        asked.append(choices)
        return types.ElicitResult(action="accept", content={"answer": choices[-2]})

    async def work(client: Client) -> list[types.CallToolResult]:
        await client.call_tool("begin_task", {"objective": "clean up"})
        for name in "ab":
            await client.call_tool("edit_file", {"path": name, "content": "x\n"})
        removed = [await client.call_tool("remove_file", {"path": name}) for name in "ab"]
        return removed + [await client.call_tool("read_files", {"files": [{"path": ".env"}]}) for _ in "ab"]

    assert [code(result) for result in drive(work, elicitation_callback=elicit)] == [""] * 4
    assert asked == [["yes", "all in this task", "no"], ["yes", "no"], ["yes", "no"]]


def test_history_is_there_as_resources(drive: Driver) -> None:
    async def work(client: Client) -> Any:
        made = await client.call_tool("edit_file", {"path": "f", "content": "hello\n"})
        await client.call_tool("edit_file", {"path": ".env", "content": "SECRET\n"})
        first = int(made.structured_content["version"])
        listed = (await client.list_resources()).resources
        task = await client.read_resource(listed[0].uri)
        shown = [await client.read_resource(f"agenvoy://version/{n}") for n in (first, first + 2)]
        with pytest.raises(MCPError) as caught:
            await client.read_resource("agenvoy://version/999")
        return task, shown, caught.value

    task, (plain, secret), error = drive(work)
    assert '"path": "f"' in task.contents[0].text and "+hello" in task.contents[1].text
    assert plain.contents[1].text == "hello\n"
    assert len(secret.contents) == 1 and "SECRET" not in str(secret) + str(task) and '".env"' in secret.contents[0].text
    assert error.code == -32002 and error.data["code"] == "no_such_version"


def test_prompts_are_listed_and_filled_in(drive: Driver) -> None:
    async def work(client: Client) -> Any:
        listed = [prompt.name for prompt in (await client.list_prompts()).prompts]
        filled = await client.get_prompt("recover", {"path": "notes.txt"})
        with pytest.raises(MCPError):
            await client.get_prompt("recover", {})
        return listed, filled.messages[0].content.text

    listed, text = drive(work)
    assert "undo" in listed and "path=notes.txt" in text


def test_images_are_image_content(drive: Driver) -> None:
    pixel = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8cfc000000301"
        "0100c9fe92ef0000000049454e44ae426082"
    )
    (drive.root / "dot.png").write_bytes(pixel)

    async def work(client: Client) -> Any:
        return await client.call_tool("read_files", {"files": [{"path": "dot.png"}]})

    result = drive(work)
    if code(result) == "unsupported_type":
        pytest.skip("images have no reader yet")
    assert [c.type for c in result.content] == ["text", "image"] and result.content[1].mime_type == "image/png"
