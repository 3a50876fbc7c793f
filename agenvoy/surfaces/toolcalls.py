"""A model's tool call as its API gives it -> the tool's name and arguments.

    {"type": "tool_use", "id": …, "name": …, "input": {…}}                          Anthropic
    {"type": "function", "id": …, "function": {"name": …, "arguments": "{…}"}}      OpenAI, chat completions
    {"type": "function_call", "call_id": …, "name": …, "arguments": "{…}"}          OpenAI, responses
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agenvoy.errors import AgenvoyError

_SHAPES = 'give {"type": "tool_use", "name", "input"} or {"type": "function", "function": {"name", "arguments"}}'


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call: the tool, its arguments (decoded, or JSON text), and the id by which the model knows it."""

    name: str
    arguments: object
    id: str = ""


def tool_call(document: object) -> ToolCall:
    """The call that a document means.

    Raises:
        AgenvoyError: invalid_arguments for what has neither of the three shapes.
    """
    if not isinstance(document, Mapping):
        raise AgenvoyError("invalid_arguments", "a tool call is a JSON object", _SHAPES)
    inner = document.get("function")
    body = inner if isinstance(inner, Mapping) else document
    name = body.get("name")
    arguments = body.get("input", body.get("arguments"))
    if not isinstance(name, str) or not name or arguments is None:
        raise AgenvoyError("invalid_arguments", "the document is no tool call of OpenAI or Anthropic", _SHAPES)
    given = document.get("id") or document.get("call_id") or ""
    return ToolCall(name, arguments, str(given)[:200])
