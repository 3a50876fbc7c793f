"""The same server over streamable HTTP: sessions, requests without one, a bearer token, a check of Host and Origin."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import signal
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcp_types import INVALID_REQUEST, JSONRPCError

from agenvoy.config import Settings
from agenvoy.errors import AgenvoyError
from agenvoy.mcp_server.clients import Clients
from agenvoy.mcp_server.server import Offer
from agenvoy.mcp_server.stdio import parse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATH = "/mcp"
LONGEST = 64 * 1024 * 1024  # bytes of a request: the SDK's own 4 MiB would refuse writing a larger file
_GRACE_S = 5  # seconds that open responses get at the end before they are cut off


@dataclass(frozen=True, slots=True)
class Listen:
    """Where and for whom to listen.

    Args:
        host, port: the address; port 0 takes a free one.
        token: the bearer token that every request must carry; empty: none.
        remote: an address beyond this machine is meant.
        stateless: never keep sessions: each request stands alone.
        origins: web origins (`https://app.example`) that may call besides pages of this machine.
    """

    host: str
    port: int
    token: str = ""
    remote: bool = False
    stateless: bool = False
    origins: tuple[str, ...] = ()


def parse_address(text: str) -> tuple[str, int]:
    """`HOST:PORT`, `[V6]:PORT`, `:PORT` or `PORT`; no host means this machine; raises invalid_arguments."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdecimal() or int(port) > 65535:
        raise AgenvoyError(
            "invalid_arguments", f"{text!r} is no HOST:PORT", "give an address such as 127.0.0.1:8808, or port 0"
        )
    return host, int(port)


def check(listen: Listen) -> None:
    """Refuse what would open the workspace to others unasked; raises invalid_arguments."""
    if _is_loopback(listen.host):
        return
    if not listen.remote:
        raise AgenvoyError(
            "invalid_arguments",
            f"{listen.host} can be reached from other machines",
            "listen on 127.0.0.1, or give --allow-remote and a token",
        )
    if not listen.token:
        raise AgenvoyError(
            "invalid_arguments",
            f"{listen.host} can be reached from other machines, and no token is set",
            "set AGENVOY_HTTP_TOKEN or give --token-file",
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False  # a name, which may lead anywhere


class _Guarded:
    """Lets through what comes from no foreign web page and has the right token.

    A browser tells the page that a request comes from (Origin); a page of some other site must not use the workspace
    of whoever looks at it, token or not.
    """

    def __init__(self, app: ASGIApp, listen: Listen) -> None:
        self._app = app
        self._token = b"Bearer " + listen.token.encode("utf-8") if listen.token else b""
        self._origins = listen.origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = dict(scope["headers"])
            origin = headers.get(b"origin", b"").decode("latin-1")
            if origin and not self._is_known(origin):
                return await _refuse(send, 403, b"this origin may not call\n")
            if not hmac.compare_digest(headers.get(b"authorization", b""), self._token) and self._token:
                return await _refuse(send, 401, b"a bearer token is needed\n", [(b"www-authenticate", b"Bearer")])
            if scope["method"] == "POST":
                receive, wrong = await _looked_at(receive)
                if wrong:
                    return await _refuse(send, 400, wrong, kind=b"application/json")
        await self._app(scope, receive, send)
        return None

    def _is_known(self, origin: str) -> bool:
        parts = urlsplit(origin)
        return origin in self._origins or (parts.scheme in ("http", "https") and _is_loopback(parts.hostname or ""))


async def _looked_at(receive: Receive) -> tuple[Receive, bytes]:
    """A request's body, to be received again, and the answer to what the SDK would take for a notification: a request
    whose id is neither a text nor a whole number, whose sender would wait for ever; empty for every other body."""
    parts: list[Message] = []
    size, more = 0, True
    while more and size <= LONGEST:  # beyond that the SDK refuses it
        parts.append(await receive())
        size += len(parts[-1].get("body", b""))
        more = parts[-1].get("more_body", False)
    waiting = iter(parts)

    async def again() -> Message:
        return next(waiting, None) or await receive()

    found = parse(b"".join(part.get("body", b"") for part in parts)) if not more else None
    if isinstance(found, JSONRPCError) and found.error.code == INVALID_REQUEST:
        return again, found.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8")
    return again, b""


async def _refuse(
    send: Send,
    status: int,
    body: bytes,
    headers: list[tuple[bytes, bytes]] | None = None,
    *,
    kind: bytes = b"text/plain",
) -> None:
    every = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), *(headers or [])]
    await send({"type": "http.response.start", "status": status, "headers": every})
    await send({"type": "http.response.body", "body": body})


def build(settings: Settings, surfaces: Sequence[str], listen: Listen, clients: Clients) -> ASGIApp:
    """The server as an ASGI application.

    Args:
        settings, surfaces: as for `serve`.
        listen: see `Listen`.
        clients: finds a request's connection.

    Raises:
        AgenvoyError: invalid_arguments for surfaces, as for `serve`.
    """
    from mcp.server.transport_security import TransportSecuritySettings

    # A name that was made to lead to this machine gives itself away by its Host (DNS rebinding). Beyond this machine
    # the names are not known, and a token is needed anyway.
    names = [listen.host, "127.0.0.1", "localhost", "[::1]"]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=_is_loopback(listen.host),
        allowed_hosts=[*names, *(f"{name}:*" for name in names)],
        allowed_origins=[*_local_origins(names), *listen.origins],
    )
    app = Offer(settings, surfaces, clients).server().streamable_http_app(
        streamable_http_path=PATH, stateless_http=listen.stateless, max_request_body_size=LONGEST,
        transport_security=security, host=listen.host,
    )  # fmt: skip
    return _Guarded(app, listen)


def _local_origins(names: Sequence[str]) -> list[str]:
    kinds, ports = ("http", "https"), ("", ":*")
    return [f"{kind}://{name}{port}" for kind in kinds for name in names for port in ports]


def serve_http(settings: Settings, surfaces: Sequence[str], listen: Listen) -> int:
    """Serve any number of clients until a signal asks to stop; gives back the exit status.

    The address is told on standard error once connections are taken.

    Raises:
        AgenvoyError: invalid_arguments for an address beyond this machine without leave or token, or one in use.
    """
    check(listen)
    clients = Clients(settings, single=False)
    app = build(settings, surfaces, listen, clients)
    return asyncio.run(_serve(app, clients, _bind(listen), listen))


def _bind(listen: Listen) -> socket.socket:
    family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((listen.host, listen.port))
        sock.listen(128)  # before the address is told: whoever reads it may connect at once
    except OSError as error:
        sock.close()
        raise AgenvoyError(
            "invalid_arguments", f"{listen.host}:{listen.port} cannot be listened on: {error.strerror}",
            "choose another address, or port 0 for a free port",
        ) from error  # fmt: skip
    return sock


async def _serve(app: ASGIApp, clients: Clients, sock: socket.socket, listen: Listen) -> int:
    import uvicorn

    class Server(uvicorn.Server):
        """uvicorn's, but for its signals: it would kill the process before changes at work have come to their end."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    server = Server(uvicorn.Config(app, log_level="warning", lifespan="on", timeout_graceful_shutdown=_GRACE_S))
    loop, status = asyncio.get_running_loop(), 0

    def stop(code: int) -> None:
        nonlocal status
        status, server.should_exit = code, True

    loop.add_signal_handler(signal.SIGTERM, stop, 0)
    loop.add_signal_handler(signal.SIGINT, stop, 130)
    host = f"[{listen.host}]" if ":" in listen.host else listen.host
    print(f"agenvoy: serving MCP at http://{host}:{sock.getsockname()[1]}{PATH}", file=sys.stderr, flush=True)
    try:
        await server.serve(sockets=[sock])
    finally:
        await clients.close()
    return status
