"""What a command works with: the settings, the service, confirmation, and the one way to answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from agenvoy.cli.ask import asker
from agenvoy.cli.options import Options
from agenvoy.cli.output import put, put_json, style_of
from agenvoy.config import Settings
from agenvoy.configfile import Loaded, load
from agenvoy.disk.jail import inside
from agenvoy.disk.names import is_utf8, spell, unspell
from agenvoy.errors import AgenvoyError
from agenvoy.render.terminal import error_for_people, text_for_people
from agenvoy.surfaces.answers import Answer, answer, refusal
from agenvoy.types import Outcome

if TYPE_CHECKING:
    from agenvoy.workspace.service import Service

Arguments = Mapping[str, Any]


class Run:
    """One run of one command."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._service: Service | None = None

    @cached_property
    def settings(self) -> Settings:
        """Settings from the files, the environment and the global options."""
        return self.loaded.settings

    @cached_property
    def loaded(self) -> Loaded:
        """The settings, and where each comes from."""
        try:
            here = os.getcwd()
        except OSError:
            raise AgenvoyError(
                "not_found", "the working directory does not exist any more", "change to a folder that exists"
            ) from None
        found = load(os.environ, here, **self.flags)
        if found.ignored:
            told = f"agenvoy: {found.workspace_file} is not trusted, so these are ignored: {', '.join(found.ignored)}"
            put(f"{told} (see `agenvoy config trust`)", sys.stderr)
        return found

    @property
    def flags(self) -> dict[str, Any]:
        """The global options that set something."""
        names = ("root", "allow", "actor", "task", "yes", "allow_sensitive", "subagent")
        return {name: getattr(self.options, name) for name in names}

    def service(self) -> Service:
        """The workspace, opened on first use."""
        if self._service is None:
            from agenvoy.workspace.service import Service  # late: what needs no store starts without it

            self._service = Service(self.settings, confirm=asker())
        return self._service

    def close(self) -> None:
        """Close the workspace where it was opened."""
        if self._service is not None:
            self._service.close()

    def path(self, text: str) -> str:
        """A path of the command line as tools take it.

        People mean the working directory, tools the workspace root. Inside the workspace the working directory holds,
        but a path that exists only from the root on is taken too, since results are spelled so.
        """
        try:
            raw = unspell(text)
            here, root = os.path.realpath(os.getcwd()), self.settings.root
        except (ValueError, OSError):
            return text  # the path jail says what is wrong with it
        if raw and not raw.startswith(("/", "~")) and here != root and inside(here, root):
            near, far = os.path.join(here, raw), os.path.join(root, raw)
            return spell(far if os.path.lexists(far) and not os.path.lexists(near) else near)
        return text if is_utf8(text) else spell(text)

    def finish(
        self,
        tool: str,
        arguments: Arguments,
        verb: Callable[[Service], Outcome],
        *,
        status: Callable[[Arguments], int] = lambda _: 0,
        show: Callable[[Arguments], None] | None = None,
    ) -> int:
        """Carry out a verb, print its answer, and give back the exit status.

        Args:
            tool: name for the document and the rendering.
            arguments: what was asked, by the contract's names.
            verb: does it with the service.
            status: exit status of a result, for commands that report a finding.
            show: prints a result for people in its own way.
        """
        try:
            home = self.settings.home
        except AgenvoyError as error:
            return self.print(tool, arguments, refusal(tool, arguments, error))
        done = answer(tool, arguments, lambda: verb(self.service()), home=home)
        if done.ok and show is not None and not self.options.json:
            show(done.document["result"])
        else:
            self.print(tool, arguments, done)
        return status(done.document["result"]) if done.ok else done.exit_status

    def print(self, tool: str, arguments: Arguments, done: Answer) -> int:
        """Print an answer as JSON or for people; gives back its exit status."""
        if self.options.json:
            put_json(done.document)
        elif done.ok:
            notices = done.document.get("notices", ())
            text = text_for_people(tool, done.document["result"], arguments, style_of(sys.stdout), notices)
            if text:
                put(text)
        else:
            put(error_for_people(done.document["error"], style_of(sys.stderr)), sys.stderr)
        return done.exit_status

    def refuse(self, tool: str, error: AgenvoyError) -> int:
        """Print a refusal that arose before any verb was called."""
        return self.print(tool, {}, refusal(tool, {}, error))


def usage(message: str, hint: str) -> AgenvoyError:
    """A wrong use of a command (exit status 2)."""
    return AgenvoyError("invalid_arguments", message, hint)


def carry_out(function: Callable[..., int], options: Options, given: Mapping[str, Any]) -> int:
    """Run a command's function; gives back the exit status.

    Args:
        function: takes a `Run` and its own arguments.
        options: the global options.
        given: its arguments by name.
    """
    run = Run(options)
    try:
        return function(run, **given)
    except AgenvoyError as error:
        return run.refuse(function.__module__.rpartition(".")[2], error)
    finally:
        run.close()
