"""mcp: the tools for MCP clients."""

from __future__ import annotations

import os
from typing import Annotated

from agenvoy.cli.params import Opt
from agenvoy.cli.run import Run, usage


def command(
    run: Run,
    http: Annotated[str | None, Opt("--http", help="Serve over HTTP at HOST:PORT.", metavar="HOST:PORT")] = None,
    stateless: Annotated[bool, Opt("--stateless", help="With --http: keep no sessions.")] = False,
    token_file: Annotated[
        str | None, Opt("--token-file", help="With --http: a file that holds the bearer token.", metavar="FILE")
    ] = None,
    allow_remote: Annotated[bool, Opt("--allow-remote", help="With --http: other machines may connect.")] = False,
    origin: Annotated[
        list[str] | None, Opt("--origin", help="With --http: a web origin that may call.", metavar="URL")
    ] = None,
) -> int:
    """Serve the tools over MCP, on standard input and output until the client closes them, or over HTTP.

    With --http every request must carry the token of AGENVOY_HTTP_TOKEN or --token-file as a bearer token, where one
    is set; beyond this machine (--allow-remote) one must be set.
    """
    surfaces = run.options.surface or ("native",)
    try:
        if http is None:
            if stateless or token_file or allow_remote or origin:
                return run.refuse("mcp", usage("these options belong to --http", "give --http HOST:PORT"))
            from agenvoy.mcp_server import serve

            return serve(run.settings, surfaces)
        from agenvoy.mcp_server.http import Listen, parse_address, serve_http

        host, port = parse_address(http)
        listen = Listen(host, port, _token(token_file), allow_remote, stateless, tuple(origin or ()))
        return serve_http(run.settings, surfaces, listen)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "mcp_types", "anyio", "uvicorn"):
            raise
        return run.refuse("mcp", usage("the MCP server is not installed", "pip install 'agenvoy[mcp]'"))


def _token(file: str | None) -> str:
    if file is None:
        return os.environ.get("AGENVOY_HTTP_TOKEN", "").strip()
    try:
        with open(file, encoding="utf-8") as lines:
            token = lines.read().strip()
    except (OSError, ValueError) as error:
        raise usage(f"the token cannot be read from {file}: {error}", "name a file that holds one line") from error
    if not token:
        raise usage(f"{file} is empty", "write the token into it")
    return token
