"""A verb's outcome or error -> the contract's document. Needs no pydantic: `agenvoy history` starts through here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agenvoy.errors import AgenvoyError, from_os_error
from agenvoy.render.model import error_text, text_for_model
from agenvoy.surfaces.errorlog import record
from agenvoy.surfaces.labels import label
from agenvoy.types import Image, Outcome


@dataclass(frozen=True, slots=True)
class Answer:
    """What a caller gets.

    Args:
        document: the contract's document, JSON-ready.
        exit_status: the command line's.
        images: for callers that can show them.
    """

    document: dict[str, Any]
    exit_status: int = 0
    images: list[Image] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the call was done."""
        return bool(self.document["ok"])


def answer(tool: str, arguments: object, verb: Callable[[], Outcome], *, home: str = "") -> Answer:
    """Run a verb and say what came of it; never raises but for an interruption.

    Args:
        tool: the tool's name for the document.
        arguments: what was asked, for the label and the text.
        verb: does it.
        home: agenvoy's home, where the details of an internal error are logged.
    """
    try:
        outcome = verb()
        return _done(tool, arguments, outcome)
    except AgenvoyError as error:
        return refusal(tool, arguments, error)
    except OSError as error:
        return refusal(tool, arguments, from_os_error(error, _os_path(error)))
    except Exception as error:  # noqa: BLE001 - the border: whatever it is becomes a document
        return refusal(tool, arguments, _internal(error, home))


def refusal(tool: str, arguments: object, error: AgenvoyError) -> Answer:
    """The answer of a call that was refused or failed."""
    body = error.document()
    told = {"tool": tool[:64], "label": label(tool, arguments), "error": body, "text": error_text(body)}
    document = {"ok": False, **told}
    return Answer(document, error.exit_status)


def _done(tool: str, arguments: object, outcome: Outcome) -> Answer:
    given = arguments if isinstance(arguments, Mapping) else {}
    text = outcome.text or text_for_model(tool, outcome.result, given, outcome.notices)
    task = {"id": outcome.task.id, "objective": outcome.task.objective} if outcome.task else None
    document: dict[str, Any] = {
        "ok": True,
        "tool": tool,
        "label": outcome.label or label(tool, arguments),
        "task": task,
        "result": outcome.result,
        "text": text,
    }
    if outcome.notices:
        document["notices"] = list(outcome.notices)
    return Answer(document, 0, list(outcome.images))


def _os_path(error: OSError) -> str:
    name = error.filename
    if isinstance(name, bytes):
        return name.decode("utf-8", "backslashreplace")
    return str(name) if name else "a file"


def _internal(error: Exception, home: str) -> AgenvoyError:
    log = record(home, error) if home else ""
    where = f"the details are in {log}; " if log else ""
    return AgenvoyError(
        "internal",
        f"agenvoy failed inside ({type(error).__name__}); nothing half done is left behind",
        f"{where}call again, run `agenvoy doctor`, and report it if it stays",
    )
