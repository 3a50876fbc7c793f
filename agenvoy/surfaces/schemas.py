"""JSON schemas of the tools, in the three formats that callers know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from agenvoy.contracts.base import Request, Result
from agenvoy.contracts.error import ErrorDocument
from agenvoy.surfaces.spec import ToolSpec, surface

Format = Literal["mcp", "openai", "anthropic"]
FORMATS: tuple[Format, ...] = ("mcp", "openai", "anthropic")


def input_schema(model: type[Request]) -> dict[str, Any]:
    """The schema of a request: references inlined, no titles, optional arguments without `null`."""
    schema = _tidy(model.model_json_schema(by_alias=True, mode="validation"), {})
    schema.pop("description", None)
    return {"type": "object", "properties": {}, **schema}


def output_schema(model: type[Result]) -> dict[str, Any]:
    """The schema of what comes back: an object that is a result or an error document (strict clients check both)."""
    result = _tidy(model.model_json_schema(by_alias=True, mode="serialization"), {}, nulls=True)
    error = _tidy(ErrorDocument.model_json_schema(by_alias=True, mode="serialization"), {}, nulls=True)
    error["required"] = ["error"]
    return {"type": "object", "anyOf": [result, error]}


def _tidy(node: Any, defs: dict[str, Any], *, nulls: bool = False) -> Any:
    if isinstance(node, list):
        return [_tidy(item, defs, nulls=nulls) for item in node]
    if not isinstance(node, dict):
        return node
    defs = {**defs, **node.get("$defs", {})}
    if "$ref" in node:
        return _tidy({**defs[node["$ref"].rpartition("/")[2]], **_rest(node, "$ref")}, defs, nulls=nulls)
    if "anyOf" in node and nulls and all(set(member) == {"type"} for member in node["anyOf"]):
        # `type: [string, null]` says the same, and clients that check results do so in half the time
        node = {**_rest(node, "anyOf", "default"), "type": [member["type"] for member in node["anyOf"]]}
    elif "anyOf" in node and not nulls:
        members = [m for m in node["anyOf"] if m != {"type": "null"}]
        if len(members) == 1:
            return _tidy({**members[0], **_rest(node, "anyOf", "default")}, defs, nulls=nulls)
        node = {**_rest(node, "default"), "anyOf": members}
    found = {}
    for key, value in node.items():
        if key == "properties":  # its keys are names of arguments, `title` among them
            found[key] = {name: _tidy(child, defs, nulls=nulls) for name, child in value.items()}
        elif key not in ("title", "$defs"):
            found[key] = _tidy(value, defs, nulls=nulls)
    return found


def _rest(node: dict[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key not in names}


def describe(tool: ToolSpec, output_dir: str = "") -> str:
    """A tool's description, with the folder for files that have no place yet where one is configured."""
    if tool.name == "edit_file" and output_dir:
        place = f"Files made for the user without a named place go to {output_dir}; give full paths there."
        return f"{tool.description} {place}"
    return tool.description


def tool_document(tool: ToolSpec, form: Format, output_dir: str = "") -> dict[str, Any]:
    """One tool in one format."""
    says, schema = describe(tool, output_dir), input_schema(tool.request)
    if form == "openai":
        return {"type": "function", "function": {"name": tool.name, "description": says, "parameters": schema}}
    if form == "anthropic":
        return {"name": tool.name, "description": says, "input_schema": schema}
    return {
        "name": tool.name,
        "title": tool.title,
        "description": says,
        "inputSchema": schema,
        "outputSchema": output_schema(tool.result),
        "annotations": {"title": tool.title, **tool.annotations()},
    }


def tools_document(
    surfaces: str | Iterable[str] = "native", form: Format = "mcp", *, subagent: bool = False, output_dir: str = ""
) -> list[dict[str, Any]]:
    """The tools of one or more surfaces.

    Args:
        surfaces: names of surfaces.
        form: whose spelling of a tool is wanted.
        subagent: leave out what a sub-agent is not offered.
        output_dir: the configured folder for files made for the user; may be empty.

    Raises:
        AgenvoyError: invalid_arguments for an unknown surface.
    """
    names = [surfaces] if isinstance(surfaces, str) else list(surfaces)
    tools = [tool for name in names for tool in surface(name).offered(subagent=subagent)]
    return [tool_document(tool, form, output_dir) for tool in tools]
