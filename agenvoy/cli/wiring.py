"""A function of a command -> a typer command that also takes the global options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from agenvoy.cli.direct import GLOBALS
from agenvoy.cli.options import Options
from agenvoy.cli.params import Arg, Parameter, parameters
from agenvoy.cli.run import carry_out

_SHOWN = ("json", "yes")  # of the global options, those that every command's help shows


def typed(item: Parameter, *, hidden: bool = False) -> inspect.Parameter:
    """A parameter as typer declares it."""
    says = item.declared
    info: Any
    if isinstance(says, Arg):
        info = typer.Argument(metavar=says.metavar, help=says.help)
    else:
        info = typer.Option(*item.flags, metavar=says.metavar or None, help=says.help, hidden=hidden)
    is_global = item in GLOBALS
    annotation = item.annotation if item.kind is bool or not is_global else item.annotation | None
    default = False if is_global and item.kind is bool else item.default
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(item.name, kind, default=default, annotation=Annotated[annotation, info])


def signed(function: Callable[..., Any], items: list[inspect.Parameter]) -> None:
    """Give a function that takes `ctx` and keywords the signature that typer reads."""
    context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    every = [context, *items]
    function.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    function.__annotations__ = {item.name: item.annotation for item in every}


def with_globals(function: Callable[..., int]) -> Callable[..., int]:
    """The function with the global options added that it does not declare itself.

    Args:
        function: takes a `Run` first, then its own arguments and options; gives back the exit status.
    """
    own = parameters(function)
    names = {item.name for item in own}
    added = [item for item in GLOBALS if item.name not in names]

    def command(ctx: typer.Context, **given: Any) -> int:
        before = ctx.find_object(Options) or Options()
        options = before.merged({item.name: given.pop(item.name) for item in added})
        return carry_out(function, options, given)

    command.__doc__ = _help(function)
    signed(command, [*map(typed, own), *(typed(item, hidden=item.name not in _SHOWN) for item in added)])
    return command


def _group() -> Callable[..., None]:
    """What a group does before its commands: take the global options that stand between its name and theirs."""

    def group(ctx: typer.Context, **given: Any) -> None:
        ctx.obj = (ctx.find_object(Options) or Options()).merged(given)

    signed(group, [typed(item, hidden=True) for item in GLOBALS])
    return group


def _help(function: Callable[..., int]) -> str:
    """The docstring up to its `Args:`, which are for readers of the code."""
    return (inspect.getdoc(function) or "").partition("\nArgs:")[0].strip()


def load_command(name: str, module: str) -> Any:
    """The typer command of a module: one `command`, or a group of several `COMMANDS`.

    Args:
        name: how it is called.
        module: where it is declared.
    """
    found = import_module(module)
    app = typer.Typer(add_completion=False, rich_markup_mode=None, help=found.__doc__)
    several: dict[str, Callable[..., int]] = getattr(found, "COMMANDS", {})
    if several:
        app.callback()(_group())
    for label, function in several.items():
        app.command(label)(with_globals(function))
    if not several:
        app.command(name, context_settings=getattr(found, "CONTEXT", None))(with_globals(found.command))
    command = typer.main.get_command(app)
    command.name = name
    return command
