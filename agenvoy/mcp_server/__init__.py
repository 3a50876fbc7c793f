"""The MCP adapter: the surfaces' tools, and history as resources, on the official SDK.

    server       what is offered, by method; the loop over stdio      http    the same over streamable HTTP
    stdio        the wire, for clients that are not always right
    clients      which connection a request belongs to
    connection   one client: its services, its threads, its task
    calls        one tool call ─ asking (confirmations) ─ results ─ logs
    resources    prompts    roots
"""

from __future__ import annotations

from agenvoy.mcp_server.server import serve

__all__ = ["serve"]
