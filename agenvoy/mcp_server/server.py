"""The server: what it offers, and one transport's loop. Handlers hand on to the module that does the work."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server

from agenvoy import __version__
from agenvoy.config import Settings
from agenvoy.errors import AgenvoyError
from agenvoy.mcp_server import prompts, resources
from agenvoy.mcp_server.asking import Context
from agenvoy.mcp_server.calls import call_tool
from agenvoy.mcp_server.clients import Clients
from agenvoy.mcp_server.roots import ask_roots
from agenvoy.surfaces import SURFACES
from agenvoy.surfaces.schemas import tools_document
from agenvoy.surfaces.spec import surface

INSTRUCTIONS = (
    "Read and change the user's files through these tools: every change is recorded and can be taken back. Begin a "
    "task with begin_task before a new piece of work; restore_file task_id=current takes all of it back."
)
Page = types.PaginatedRequestParams | None


def tool_owners(surfaces: Sequence[str]) -> dict[str, str]:
    """Which surface each tool belongs to.

    Raises:
        AgenvoyError: invalid_arguments for an unknown surface, or where two surfaces offer a tool of one name.
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


class Offer:
    """The handlers of one server.

    Args:
        settings: where and for whom to work.
        surfaces: names of the surfaces whose tools are offered.
        clients: finds a request's connection.

    Raises:
        AgenvoyError: as `tool_owners`.
    """

    def __init__(self, settings: Settings, surfaces: Sequence[str], clients: Clients) -> None:
        self._settings = settings
        self._surfaces = tuple(dict.fromkeys(surfaces))
        self._clients = clients
        if len(self._surfaces) > 1 or self._surfaces[0] not in SURFACES:
            _ = self._owners

    def server(self) -> Server[Any]:
        """A server of the SDK with everything that is offered."""
        server = Server[Any](
            "agenvoy", version=__version__, title="agenvoy", instructions=INSTRUCTIONS,
            on_list_tools=self.list_tools, on_call_tool=self.call_tool,
            on_list_resources=self.list_resources, on_list_resource_templates=self.list_resource_templates,
            on_read_resource=self.read_resource, on_list_prompts=self.list_prompts, on_get_prompt=self.get_prompt,
            on_completion=self.complete,
        )  # fmt: skip
        # Both are deprecated from 2026-07-28 on, and warn as constructor arguments; today's clients use them.
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self.set_level)
        changed = "notifications/roots/list_changed"
        server.add_notification_handler(changed, types.NotificationParams, self.roots_changed)
        return server

    @cached_property
    def _owners(self) -> dict[str, str]:
        """Found at the first call: loading the tools takes longer than the rest of our start."""
        return tool_owners(self._surfaces)

    @cached_property
    def _tools(self) -> list[types.Tool]:
        """Made at the first listing: the schemas take longer than the rest of the start."""
        settings = self._settings
        documents = tools_document(self._surfaces, "mcp", subagent=settings.subagent, output_dir=settings.output_dir)
        return [types.Tool.model_validate(document) for document in documents]

    async def list_tools(self, ctx: Context, params: Page) -> types.ListToolsResult:
        """tools/list."""
        return types.ListToolsResult(tools=self._tools)

    async def call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """tools/call."""
        connection = self._clients.of(ctx)
        await ask_roots(ctx, connection)
        return await call_tool(ctx, params, connection, self._owners.get(params.name, self._surfaces[0]))

    async def list_resources(self, ctx: Context, params: Page) -> types.ListResourcesResult:
        """resources/list."""
        connection = self._clients.of(ctx)
        await ask_roots(ctx, connection)
        return await resources.listed(connection)

    async def list_resource_templates(self, ctx: Context, params: Page) -> types.ListResourceTemplatesResult:
        """resources/templates/list."""
        return resources.templates()

    async def read_resource(self, ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """resources/read."""
        connection = self._clients.of(ctx)
        await ask_roots(ctx, connection)
        return await resources.read(connection, params.uri)

    async def complete(self, ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
        """completion/complete."""
        return await resources.complete(self._clients.of(ctx), params)

    async def list_prompts(self, ctx: Context, params: Page) -> types.ListPromptsResult:
        """prompts/list."""
        return prompts.listed()

    async def get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """prompts/get."""
        return prompts.prompt(params)

    async def set_level(self, ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
        """logging/setLevel."""
        self._clients.of(ctx).log_level = params.level
        return types.EmptyResult()

    async def roots_changed(self, ctx: Context, params: types.NotificationParams) -> None:
        """notifications/roots/list_changed: the next call asks again."""
        self._clients.of(ctx).roots_asked = False


def serve(settings: Settings, surfaces: Sequence[str]) -> int:
    """Serve one client on standard input and output until it closes them; gives back the exit status.

    Args:
        settings: where and for whom to work.
        surfaces: names of the surfaces whose tools are offered.

    Raises:
        AgenvoyError: invalid_arguments for an unknown surface, or for two surfaces with a tool of one name.
    """
    clients = Clients(settings, single=True)
    server = Offer(settings, surfaces, clients).server()
    return asyncio.run(_serve(server, clients))


async def _serve(server: Server[Any], clients: Clients) -> int:
    """Until the client closes its end, or a signal asks to stop; changes at work are brought to their end."""
    from agenvoy.mcp_server.stdio import stdio

    status = 0
    with anyio.CancelScope() as scope:

        def stop(code: int) -> None:
            nonlocal status
            status = code
            scope.cancel()

        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, stop, 0)
        loop.add_signal_handler(signal.SIGINT, stop, 130)
        try:
            async with stdio() as (reader, writer):
                await server.run(reader, writer, server.create_initialization_options())
        finally:
            with anyio.CancelScope(shield=True):
                await clients.close()
    return status
