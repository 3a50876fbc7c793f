"""One call: a tool's name and its arguments as JSON -> the contract's document."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from agenvoy.errors import AgenvoyError
from agenvoy.surfaces.answers import Answer, answer, refusal
from agenvoy.surfaces.spec import surface as surface_of
from agenvoy.types import Outcome

if TYPE_CHECKING:
    from agenvoy.workspace.service import Service


def call(service: Service, name: str, arguments: object, surface: str = "native") -> dict[str, Any]:
    """Run one tool and give back its document; never raises but for an interruption.

    Args:
        service: the workspace.
        name: the tool, as the surface spells it.
        arguments: decoded JSON; anything but an object is refused.
        surface: whose tool names are meant.
    """
    settings = service.settings
    return run(lambda: service, name, arguments, surface, subagent=settings.subagent, home=settings.home).document


def run(
    opened: Callable[[], Service],
    name: str,
    arguments: object | Callable[[], object],
    surface: str = "native",
    *,
    subagent: bool = False,
    home: str = "",
) -> Answer:
    """As `call`, for callers that also want images and the exit status.

    Args:
        opened: gives the service; called only once the request is known to be right.
        name, surface: as for `call`.
        arguments: decoded JSON, or a function that decodes it and may refuse.
        subagent: the caller is a sub-agent.
        home: where details of internal errors are logged.
    """
    try:
        given = arguments() if callable(arguments) else arguments
    except AgenvoyError as error:
        return refusal(name, None, error)

    def verb() -> Outcome:
        tool = surface_of(surface).get(name, subagent=subagent)
        from agenvoy.contracts.parsing import parse  # late, like the tools themselves

        request = parse(tool.request, given, name)
        keywords = {key: value for key, value in request.model_dump().items() if value is not None}
        outcome: Outcome = getattr(opened(), tool.name)(**keywords)
        return outcome

    return answer(name, given, verb, home=home)


def decode(text: str | bytes) -> object:
    """JSON text as `agenvoy call` takes it; nothing at all means no arguments.

    Raises:
        AgenvoyError: invalid_arguments, saying where the text stops being JSON.
    """
    try:
        plain = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        if not plain.strip():
            return {}
        return json.loads(plain, parse_constant=_no_constant)
    except UnicodeDecodeError as error:
        raise _bad(f"the arguments are not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise _bad(f"the arguments are not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise _bad("the arguments are nested too deeply") from None
    except ValueError as error:
        raise _bad(f"the arguments hold a number that cannot be taken: {str(error)[:80]}") from None


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


def _bad(message: str) -> AgenvoyError:
    return AgenvoyError("invalid_arguments", message, 'give one JSON object, such as {"path": "notes.txt"}')
