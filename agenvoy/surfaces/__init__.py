"""How the outside world spells the tools.

    spec ─ native ─┐
    labels         ├─ dispatch (arguments -> answer) ─ cli call, mcp_server
    schemas        └─ python_api (Workspace)
    answers        a verb's outcome or error -> the contract's document, without pydantic

A surface is one module with a `SURFACE`; it is imported on first use, because request models are.
"""

from __future__ import annotations

SURFACES: dict[str, str] = {
    "native": "agenvoy.surfaces.native",
}
"""Name -> module of every surface."""
