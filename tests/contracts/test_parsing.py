"""Arguments as JSON become requests, or refusals that name what is right."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenvoy.contracts import EditRequest, FindRequest, HistoryRequest, ReadRequest, RestoreRequest, parse
from agenvoy.errors import AgenvoyError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


def refused(model: Any, arguments: object) -> AgenvoyError:
    with pytest.raises(AgenvoyError) as caught:
        parse(model, arguments, "the_tool")
    assert caught.value.code == "invalid_arguments"
    return caught.value


@pytest.mark.parametrize(
    ("model", "arguments", "right"),
    [
        (ReadRequest, {"file": [{"path": "f"}]}, "files"),
        (ReadRequest, {"files": [{"file_path": "f"}]}, "path"),
        (EditRequest, {"path": "f", "contents": "x"}, "content"),
        (EditRequest, {"file_path": "f", "content": "x"}, "path"),
        (EditRequest, {"path": "f", "targets": [{"old_str": "x"}]}, "old_string"),
        (FindRequest, {"queries": [{"dir": ".", "patern": "x"}]}, "pattern"),
        (FindRequest, {"queries": [{"directory": "."}]}, "dir"),
        (RestoreRequest, {"task": "current"}, "task_id"),
        (RestoreRequest, {"dryRun": True}, "dry_run"),
        (HistoryRequest, {"since": "2026-01-01"}, "from"),
    ],
)
def test_an_unknown_name_is_refused_with_the_right_one(model: Any, arguments: object, right: str) -> None:
    error = refused(model, arguments)
    assert f"`{right}`" in error.message and f"`{right}`" in error.hint


def test_an_argument_on_the_wrong_level_is_told_where_it_belongs() -> None:
    assert "inside `targets`" in refused(EditRequest, {"path": "f", "old_string": "a"}).message
    assert "inside `files`" in refused(ReadRequest, {"path": "f"}).message


@pytest.mark.parametrize(
    ("value", "said"),
    [("1", 'not the string "1"'), (True, "not true"), (1.0, "not the number 1.0"), ([1], "not the list [1]")],
)
def test_a_whole_number_is_nothing_else(value: object, said: str) -> None:
    message = refused(ReadRequest, {"files": [{"path": "f", "offset": value}]}).message
    assert message.startswith("`files[0].offset` must be a whole number") and said in message


def test_a_list_inside_a_string_is_refused_with_a_hint() -> None:
    error = refused(ReadRequest, {"files": '[{"path": "f"}]'})
    assert "not as JSON text in a string" in error.hint


def test_a_missing_argument_is_named() -> None:
    assert refused(EditRequest, {"content": "x"}).message == "the_tool needs `path`"


def test_a_number_beyond_64_bits_is_refused() -> None:
    assert "too large" in refused(RestoreRequest, {"version": 2**63}).message


def test_half_a_surrogate_pair_is_refused_where_it_stands() -> None:
    error = refused(EditRequest, {"path": "f", "targets": [{"new_string": "\ud800"}]})
    assert "`targets[0].new_string`" in error.message


@pytest.mark.parametrize("name", ["row", "insert_string"])
def test_removed_arguments_of_edit_are_refused_with_what_replaced_them(name: str) -> None:
    assert "targets" in refused(EditRequest, {"path": "f", name: 1}).hint


@pytest.mark.parametrize(("mode", "tool"), [("remove", "remove_file"), ("restore", "restore_file")])
def test_removed_modes_of_edit_are_refused_with_the_tool_that_does_it(mode: str, tool: str) -> None:
    assert tool in refused(EditRequest, {"path": "f", "mode": mode}).hint


def test_null_for_an_optional_argument_counts_as_left_out() -> None:
    request = parse(ReadRequest, {"files": [{"path": "f", "offset": None, "limit": None}], "reason": None}, "t")
    assert request.files[0].offset == 1 and request.files[0].limit is None


def test_null_for_a_needed_argument_is_refused() -> None:
    assert "must be a string, not null" in refused(EditRequest, {"path": None}).message


def test_arguments_that_are_no_object_are_refused() -> None:
    for arguments in (None, [], "x", 3):
        assert "JSON object" in refused(ReadRequest, arguments).message


def test_deeply_nested_arguments_are_refused() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    refused(ReadRequest, {"files": [deep]})


@given(st.sampled_from([ReadRequest, EditRequest, FindRequest, RestoreRequest, HistoryRequest]), JSON)
def test_whatever_comes_is_a_request_or_a_readable_refusal(model: Any, arguments: object) -> None:
    said = outcome(model, arguments)
    assert said is None or (said.code == "invalid_arguments" and said.message and said.hint)
    assert said is None or ("pydantic" not in said.message and "https://" not in said.message)


def outcome(model: Any, arguments: object) -> AgenvoyError | None:
    try:
        parse(model, arguments, "t")
    except AgenvoyError as error:
        return error
    return None


def test_importing_the_contracts_does_not_import_pydantic() -> None:
    code = "import sys, agenvoy.contracts; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
