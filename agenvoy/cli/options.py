"""The global options: taken before the command's name and after it, declared once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Option:
    """One global option.

    Args:
        name: member of `Options`.
        kind: one value, several values, or on/off.
        metavar: what the value is, for help.
        help: one sentence.
    """

    name: str
    kind: Literal["value", "values", "flag"]
    metavar: str
    help: str

    @property
    def flag(self) -> str:
        """How it is written."""
        return "--" + self.name.replace("_", "-")


OPTIONS = (
    Option("root", "value", "DIR", "The workspace folder (else AGENVOY_ROOT, else found from the working directory)."),
    Option("allow", "values", "DIR", "A further folder that may be touched; may be given several times."),
    Option("task", "value", "ID", "The task that changes belong to (else AGENVOY_TASK, else the running one)."),
    Option("actor", "value", "NAME", "Who is calling (else AGENVOY_ACTOR, else cli)."),
    Option("surface", "values", "NAME", "Whose tool names are meant; native where none is given."),
    Option("yes", "flag", "", "Answer confirmations with yes, but for sensitive files."),
    Option("allow_sensitive", "flag", "", "Allow reading sensitive files without asking."),
    Option("subagent", "flag", "", "Work as a sub-agent: nothing is removed or put back."),
    Option("json", "flag", "", "Print one JSON document, as `agenvoy call` does."),
)


@dataclass(frozen=True, slots=True)
class Options:
    """The values of the global options."""

    root: str | None = None
    allow: tuple[str, ...] = ()
    task: str | None = None
    actor: str | None = None
    surface: tuple[str, ...] = field(default=())
    yes: bool = False
    allow_sensitive: bool = False
    subagent: bool = False
    json: bool = False

    def merged(self, given: Mapping[str, Any]) -> Options:
        """These options with those given after the command's name: single values replace, lists and flags add up."""
        new: dict[str, Any] = {}
        for known in fields(self):
            value = given.get(known.name)
            if value:
                former = getattr(self, known.name)
                new[known.name] = (*former, *value) if isinstance(former, tuple) else value
        return replace(self, **new)
