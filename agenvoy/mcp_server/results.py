"""A call's answer as MCP spells it."""

from __future__ import annotations

import base64

import mcp_types as types

from agenvoy.surfaces.answers import Answer


def tool_result(done: Answer) -> types.CallToolResult:
    """Text and structured content, images as image content; an error is a result that says so."""
    document = done.document
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=document["text"])]
    for image in done.images:
        data = base64.b64encode(image.data).decode("ascii")
        content.append(types.ImageContent(type="image", data=data, mime_type=image.mime))
    meta = {"agenvoy/label": document["label"], "agenvoy/task": (document.get("task") or {}).get("id")}
    if done.ok:
        return types.CallToolResult(content=content, structured_content=document["result"], _meta=meta)
    error = {name: document[name] for name in ("ok", "tool", "label", "error")}
    return types.CallToolResult(content=content, structured_content=error, is_error=True, _meta=meta)
