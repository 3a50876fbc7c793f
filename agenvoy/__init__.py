"""agenvoy: a versioned workspace store with undo, for AI agents and the people beside them.

    cli | mcp_server
    surfaces
    render
    workspace
    history | freshness | trash | readers | search | tracking
    catalog | blobs | disk | workers
    contracts
    configfile
    errors | types | config | textual

Each line imports only lines below it (import-linter holds this). `surfaces` stands above `render`, because a surface
decides which text its callers are shown. The names below are loaded on first use, so that the command line does not
pay for pydantic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agenvoy.errors import AgenvoyError
    from agenvoy.surfaces.python_api import Workspace

    __version__: str

__all__ = ["AgenvoyError", "Workspace", "__version__"]


def __getattr__(name: str) -> Any:
    if name == "Workspace":
        from agenvoy.surfaces.python_api import Workspace

        return Workspace
    if name == "AgenvoyError":
        from agenvoy.errors import AgenvoyError

        return AgenvoyError
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("agenvoy")
        except PackageNotFoundError:  # run from a source tree that was never installed
            return "0+source"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
