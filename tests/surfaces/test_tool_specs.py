"""The native tools as data: order, schemas, descriptions, refusals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agenvoy.errors import AgenvoyError
from agenvoy.surfaces.labels import label
from agenvoy.surfaces.schemas import FORMATS, tools_document
from agenvoy.surfaces.spec import surface

NAMES = [
    "find_files", "read_files", "edit_file", "remove_file", "restore_file", "file_history", "move_file", "open_file",
    "begin_task", "end_task", "list_tasks", "workspace_status",
]  # fmt: skip


def documents(**kw: Any) -> dict[str, Any]:
    return {tool["name"]: tool for tool in tools_document("native", "mcp", **kw)}


def test_the_tools_stand_in_the_contracts_order() -> None:
    assert [tool.name for tool in surface("native").tools] == NAMES


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_lists_every_tool_with_a_schema_and_a_description(form: Any) -> None:
    keys = {"mcp": "inputSchema", "openai": "parameters", "anthropic": "input_schema"}
    for name, tool in zip(NAMES, tools_document("native", form), strict=True):
        body = tool["function"] if form == "openai" else tool
        assert (body["name"] == name and len(body["description"]) > 80) or name in ("end_task", "list_tasks")
        Draft202012Validator.check_schema(body[keys[form]])


def test_schemas_are_self_contained_and_free_of_noise() -> None:
    for tool in tools_document("native", "mcp"):
        text = json.dumps(tool["inputSchema"])
        assert "$ref" not in text and "$defs" not in text and '"title"' not in text and '"null"' not in text


def test_edit_file_takes_these_arguments_and_no_removed_ones() -> None:
    schema = documents()["edit_file"]["inputSchema"]
    assert set(schema["properties"]) == {"path", "mode", "content", "targets"} and schema["required"] == ["path"]
    assert schema["properties"]["mode"]["enum"] == ["write", "patch"]


def test_an_output_schema_allows_a_result_and_an_error() -> None:
    check = Draft202012Validator(documents()["remove_file"]["outputSchema"])
    assert check.is_valid({"path": "f", "moved_to": "/t/f", "version": 3})
    assert check.is_valid({"ok": False, "tool": "remove_file", "error": {"code": "not_found", "message": "m"}})
    assert not check.is_valid({"path": "f"})


def test_a_sub_agent_is_not_offered_what_removes_or_puts_back() -> None:
    assert set(NAMES) - set(documents(subagent=True)) == {"remove_file", "restore_file"}
    with pytest.raises(AgenvoyError) as caught:
        surface("native").get("remove_file", subagent=True)
    assert caught.value.code == "not_available"


@pytest.mark.parametrize(("wrong", "right"), [("read_file", "read_files"), ("Edit-File", "edit_file")])
def test_an_unknown_tool_is_refused_with_the_nearest_one(wrong: str, right: str) -> None:
    with pytest.raises(AgenvoyError) as caught:
        surface("native").get(wrong)
    assert caught.value.code == "unknown_tool" and right in caught.value.hint


def test_what_only_reads_says_so() -> None:
    reading = {name for name, tool in documents().items() if tool["annotations"]["readOnlyHint"]}
    assert reading == {"find_files", "read_files", "file_history", "list_tasks", "workspace_status"}


def test_the_configured_folder_stands_in_edits_description() -> None:
    assert "/home/me/out" in documents(output_dir="/home/me/out")["edit_file"]["description"]


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("remove_file", {"path": "a b"}, "Remove(a b)"),
        ("restore_file", {"version": 7}, "Restore(version 7)"),
        ("restore_file", {"task_id": "current", "path": "f"}, "Restore(task current, f)"),
        ("read_files", {"files": [{"path": n} for n in "abcd"]}, "Read(a, b, c, …)"),
        ("find_files", {"queries": [{"pattern": "x+"}]}, "Find(x+)"),
        ("edit_file", {"path": "a\nb\x1b[31m"}, "Edit(a\\nb\\x1b[31m)"),
        ("edit_file", None, "Edit()"),
        ("read_files", {"files": "nonsense"}, "Read()"),
    ],
)
def test_a_label_is_one_line_whatever_the_arguments(tool: str, arguments: object, expected: str) -> None:
    assert label(tool, arguments) == expected


def test_the_readmes_table_is_what_the_declarations_say() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    table = readme.split("<!-- tools:", 1)[1].split("<!-- /tools -->", 1)[0]
    rows = []
    for name, tool in documents().items():
        names = ", ".join(f"`{argument}`" for argument in tool["inputSchema"]["properties"]) or "–"
        rows.append(f"| `{name}` | {tool['description'].partition('. ')[0].rstrip('.')} | {names} |")
    assert [line for line in table.splitlines() if line.startswith("| `")] == rows
