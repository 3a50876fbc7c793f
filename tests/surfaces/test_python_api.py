"""The Python way in: the same verbs, typed results, tasks as context managers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from agenvoy import AgenvoyError, Workspace
from agenvoy.types import ConfirmRequest


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("AGENVOY_ROOT", "AGENVOY_HOME", "AGENVOY_TASK", "AGENVOY_SUBAGENT", "AGENVOY_ALLOW"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def ws(root: Path, tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.open(root, home=tmp_path / "home") as opened:
        yield opened


def code(caught: pytest.ExceptionInfo[AgenvoyError]) -> str:
    return caught.value.code


def test_a_file_is_written_read_patched_and_restored(ws: Workspace, root: Path) -> None:
    made = ws.edit_file("f", content="one\ntwo\n")
    assert made.action == "create" and made.path == "f"
    assert ws.read_files(["f"]).files[0].text == "1\tone\n2\ttwo\n" or ws.read_files(["f"]).files[0].total == 2
    patched = ws.edit_file("f", targets=[{"old_string": "two", "new_string": "2"}])
    assert patched.replacements == 1 and patched.diff is not None and "+2" in patched.diff
    assert ws.restore_file(version=made.version).applied
    assert (root / "f").read_text() == "one\ntwo\n"
    rows = ws.file_history(path="f").rows or []
    assert [row.action for row in rows][:2] == ["restore", "modify"]


def test_a_refusal_is_an_error_with_code_message_and_hint(ws: Workspace, root: Path) -> None:
    (root / "f").write_text("x\n")
    with pytest.raises(AgenvoyError) as caught:
        ws.edit_file("f", content="y\n")
    assert code(caught) == "not_read" and "f" in caught.value.message and caught.value.hint


def test_a_call_is_its_own_confirmation(ws: Workspace, root: Path) -> None:
    (root / "f").write_text("x\n")
    removed = ws.remove_file(root / "f")
    assert not (root / "f").exists() and os.path.isabs(removed.moved_to)


def test_a_sensitive_read_asks_the_callback(root: Path, tmp_path: Path) -> None:
    (root / ".env").write_text("KEY=1\n")
    asked: list[ConfirmRequest] = []

    def confirm(request: ConfirmRequest) -> str:
        asked.append(request)
        return "yes"

    with Workspace.open(root, home=tmp_path / "home") as plain, pytest.raises(AgenvoyError) as caught:
        plain.read_files([".env"])
    assert code(caught) == "confirmation_required"
    with Workspace.open(root, home=tmp_path / "home", confirm=confirm) as asking:  # type: ignore[arg-type]
        assert "KEY=1" in (asking.read_files([".env"]).files[0].text or "")
    assert asked[0].sensitive and asked[0].tool == "read_files"


def test_a_task_ends_with_its_block_and_can_be_taken_back(ws: Workspace, root: Path) -> None:
    with ws.task("make things") as task:
        ws.edit_file("a/b/c", content="x\n")
        assert task.restore(dry_run=True).changes[0].outcome == "removed"
        task.restore()
    assert list(root.iterdir()) == []
    row = ws.list_tasks().rows[0]
    assert row.task_id == task.id and row.objective == "make things" and not row.running


def change_and_fail(ws: Workspace) -> None:
    if os.path.exists(os.path.join(ws.root, "f")):
        ws.read_files(["f"])
    ws.edit_file("f", content="after\n")
    ws.read_files(["missing"])


def test_a_task_with_rollback_takes_everything_back_when_its_block_raises(ws: Workspace, root: Path) -> None:
    (root / "f").write_text("before\n")
    with pytest.raises(AgenvoyError), ws.task("try", rollback=True):
        change_and_fail(ws)
    assert (root / "f").read_text() == "before\n"


def test_a_task_without_rollback_keeps_what_was_done(ws: Workspace, root: Path) -> None:
    with pytest.raises(AgenvoyError), ws.task("try"):
        change_and_fail(ws)
    assert (root / "f").read_text() == "after\n" and not ws.list_tasks().rows[0].running


def test_threads_may_share_a_workspace(ws: Workspace, root: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda i: ws.edit_file(f"f{i}", content=f"{i}\n").version, range(24)))
    assert len(set(made)) == 24 and len(list(root.iterdir())) == 24


def test_a_name_that_is_no_unicode_is_taken_as_the_system_gives_it(ws: Workspace, root: Path) -> None:
    (root / os.fsdecode(b"caf\xe9")).write_text("x\n")
    entry = ws.read_files([os.listdir(root)[0]]).files[0]
    assert entry.path == "bytes:caf%E9" and entry.error is None


@pytest.mark.parametrize("wrong", [None, 7, "\ud800", "a\ud800b", object()])
def test_what_is_no_path_is_refused_like_anywhere_else(ws: Workspace, wrong: Any) -> None:
    for call in (
        lambda: ws.read_files([wrong]), lambda: ws.edit_file(wrong, content="x"), lambda: ws.remove_file(wrong),
        lambda: ws.read_files([{"path": wrong}]),
    ):  # fmt: skip
        with pytest.raises(AgenvoyError) as caught:
            call()
        assert caught.value.code == "invalid_arguments"


def test_a_name_may_be_bytes(ws: Workspace, root: Path) -> None:
    ws.edit_file(b"caf\xe9.txt", content="y\n")
    assert os.listdir(os.fsencode(root)) == [b"caf\xe9.txt"]


def test_a_sub_agent_cannot_remove(root: Path, tmp_path: Path) -> None:
    (root / "f").write_text("x\n")
    with Workspace.open(root, home=tmp_path / "home", subagent=True) as ws, pytest.raises(AgenvoyError) as caught:
        ws.remove_file("f")
    assert code(caught) == "not_available" and (root / "f").exists()


def test_a_task_that_its_block_ended_is_left_alone(ws: Workspace) -> None:
    with ws.task("outer"):
        ws.end_task("early")
        with ws.task("inner") as inner:
            ws.edit_file("f", content="x\n")
    rows = {row.objective: row for row in ws.list_tasks().rows}
    assert rows["inner"].files == 1 and rows["inner"].task_id == inner.id
    assert not rows["outer"].running and not rows["inner"].running


def undeclared(value: object) -> list[str]:
    if isinstance(value, list):
        return [name for item in value for name in undeclared(item)]
    if not isinstance(value, BaseModel):
        return []
    inner = [name for field in type(value).model_fields for name in undeclared(getattr(value, field))]
    return [f"{type(value).__name__}.{name}" for name in value.model_extra or ()] + inner


def test_results_declare_every_member_that_the_service_gives(ws: Workspace, root: Path) -> None:
    (root / "f").write_text("one\n" + "x" * 2000 + "\n")
    search = [{"pattern": "one|x", "file_pattern": "*"}]
    with ws.task("all verbs"):
        results: list[BaseModel] = [
            ws.find_files([{"dir": "."}]), ws.find_files(search), ws.find_files(search, output="content", context=1),
            ws.read_files(["f", "missing"]), ws.edit_file("f", content="two\n"), ws.workspace_status(),
            ws.move_file("f", "g"), ws.remove_file("g"), ws.file_history(), ws.file_history(mode="read", path="f"),
            ws.restore_file(task_id="current"),
        ]  # fmt: skip
    results += [ws.begin_task("another"), ws.end_task("done"), ws.list_tasks()]
    assert [name for result in results for name in undeclared(result)] == []
