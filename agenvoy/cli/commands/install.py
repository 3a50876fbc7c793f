"""install: agenvoy as an MCP server of an agent program."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import Annotated, Any

from agenvoy.cli.ask import asker
from agenvoy.cli.clients.change import Change, carry_out, plan
from agenvoy.cli.clients.hooks import plan_hooks
from agenvoy.cli.clients.known import CLIENTS, NAME, Client, Scope, client
from agenvoy.cli.output import put
from agenvoy.cli.params import Arg, Opt
from agenvoy.cli.run import Run, usage
from agenvoy.errors import AgenvoyError
from agenvoy.types import ConfirmRequest, Outcome

_NAMES = ", ".join(known.name for known in CLIENTS)


def command(
    run: Run,
    name: Annotated[str, Arg(f"{_NAMES}, or print for any other.", metavar="CLIENT")],
    scope: Annotated[str, Opt("--scope", help="user (default) or project.", metavar="SCOPE")] = "user",
    uninstall: Annotated[bool, Opt("--uninstall", help="Take the entry away again.")] = False,
    dry_run: Annotated[bool, Opt("--dry-run", help="Show the change, write nothing.")] = False,
    hooks: Annotated[bool, Opt("--hooks", help="Follow what the agent does with its own tools, by its hooks.")] = False,
) -> int:
    """Wire agenvoy into an agent: shows the change to its MCP configuration, keeps a copy, writes it.

    `--allow`, `--surface` and `--subagent` are handed on to the server. Nothing else in the file is touched.
    """
    if name == "print":
        put(json.dumps({"mcpServers": {NAME: _entry_of_print(run)}}, indent=2))
        return 0
    keywords = {"client": name, "scope": scope, "uninstall": uninstall, "dry_run": dry_run, "hooks": hooks}
    return run.finish("install", keywords, lambda service: _installed(run, keywords), show=_told)


def _installed(run: Run, given: dict[str, Any]) -> Outcome:
    found, scope = client(given["client"]), given["scope"]
    if found is None:
        raise usage(f"there is no client {given['client']!r}", f"the clients are {_NAMES}, print")
    if scope not in ("project", "user"):
        raise usage(f"there is no scope {scope!r}", "use project or user")
    if given["hooks"]:
        command = None if given["uninstall"] else _program()
        change = plan_hooks(found.name, scope, run.settings.root, os.environ, command)
    else:
        path = found.file(scope, run.settings.root, os.environ)
        change = plan(found, path, None if given["uninstall"] else _entry(run, found, scope))
    result = {
        "client": found.name, "title": found.title, "path": change.path, "diff": change.diff(), "changed": False,
        "copy": "",
    }  # fmt: skip
    if not change.is_none and not given["dry_run"]:
        _confirm(run, change)
        result |= {"copy": carry_out(change), "changed": True}
    return Outcome("install", f"Install({found.name})", result, "")


def _confirm(run: Run, change: Change) -> None:
    """A person at a terminal is shown the change and asked; elsewhere the command itself is the wish."""
    ask = asker()
    if ask is None or run.settings.assume_yes:
        return
    put(change.diff(), sys.stderr)
    request = ConfirmRequest("install", "Install", f"change {change.path}?", sensitive=True)
    if ask(request) != "yes":
        raise AgenvoyError("declined", f"{change.path} was left as it is", "use --dry-run to see the change only")


def _told(result: Any) -> None:
    if not result["diff"]:
        put(f"{result['path']}: nothing to change")
        return
    put(result["diff"])
    if result["changed"]:
        kept = f"; the former text is in {result['copy']}" if result["copy"] else ""
        put(f"{result['path']} was changed{kept}. Restart {result['title']} to use it.")
    else:
        put("nothing was written")


def _entry(run: Run, found: Client, scope: Scope) -> dict[str, Any]:
    root = ["--root", found.folder] if found.folder else []
    if scope == "user" and run.options.root:
        root = ["--root", os.path.abspath(run.options.root)]
    return found.entry([*_program(), "mcp", *root, *_handed_on(run)], _environment())


def _entry_of_print(run: Run) -> dict[str, Any]:
    """An entry in the form that most clients know, for this workspace."""
    words = [*_program(), "mcp", "--root", run.settings.root, *_handed_on(run)]
    entry: dict[str, Any] = {"command": words[0], "args": words[1:]}
    return {**entry, "env": _environment()} if _environment() else entry


def _handed_on(run: Run) -> list[str]:
    options = run.options
    words = [word for folder in options.allow for word in ("--allow", os.path.abspath(folder))]
    words += [word for name in options.surface for word in ("--surface", name)]
    return [*words, "--subagent"] if options.subagent else words


def _program() -> list[str]:
    """How this agenvoy is started: its script where it has one, else the module."""
    script = shutil.which(sys.argv[0]) if os.path.basename(sys.argv[0]) == "agenvoy" else None
    return [os.path.abspath(script)] if script else [sys.executable, "-m", "agenvoy"]


def _environment() -> dict[str, str]:
    """Variables without which the server would use another store; clients do not hand all of theirs on."""
    return {name: os.environ[name] for name in ("AGENVOY_HOME",) if os.environ.get(name)}
