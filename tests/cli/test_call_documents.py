"""agenvoy call with a whole tool call as a document."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Agenvoy = Callable[..., Any]
ARGUMENTS = {"path": "f", "content": "x\n"}
ANTHROPIC = {"type": "tool_use", "id": "toolu_1", "name": "edit_file", "input": ARGUMENTS}
OPENAI = {"id": "call_1", "type": "function", "function": {"name": "edit_file", "arguments": json.dumps(ARGUMENTS)}}


@pytest.mark.parametrize("document", [ANTHROPIC, OPENAI])
@pytest.mark.parametrize("piped", [True, False])
def test_a_models_call_is_carried_out(agenvoy: Agenvoy, root: Path, document: Any, piped: bool) -> None:
    text = json.dumps(document)
    done = agenvoy("call", "-", stdin=text) if piped else agenvoy("call", text)
    assert done.code == 0 and done.document["tool"] == "edit_file" and done.document["id"] == document["id"]
    assert (root / "f").read_text() == "x\n"


def test_broken_arguments_inside_a_call_are_refused_with_its_id(agenvoy: Agenvoy, root: Path) -> None:
    broken = {**OPENAI, "function": {"name": "edit_file", "arguments": '{"path": '}}
    done = agenvoy("call", json.dumps(broken))
    assert done.code == 2 and done.document["error"]["code"] == "invalid_arguments" and done.document["id"] == "call_1"
    assert agenvoy("call", "{}").code == 2 and agenvoy("call", "-", stdin="nonsense").code == 2
