"""The server: tools in, results out, over standard input and output."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import NoBackChannelError

from agenvoy import __version__
from agenvoy.config import Settings
from agenvoy.errors import AgenvoyError
from agenvoy.mcp_server.connection import Connection, Elicit
from agenvoy.surfaces.answers import Answer
from agenvoy.surfaces.schemas import tools_document
from agenvoy.surfaces.spec import surface
from agenvoy.types import Answer as Reply
from agenvoy.types import ConfirmRequest

INSTRUCTIONS = (
    "Read and change the user's files through these tools: every change is recorded and can be taken back. Begin a "
    "task with begin_task before a new piece of work; restore_file task_id=current takes all of it back."
)
Context = ServerRequestContext[Any, Any]


def serve(settings: Settings, surfaces: Sequence[str]) -> int:
    """Serve one client on standard input and output until it closes them; gives back the exit status.

    Args:
        settings: where and for whom to work.
        surfaces: names of the surfaces whose tools are offered.

    Raises:
        AgenvoyError: invalid_arguments for an unknown surface, or for two surfaces with a tool of one name.
    """
    owners = tool_owners(surfaces)
    asyncio.run(_serve(settings, surfaces, owners))
    return 0


def tool_owners(surfaces: Sequence[str]) -> dict[str, str]:
    """Which surface each tool belongs to.

    Raises:
        AgenvoyError: invalid_arguments where two surfaces offer a tool of one name.
    """
    owners: dict[str, str] = {}
    for name in dict.fromkeys(surfaces):
        for tool in surface(name).tools:
            if tool.name in owners:
                raise AgenvoyError(
                    "invalid_arguments",
                    f"the surfaces {owners[tool.name]} and {name} both have a tool {tool.name}",
                    "offer only one of them",
                )
            owners[tool.name] = name
    return owners


async def _serve(settings: Settings, surfaces: Sequence[str], owners: dict[str, str]) -> None:
    connection = Connection(settings)
    documents = tools_document(surfaces, "mcp", subagent=settings.subagent, output_dir=settings.output_dir)
    tools = [types.Tool.model_validate(document) for document in documents]

    async def list_tools(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        client = ctx.session.client_params
        connection.named(client.client_info.name if client else None)
        where = owners.get(params.name, surfaces[0])
        done = await connection.call(params.name, params.arguments or {}, where, _task(params), _elicit(ctx))
        return tool_result(done)

    server = Server[Any](
        "agenvoy", version=__version__, title="agenvoy", instructions=INSTRUCTIONS, on_list_tools=list_tools,
        on_call_tool=call_tool,
    )  # fmt: skip
    async with stdio_server() as (reader, writer):
        try:
            await server.run(reader, writer, server.create_initialization_options())
        finally:
            await connection.close()


def _task(params: types.CallToolRequestParams) -> str | None:
    """The task that a client names for this call in `_meta["agenvoy/task"]`."""
    named: Any = dict(params.meta or {}).get("agenvoy/task")
    return named if isinstance(named, str) and named else None


def tool_result(done: Answer) -> types.CallToolResult:
    """An answer as MCP spells it: text and structured content; an error is a result that says so."""
    document = done.document
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=document["text"])]
    for image in done.images:
        data = base64.b64encode(image.data).decode("ascii")
        content.append(types.ImageContent(type="image", data=data, mime_type=image.mime))
    if done.ok:
        return types.CallToolResult(content=content, structured_content=document["result"])
    error = {name: document[name] for name in ("ok", "tool", "label", "error")}
    return types.CallToolResult(content=content, structured_content=error, is_error=True)


def _elicit(ctx: Context) -> Elicit:
    """A function that asks the user through the client; it answers None where the client cannot ask."""

    async def ask(request: ConfirmRequest) -> Reply | None:
        capabilities = ctx.session.client_capabilities
        if capabilities is None or capabilities.elicitation is None:
            return None
        choices = ["yes", "no"] if request.sensitive else ["yes", "all in this task", "no"]
        answer = {"type": "string", "title": "Answer", "enum": choices}
        schema = {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
        try:
            reply = await ctx.session.elicit_form(request.question, schema, ctx.request_id)
        except NoBackChannelError:
            return None
        chosen = (reply.content or {}).get("answer") if reply.action == "accept" else "no"
        if chosen == "all in this task" and not request.sensitive:
            return "task"
        return "yes" if chosen == "yes" else "no"

    return ask
