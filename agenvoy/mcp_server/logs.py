"""Log messages to the client: what was changed and what was refused, at the level that it asked for."""

from __future__ import annotations

from typing import Any, get_args

import mcp_types as types
from mcp.server.connection import allowed_log_levels

from agenvoy.mcp_server.asking import Context, is_modern
from agenvoy.mcp_server.connection import Connection
from agenvoy.surfaces.answers import Answer

_LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)  # in rising severity (RFC 5424)


async def told(ctx: Context, connection: Connection, done: Answer) -> None:
    """Log one call: notices as warnings, internal errors as errors, refusals as notices, what was done as info."""
    document = done.document
    for notice in document.get("notices", ()):
        await _log(ctx, connection, "warning", {"notice": notice})
    entry: dict[str, Any] = {"tool": document["tool"], "label": document["label"]}
    if done.ok:
        await _log(ctx, connection, "info", {**entry, "task": document["task"]})
    else:
        code = document["error"]["code"]
        await _log(ctx, connection, "error" if code == "internal" else "notice", {**entry, "code": code})


async def _log(ctx: Context, connection: Connection, level: types.LoggingLevel, data: dict[str, Any]) -> None:
    """Send it where the client wants that level: by `logging/setLevel`, or by its request's `_meta` (2026-07-28)."""
    if not is_modern(ctx) and _LEVELS.index(level) < _LEVELS.index(connection.log_level):
        return
    params = types.LoggingMessageNotificationParams(level=level, data=data, logger="agenvoy")
    if is_modern(ctx) and level not in allowed_log_levels(ctx.protocol_version, ctx.meta):
        return
    await ctx.session.send_notification(types.LoggingMessageNotification(params=params), ctx.request_id)
