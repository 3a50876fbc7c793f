"""Which connection a request belongs to: the one of stdio, its HTTP session's, or without a session its actor's."""

from __future__ import annotations

from mcp.server.connection import Connection as Peer

from agenvoy.config import Settings
from agenvoy.mcp_server.asking import Context
from agenvoy.mcp_server.connection import Connection

_STATE = "agenvoy"


class Clients:
    """The connections of one server.

    Args:
        settings: where to work, and for whom where a client does not say its name.
        single: one client for the server's life (stdio), however many requests it opens a "connection" for.
    """

    def __init__(self, settings: Settings, *, single: bool) -> None:
        self._settings = settings
        self._single = Connection(settings) if single else None
        self._sessionless: dict[str, Connection] = {}

    def of(self, ctx: Context) -> Connection:
        """The connection of a request, named after the client."""
        connection = self._single or self._of_session(ctx)
        connection.named(_name(ctx))
        return connection

    def _of_session(self, ctx: Context) -> Connection:
        # The SDK keeps state and clean-up for each connection, but shows the object itself to no public name yet.
        peer: Peer = ctx.session._connection
        if peer.session_id is None:
            name = _name(ctx) or ""
            if name not in self._sessionless:
                self._sessionless[name] = Connection(self._settings, lasting=False)
            return self._sessionless[name]
        if _STATE not in peer.state:
            connection = peer.state[_STATE] = Connection(self._settings)
            peer.exit_stack.push_async_callback(connection.close)
        found: Connection = peer.state[_STATE]
        return found

    async def close(self) -> None:
        """Close what no session closes by itself."""
        for connection in (self._single, *self._sessionless.values()):
            if connection is not None:
                await connection.close()


def _name(ctx: Context) -> str | None:
    client = ctx.session.client_params
    return client.client_info.name if client else None
