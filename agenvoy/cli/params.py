"""Declarations of a command's parameters: read by `direct` (the quick parser) and by `wiring` (typer, for the rest).

A command is a function whose parameters are annotated `Annotated[type, Arg(…)]` or `Annotated[type, Opt(…)]`. Typer's
own declarations would do as well, but importing typer alone takes longer than a whole `agenvoy history` may.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, get_args, get_origin


@dataclass(frozen=True, slots=True)
class Arg:
    """A positional argument.

    Args:
        help: one sentence.
        metavar: how help shows it.
    """

    help: str
    metavar: str | None = None


@dataclass(frozen=True, slots=True, init=False)
class Opt:
    """An option: its flags (none: made from the parameter's name), help and metavar."""

    flags: tuple[str, ...]
    help: str
    metavar: str | None

    def __init__(self, *flags: str, help: str, metavar: str | None = None) -> None:
        object.__setattr__(self, "flags", flags)
        object.__setattr__(self, "help", help)
        object.__setattr__(self, "metavar", metavar)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a command.

    Args:
        name: of the function's parameter.
        annotation: its type, such as `int | None` or `list[str]`.
        default: `inspect.Parameter.empty` where it must be given.
        declared: an `Arg` or `Opt`.
    """

    name: str
    annotation: Any
    default: Any
    declared: Arg | Opt

    @property
    def flags(self) -> tuple[str, ...]:
        """How an option is written; empty for an argument."""
        if isinstance(self.declared, Arg):
            return ()
        return self.declared.flags or ("--" + self.name.replace("_", "-"),)

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is inspect.Parameter.empty

    @property
    def kind(self) -> type:
        """The type of one value: str, int, float or bool."""
        plain = _without_none(self.annotation)
        found = get_args(plain)[0] if get_origin(plain) is list else plain
        return found if isinstance(found, type) else str

    @property
    def several(self) -> bool:
        """Whether it takes any number of values."""
        return get_origin(_without_none(self.annotation)) is list


def _without_none(annotation: Any) -> Any:
    if isinstance(annotation, UnionType):
        return next(part for part in get_args(annotation) if part is not type(None))
    return annotation


def parameters(function: Callable[..., int]) -> list[Parameter]:
    """The parameters of a command, but for its first one, the `Run`."""
    found = []
    for item in list(inspect.signature(function, eval_str=True).parameters.values())[1:]:
        if get_origin(item.annotation) is not Annotated:
            raise TypeError(f"{function.__module__}: {item.name} needs Annotated[type, Arg or Opt]")
        annotation, declared = get_args(item.annotation)[:2]
        found.append(Parameter(item.name, annotation, item.default, declared))
    return found
