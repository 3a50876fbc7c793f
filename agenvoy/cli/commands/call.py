"""call: one tool, one JSON document."""

from __future__ import annotations

from typing import Annotated

from agenvoy.cli.calls import CallLine, call
from agenvoy.cli.params import Arg
from agenvoy.cli.run import Run


def command(
    run: Run,
    tool: Annotated[str, Arg("Name of a tool, or a whole tool call of OpenAI or Anthropic as JSON, or -.")],
    arguments: Annotated[str, Arg("A JSON object, or - for standard input.", metavar="[JSON | -]")] = "",
) -> int:
    """Call a tool and print exactly one JSON document."""
    return call(CallLine(run.options, (tool, arguments) if arguments else (tool,)))
