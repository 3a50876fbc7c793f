"""`sensitive.keep = "not recorded"`: contents of sensitive files leave the store, and the answers say so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from world import World, history, read, sound, stored

from agenvoy.errors import AgenvoyError
from agenvoy.workspace.hooks import handle
from agenvoy.workspace.service import Service


@pytest.fixture
def strict(world: World) -> Service:
    (Path(world.root) / ".env").write_text("KEY=first-secret\n")
    return world.service(keep_sensitive="not recorded", allow_sensitive=True)


def test_a_change_of_a_sensitive_file_is_listed_but_its_bytes_are_not_kept(strict: Service) -> None:
    read(strict, ".env")
    done = strict.edit_file(".env", content="KEY=second-secret\n").result
    assert done["undoable"] is False
    rows = history(strict, ".env")
    assert [row["restorable"] for row in rows] == [False, False] and [r["action"] for r in rows][-1] == "modify"
    assert b"secret" not in stored(strict)
    with pytest.raises(AgenvoyError) as caught:
        strict.restore_file(version=rows[0]["version"])
    assert caught.value.code == "not_restorable"
    sound(strict)


def test_other_files_are_recorded_as_ever(strict: Service) -> None:
    done = strict.edit_file("plain", content="not secret\n").result
    assert done["undoable"] is True and history(strict, "plain")[-1]["restorable"] is True


def test_the_other_files_of_a_task_can_be_taken_back_path_by_path(strict: Service) -> None:
    read(strict, ".env")
    strict.edit_file(".env", content="KEY=x\n")
    strict.edit_file("plain", content="x\n")
    with pytest.raises(AgenvoyError) as caught:
        strict.restore_file(task_id="current")
    assert caught.value.code == "not_restorable" and ".env" in caught.value.message
    done = strict.restore_file(task_id="current", path="plain").result
    assert [(change["path"], change["outcome"]) for change in done["changes"]] == [("plain", "removed")]


def test_removed_and_moved_secrets_are_not_kept_either_and_the_answers_say_so(strict: Service, world: World) -> None:
    strict.move_file(".env", ".env.old")
    assert b"first-secret" not in stored(strict)
    strict.undo()  # a move needs no bytes to be taken back
    assert (world.root / ".env").read_text() == "KEY=first-secret\n"
    removed = strict.remove_file(".env").result
    assert removed["undoable"] is False and removed["moved_to"] is None and b"first-secret" not in stored(strict)
    (world.root / "d").mkdir()
    (world.root / "d/.env").write_text("KEY=third-secret\n")
    (world.root / "d/f.txt").write_text("plain\n")
    assert strict.remove_tree("d").result["not_kept"] == ["d/.env"] and b"third-secret" not in stored(strict)
    sound(strict)


def test_a_command_that_changes_a_secret_is_recorded_without_its_contents(strict: Service, world: World) -> None:
    command = ["sh", "-c", "echo KEY=other-secret > .env; echo x > plain"]
    done = strict.run(command, dict(os.environ), str(world.root)).result
    assert {row["path"] for row in done["changes"]} == {".env", "plain"} and done["not_kept"] == [".env"]
    assert b"first-secret" not in stored(strict) and b"\x00KEY=other-secret" not in stored(strict)
    assert not strict.session.vault.has(strict.session.log.look(str(world.root / ".env")).state.hash)
    strict.restore_file(task_id="current", path="plain")
    assert not (world.root / "plain").exists()
    sound(strict)


def test_what_another_agents_tools_write_is_recorded_without_its_contents_too(strict: Service, world: World) -> None:
    event = {"session_id": "s", "tool_name": "Write", "tool_input": {"file_path": str(world.root / ".env")}}
    handle(strict.session, "claude-code", {"hook_event_name": "PreToolUse", **event})
    assert b"first-secret" not in stored(strict)
    (world.root / ".env").write_text("KEY=second-secret\n")
    handle(strict.session, "claude-code", {"hook_event_name": "PostToolUse", **event})
    assert history(strict, ".env")[-1]["action"] == "modify" and b"secret" not in stored(strict)
    sound(strict)
