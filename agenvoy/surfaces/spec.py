"""A tool is data: one declaration feeds its schema, `call`, `tools`, help and the README's table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from agenvoy.contracts.base import Request, Result
from agenvoy.errors import AgenvoyError
from agenvoy.surfaces import SURFACES
from agenvoy.surfaces.labels import label


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool of a surface.

    Args:
        name: how callers spell it; also the service's method.
        title: for people.
        description: for a model: when to use it rather than another, what it refuses, how to undo it.
        request, result: the models of what is asked and what comes back.
        read_only, destructive, idempotent, open_world: hints for clients, as MCP defines them.
        needs_confirmation: it asks every time.
        subagent_allowed: a sub-agent is offered it.
    """

    name: str
    title: str
    description: str
    request: type[Request]
    result: type[Result]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False
    needs_confirmation: bool = False
    subagent_allowed: bool = True

    def label(self, arguments: object) -> str:
        """One line that says which call this is."""
        return label(self.name, arguments)

    def annotations(self) -> dict[str, bool]:
        """MCP's hints."""
        return {
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent,
            "openWorldHint": self.open_world,
        }


@dataclass(frozen=True, slots=True)
class Surface:
    """A set of tools under one name."""

    name: str
    tools: tuple[ToolSpec, ...]

    def offered(self, *, subagent: bool) -> tuple[ToolSpec, ...]:
        """The tools that a caller is shown."""
        return tuple(tool for tool in self.tools if tool.subagent_allowed or not subagent)

    def get(self, name: str, *, subagent: bool = False) -> ToolSpec:
        """The tool of that name.

        Raises:
            AgenvoyError: unknown_tool naming the nearest one; not_available to a sub-agent.
        """
        found = next((tool for tool in self.tools if tool.name == name), None)
        if found is None:
            raise self._unknown(name)
        if subagent and not found.subagent_allowed:
            raise AgenvoyError(
                "not_available",
                f"{name} is not available to a sub-agent",
                "report to the agent that started you what should be removed or put back",
            )
        return found

    def _unknown(self, name: str) -> AgenvoyError:
        from difflib import get_close_matches

        names = [tool.name for tool in self.tools]
        plain = name.strip().lower().replace("-", "_")[:64]
        words = [n for n in names if plain and (plain in n or n.split("_")[0] == plain.split("_")[0])]
        near = get_close_matches(plain, names, n=1, cutoff=0.5) or words
        hint = f"did you mean {near[0]}?" if near else f"the tools are {', '.join(names)}"
        return AgenvoyError("unknown_tool", f"there is no tool {name[:64]!r} on the surface {self.name}", hint)


def surface(name: str) -> Surface:
    """The surface of that name.

    Raises:
        AgenvoyError: invalid_arguments naming the known surfaces.
    """
    module = SURFACES.get(name)
    if module is None:
        raise AgenvoyError(
            "invalid_arguments", f"there is no surface {name!r}", f"the surfaces are {', '.join(SURFACES)}"
        )
    found: Any = import_module(module).SURFACE
    return check(found)


def check(found: Surface) -> Surface:
    """The same surface; a tool listed twice is a programming error found at once."""
    names: Mapping[str, ToolSpec] = {tool.name: tool for tool in found.tools}
    if len(names) != len(found.tools):
        raise ValueError(f"the surface {found.name} lists a tool twice")
    return found
