"""tools: which tools there are, and their schemas."""

from __future__ import annotations

from typing import Annotated, Any

from agenvoy.cli.output import put, put_json
from agenvoy.cli.params import Opt
from agenvoy.cli.run import Run, usage


def command(
    run: Run,
    form: Annotated[str | None, Opt("--format", help="Print schemas: mcp, openai or anthropic.")] = None,
) -> int:
    """List the tools; with --format, print their schemas as JSON."""
    from agenvoy.surfaces.schemas import FORMATS, tools_document

    chosen = next((known for known in FORMATS if known == (form or "mcp")), None)
    if chosen is None:
        return run.refuse("tools", usage(f"there is no format {form!r}", "use mcp, openai or anthropic"))
    settings = run.settings
    names = run.options.surface or ("native",)
    tools = tools_document(names, chosen, subagent=settings.subagent, output_dir=settings.output_dir)
    if run.options.json:
        put_json({"ok": True, "tool": "tools", "label": "Tools", "task": None, "result": {"tools": tools}, "text": ""})
    elif form is not None:
        put_json({"tools": tools} if chosen == "mcp" else tools)
    else:
        put(_table(tools))
    return 0


def _table(tools: list[dict[str, Any]]) -> str:
    from agenvoy.render.plain import aligned

    rows = [[tool["name"], tool["description"].partition(". ")[0].rstrip(".") + "."] for tool in tools]
    return "\n".join(aligned(rows))
