"""Agents with tools of their own: their documented hook events are played, then the task is restored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from world import World

from agenvoy.workspace.service import Service

Event = Callable[..., dict[str, Any]]


def claude(world: World, name: str, **more: Any) -> dict[str, Any]:
    common = {"session_id": "abc123", "transcript_path": "/t.jsonl", "cwd": str(world.root), "hook_event_name": name}
    return {**common, **more}


def write(service: Service, world: World, client: str, names: Mapping[str, str], path: str, content: str) -> None:
    """A write by the agent's own tool, between its two events."""
    given = {"tool_name": names["write"], "tool_input": {"file_path": str(world.root / path), "content": content}}
    service.hook(client, claude(world, names["before"], **given))
    world.put(path, content)
    service.hook(client, claude(world, names["after"], **given, tool_response={"success": True}))


def shell(service: Service, world: World, client: str, names: Mapping[str, str], command: str) -> None:
    given = {"tool_name": names["shell"], "tool_input": {"command": command}}
    service.hook(client, claude(world, names["before"], **given))
    subprocess.run(["sh", "-c", command], cwd=world.root, check=True)
    service.hook(client, claude(world, names["after"], **given, tool_response={}))


CLIENTS = {
    "claude-code": {"prompt": "UserPromptSubmit", "before": "PreToolUse", "after": "PostToolUse", "end": "Stop",
                    "write": "Write", "shell": "Bash"},
    "codex": {"prompt": "UserPromptSubmit", "before": "PreToolUse", "after": "PostToolUse", "end": "Stop",
              "write": "Write", "shell": "Bash"},
    "gemini": {"prompt": "BeforeAgent", "before": "BeforeTool", "after": "AfterTool", "end": "AfterAgent",
               "write": "write_file", "shell": "run_shell_command"},
}  # fmt: skip


@pytest.mark.parametrize("client", list(CLIENTS))
def test_restore_last_takes_back_what_the_agent_wrote_and_ran(world: World, client: str) -> None:
    names = CLIENTS[client]
    world.put("a", "1\n")
    world.put("b", "1\n", mode=0o755)
    before = world.picture()
    service = world.service(clock=time.time_ns)
    service.hook(client, claude(world, names["prompt"], prompt="change a and b"))
    write(service, world, client, names, "a", "2\n")
    write(service, world, client, names, "new/c", "3\n")
    shell(service, world, client, names, "sed -i s/1/9/ b; mkdir d; mv a moved")
    service.hook(client, claude(world, names["end"]))
    task = service.list_tasks().result["rows"][0]
    assert (task["objective"], task["actor"], task["running"]) == ("change a and b", f"{client}:abc123", False)
    service.restore_file(task_id="last")
    assert world.picture() == before


def test_cursors_events_are_understood(world: World) -> None:
    def cursor(name: str, **more: Any) -> dict[str, Any]:
        return {"hook_event_name": name, "conversation_id": "c-1", "workspace_roots": [str(world.root)], **more}

    world.put("a", "1\n")
    before = world.picture()
    service = world.service(clock=time.time_ns)
    service.hook("cursor", cursor("beforeSubmitPrompt", prompt="do it"))
    given = {"tool_name": "Write", "tool_input": {"file_path": str(world.root / "a")}}
    service.hook("cursor", cursor("preToolUse", **given))
    world.put("a", "2\n")
    service.hook("cursor", cursor("afterFileEdit", file_path=str(world.root / "a"), edits=[]))
    service.hook("cursor", cursor("beforeShellExecution", command="rm a", cwd=str(world.root)))
    (world.root / "a").unlink()
    service.hook("cursor", cursor("afterShellExecution", command="rm a", output=""))
    service.hook("cursor", cursor("stop", status="completed"))
    service.restore_file(task_id="last")
    assert world.picture() == before


def test_what_a_person_does_between_the_agents_steps_stays(world: World) -> None:
    names = CLIENTS["claude-code"]
    world.put("a", "1\n2\n3\n")
    service = world.service(clock=time.time_ns)
    service.hook("claude-code", claude(world, "UserPromptSubmit", prompt="edit a"))
    write(service, world, "claude-code", names, "a", "one\n2\n3\n")
    world.put("a", "one\n2\nmine\n")
    write(service, world, "claude-code", names, "a", "ONE\n2\nmine\n")
    service.hook("claude-code", claude(world, "Stop"))
    service.restore_file(task_id="last")
    assert (world.root / "a").read_text() == "1\n2\nmine\n"


def test_files_outside_the_workspace_are_none_of_ours(world: World, tmp_path: Any) -> None:
    service = world.service(clock=time.time_ns)
    given = {"tool_name": "Write", "tool_input": {"file_path": str(tmp_path / "elsewhere")}}
    assert service.hook("claude-code", claude(world, "PreToolUse", **given)) is None


def test_a_session_that_is_cut_off_is_closed_by_the_next_prompt(world: World) -> None:
    world.put("a", "1\n")
    service = world.service(clock=time.time_ns)
    service.hook("claude-code", claude(world, "UserPromptSubmit", prompt="first"))
    given = {"tool_name": "Bash", "tool_input": {"command": "echo 2 > a"}}
    service.hook("claude-code", claude(world, "PreToolUse", **given))
    world.put("a", "2\n")
    service.hook("claude-code", claude(world, "UserPromptSubmit", prompt="second"))
    first = next(t for t in service.list_tasks().result["rows"] if t["objective"] == "first")
    service.restore_file(task_id=first["task_id"])
    assert (world.root / "a").read_text() == "1\n"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"hook_event_name": 3}', '{"hook_event_name": "PreToolUse"}'])
def test_junk_never_holds_the_agent_up(world: World, text: str) -> None:
    env = {**os.environ, "AGENVOY_HOME": str(world.home), "AGENVOY_ROOT": str(world.root)}
    done = subprocess.run(
        [sys.executable, "-m", "agenvoy", "hook", "claude-code"], input=text.encode(), env=env, capture_output=True,
        check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1)
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


def test_the_command_takes_the_workspace_from_the_event(world: World) -> None:
    world.put("a", "1\n")
    (world.root / ".agenvoy").mkdir()
    env = {k: v for k, v in os.environ.items() if not k.startswith("AGENVOY_")} | {"AGENVOY_HOME": str(world.home)}
    for event in (
        claude(world, "UserPromptSubmit", prompt="x"),
        claude(world, "PreToolUse", tool_name="Write", tool_input={"file_path": str(world.root / "a")}),
    ):
        call = [sys.executable, "-m", "agenvoy", "hook", "claude-code"]
        done = subprocess.run(call, input=json.dumps(event).encode(), env=env, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert world.service().list_tasks().result["rows"][0]["objective"] == "x"


def test_outside_changes_can_be_adopted_and_given_back(world: World) -> None:
    world.put("a", "1\n")
    world.put("b", "1\n")
    service = world.service(clock=time.time_ns)
    service.begin_task("mine")
    service.run(["sh", "-c", "echo 2 > a"], dict(os.environ), str(world.root))
    world.put("b", "2\n")
    given = service.adopt(paths=["b"]).result
    assert [row["path"] for row in given["rows"]] == ["b"]
    service.adopt(paths=["a"], outside=True)
    service.restore_file(task_id="current")
    assert ((world.root / "a").read_text(), (world.root / "b").read_text()) == ("2\n", "1\n")
