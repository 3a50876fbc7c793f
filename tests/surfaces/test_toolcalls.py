"""Tool calls as models' APIs give them."""

from __future__ import annotations

from typing import Any

import pytest

from agenvoy.errors import AgenvoyError
from agenvoy.surfaces.toolcalls import ToolCall, tool_call


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"type": "tool_use", "id": "t1", "name": "n", "input": {"a": 1}}, ToolCall("n", {"a": 1}, "t1")),
        ({"id": "c1", "type": "function", "function": {"name": "n", "arguments": "{}"}}, ToolCall("n", "{}", "c1")),
        ({"type": "function_call", "call_id": "c2", "name": "n", "arguments": "{}"}, ToolCall("n", "{}", "c2")),
        ({"function": {"name": "n", "arguments": {"a": 1}}}, ToolCall("n", {"a": 1}, "")),
    ],
)
def test_every_shape_is_understood(document: Any, expected: ToolCall) -> None:
    assert tool_call(document) == expected


@pytest.mark.parametrize("document", [None, [], "x", {}, {"name": "n"}, {"name": 3, "input": {}}, {"function": "n"}])
def test_anything_else_is_refused(document: Any) -> None:
    with pytest.raises(AgenvoyError) as caught:
        tool_call(document)
    assert caught.value.code == "invalid_arguments" and "tool_use" in caught.value.hint
