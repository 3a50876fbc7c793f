"""The MCP adapter: the surfaces' tools over stdio, on the official SDK.

    server      lists tools, takes calls, gives results and errors back
    connection  what one client's connection works with: service, actor, task, confirmation
"""

from __future__ import annotations

from agenvoy.mcp_server.server import serve

__all__ = ["serve"]
