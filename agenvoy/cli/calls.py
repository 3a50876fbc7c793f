"""`agenvoy call TOOL [JSON | -]` or `agenvoy call DOCUMENT | -`: exactly one JSON document on standard output."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from agenvoy.cli.options import OPTIONS, Options
from agenvoy.cli.output import put_json
from agenvoy.cli.run import Run
from agenvoy.errors import AgenvoyError
from agenvoy.surfaces.answers import Answer, refusal

USAGE = "agenvoy [OPTIONS] call TOOL [JSON | -], or call with a tool call of OpenAI or Anthropic as JSON, or -"
_FLAGS = {option.flag: option for option in OPTIONS}


@dataclass(frozen=True, slots=True)
class CallLine:
    """A parsed command line; `problem` says what is wrong with it."""

    options: Options
    words: tuple[str, ...] = ()
    problem: str = ""


def parse_line(argv: Sequence[str]) -> CallLine | None:
    """The command line as a call; None where the command is another one or help is asked for."""
    words: list[str] = []
    given: dict[str, Any] = {}
    problem, left = "", list(argv)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        option = _FLAGS.get(name)
        if word in ("--help", "-h"):
            return None
        if word == "--":
            words += left
            break
        if option is None:
            if not words and word != "call":
                return None
            if word.startswith("-") and word != "-":
                problem = problem or f"there is no option {word}"
            words.append(word)
        elif option.kind == "flag":
            given[option.name] = True
        elif not equals and not left:
            problem = problem or f"{name} needs a value"
        else:
            text = value if equals else left.pop(0)
            given[option.name] = (*given.get(option.name, ()), text) if option.kind == "values" else text
    if not words:
        return None
    rest = tuple(words[1:])
    if not problem and not 1 <= len(rest) <= 2:
        problem = "call takes the name of a tool and its arguments as one JSON object"
    return CallLine(Options().merged(given), rest, problem)


def call(line: CallLine) -> int:
    """Carry out a call, print its document, and give back the exit status."""
    tool = line.words[0] if line.words else ""
    run = Run(line.options)
    try:
        done = _answer(run, line, tool)
    except KeyboardInterrupt:
        done = refusal(tool, None, AgenvoyError("cancelled", f"{tool} was interrupted", "call again"))
    finally:
        run.close()
    put_json(done.document)
    return done.exit_status


def _answer(run: Run, line: CallLine, tool: str) -> Answer:
    try:
        if line.problem:
            raise AgenvoyError("invalid_arguments", line.problem, f"usage: {USAGE}")
        settings = run.settings
    except AgenvoyError as error:
        return refusal(tool, None, error)
    from agenvoy.surfaces.dispatch import decode
    from agenvoy.surfaces.dispatch import run as dispatch

    def text(given: str) -> bytes:
        return sys.stdin.buffer.read() if given == "-" else given.encode("utf-8", "surrogateescape")

    surface = line.options.surface[-1] if line.options.surface else "native"
    if len(line.words) == 1 and (tool == "-" or tool.lstrip().startswith("{")):
        return _document(run, text(tool), surface)
    given = line.words[1] if len(line.words) == 2 else ""
    subagent, home = settings.subagent, settings.home
    return dispatch(run.service, tool, lambda: decode(text(given)), surface, subagent=subagent, home=home)


def _document(run: Run, data: bytes, surface: str) -> Answer:
    """A call given as a model's API gives it; the answer carries the call's id, so that it can be told apart."""
    from agenvoy.surfaces.dispatch import decode
    from agenvoy.surfaces.dispatch import run as dispatch
    from agenvoy.surfaces.toolcalls import tool_call

    try:
        asked = tool_call(decode(data))
    except AgenvoyError as error:
        return refusal("call", None, error)

    def arguments() -> object:
        return decode(asked.arguments) if isinstance(asked.arguments, str) else asked.arguments

    settings = run.settings
    done = dispatch(run.service, asked.name, arguments, surface, subagent=settings.subagent, home=settings.home)
    return replace(done, document={**done.document, "id": asked.id}) if asked.id else done
