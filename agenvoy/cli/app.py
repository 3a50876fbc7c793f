"""The typer app: global options, and commands that are imported when they are named."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from agenvoy.cli import COMMANDS
from agenvoy.cli.direct import GLOBALS
from agenvoy.cli.options import Options
from agenvoy.cli.output import put, put_json
from agenvoy.cli.wiring import load_command, signed, typed
from agenvoy.errors import AgenvoyError
from agenvoy.render.style import Style
from agenvoy.render.terminal import error_for_people
from agenvoy.surfaces.answers import refusal

# The base of all of typer's usage errors; typer itself only exports a leaf of that tree.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


class Commands(TyperGroup):
    """The group of all commands; a module is imported when its command is named (or for help)."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Every command, in the order of the registry."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name; None where there is none."""
        module = COMMANDS.get(cmd_name)
        return load_command(cmd_name, module) if module else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As typer does, naming the nearest command where there is none of that name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0][:40], COMMANDS, n=1)
            ctx.fail(f"there is no command {args[0][:40]!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
        return super().resolve_command(ctx, args)


def _version(wanted: bool) -> None:
    if wanted:
        from agenvoy import __version__

        put(f"agenvoy {__version__}")
        raise typer.Exit


def _main(ctx: typer.Context, **given: Any) -> None:
    given.pop("version", None)
    ctx.obj = Options().merged(given)


def build() -> Any:
    """The whole command line as typer's command object."""
    version = inspect.Parameter(
        "version",
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, typer.Option("--version", is_eager=True, callback=_version, help="Say which one.")],
    )
    signed(_main, [*map(typed, GLOBALS), version])
    says = "A versioned workspace store with undo, for AI agents and the people beside them."
    app = typer.Typer(
        cls=Commands, help=says, rich_markup_mode=None, context_settings={"help_option_names": ["--help", "-h"]}
    )
    app.callback()(_main)
    return typer.main.get_command(app)


def invoke(argv: Sequence[str]) -> int:
    """Run a command line; gives back the exit status (2 for wrong usage, with one line that says what is wrong)."""
    try:
        status = build().main(args=list(argv) or ["--help"], prog_name="agenvoy", standalone_mode=False)
    except UsageError as error:
        return _wrong(argv, error)
    except typer.Abort:
        return 130
    return status if isinstance(status, int) else 0


def _wrong(argv: Sequence[str], error: Any) -> int:
    name = error.ctx.command_path if getattr(error, "ctx", None) else "agenvoy"
    said = " ".join(str(error.format_message()).split())
    refused = AgenvoyError("invalid_arguments", said[:1].lower() + said[1:].rstrip("."), f"see `{name} --help`")
    if "--json" in argv:
        put_json(refusal(name.removeprefix("agenvoy ").replace(" ", "_"), None, refused).document)
    else:
        put(error_for_people(refused.document(), Style()), sys.stderr)
    return 2
