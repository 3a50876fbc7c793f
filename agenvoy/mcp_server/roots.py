"""Client roots: folders that a client names; they only ever narrow what agenvoy may touch."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes, urlsplit

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import ListRootsRequest, Result

from agenvoy.disk.jail import inside
from agenvoy.mcp_server.asking import Context, is_modern
from agenvoy.mcp_server.connection import Connection


class _Told(Result):
    """The answer to `roots/list`; each root is judged by itself, so that an odd one does not hide the others."""

    roots: list[Any]


WAIT_S = 5  # seconds for a client's answer; one that declares roots and never answers must not stop every call


def narrow(allowed: Sequence[str], uris: Sequence[str]) -> tuple[str, ...] | None:
    """The folders that both sides allow, as real paths.

    Args:
        allowed: real paths of the workspace root and the allowed folders.
        uris: the client's roots; what is no `file:` URI names no folder.

    Returns:
        None where the client has no roots at all (no narrowing); empty where the two have nothing in common, so also
        where it has roots of which none is a folder here.
    """
    if not uris:
        return None
    named = [path for path in map(_path, uris) if path is not None]
    both = [(a, b) for a in allowed for b in named]
    return tuple(dict.fromkeys([b for a, b in both if inside(b, a)] + [a for a, b in both if inside(a, b)]))


def _path(uri: str) -> str | None:
    try:
        parts = urlsplit(uri)
    except ValueError:  # such as a half IPv6 address
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        return None
    path = os.fsdecode(unquote_to_bytes(parts.path))
    return None if "\0" in path else os.path.realpath(path)


async def ask_roots(ctx: Context, connection: Connection) -> None:
    """Ask for the client's roots, once, and again after it said that they changed.

    Versions from 2026-07-28 on have deprecated roots and let no server ask on its own: there they are not asked for.
    """
    capabilities = ctx.session.client_capabilities
    if connection.roots_asked or is_modern(ctx) or capabilities is None or capabilities.roots is None:
        return
    connection.roots_asked = True
    settings = connection.settings
    try:
        with anyio.fail_after(WAIT_S):
            found = await ctx.session.send_request(ListRootsRequest(), _Told)
    except (MCPError, TimeoutError):
        return  # it has no roots to tell: what agenvoy itself was given holds
    except ValueError:
        uris = [""]  # an answer that cannot be read allows nothing: it may have meant to narrow
    else:
        uris = [str(root.get("uri", "")) if isinstance(root, Mapping) else "" for root in found.roots]
    connection.narrowed(narrow((settings.root, *settings.allow), uris))
