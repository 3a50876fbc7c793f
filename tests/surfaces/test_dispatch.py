"""One call through the dispatcher: documents, refusals, notices of the sub-agent rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agenvoy.config import Settings
from agenvoy.surfaces.dispatch import call
from agenvoy.workspace.service import Service


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    root = tmp_path / "root"
    root.mkdir()
    with Service(Settings(str(root), str(tmp_path / "home"), assume_yes=True)) as opened:
        yield opened


def test_a_call_gives_tool_label_task_result_and_text(service: Service) -> None:
    document = call(service, "edit_file", {"path": "f", "content": "x\n"})
    assert document["ok"] is True and document["tool"] == "edit_file" and document["label"] == "Edit(f)"
    assert document["task"]["id"] and document["result"]["path"] == "f"
    assert document["text"].splitlines()[-1].startswith("Undo: ")


def test_a_refused_call_gives_code_message_hint_and_text(service: Service) -> None:
    document = call(service, "read_files", {"files": [{"path": "missing"}]})
    assert document["ok"] is False and document["error"]["code"] == "not_found" and document["error"]["hint"]
    assert document["text"].startswith("Error not_found: ") and document["label"] == "Read(missing)"


@pytest.mark.parametrize("arguments", [None, [], "x", 3, {"a": {}}])
def test_wrong_arguments_are_refused_before_anything_happens(service: Service, arguments: object) -> None:
    assert call(service, "begin_task", arguments)["error"]["code"] == "invalid_arguments"


def test_an_unknown_tool_and_an_unknown_surface_are_refused(service: Service) -> None:
    assert call(service, "write_file", {})["error"]["code"] == "unknown_tool"
    assert call(service, "read_files", {}, surface="nosuch")["error"]["code"] == "invalid_arguments"


def test_a_failed_read_of_every_file_shows_every_error(service: Service) -> None:
    document = call(service, "read_files", {"files": [{"path": "a"}, {"path": "b"}]})
    assert [entry["error"]["code"] for entry in document["error"]["files"]] == ["not_found", "not_found"]
