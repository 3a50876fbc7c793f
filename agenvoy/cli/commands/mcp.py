"""mcp: the tools for MCP clients."""

from __future__ import annotations

from agenvoy.cli.run import Run, usage


def command(run: Run) -> int:
    """Serve the tools over MCP on standard input and output, until the client closes them."""
    try:
        from agenvoy.mcp_server import serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        return run.refuse("mcp", usage("the MCP server is not installed", "pip install 'agenvoy[mcp]'"))
    return serve(run.settings, run.options.surface or ("native",))
