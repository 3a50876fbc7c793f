"""The command line.

    __main__ ─ entry ─┬─ calls        `agenvoy call`: one JSON document whatever comes
                      ├─ direct       plain command lines, without typer (whose set-up takes longer than most commands)
                      └─ app ─ wiring typer: help, completion, mistakes, rarer spellings
    COMMANDS          one file per command in `commands/`, imported when named
    options, params   how global options and a command's own parameters are declared, once for `direct` and typer
    run               what a command works with: settings, service, confirmation, output
"""

from __future__ import annotations

COMMANDS: dict[str, str] = {
    "read": "agenvoy.cli.commands.read",
    "list": "agenvoy.cli.commands.list",
    "glob": "agenvoy.cli.commands.glob",
    "search": "agenvoy.cli.commands.search",
    "write": "agenvoy.cli.commands.write",
    "edit": "agenvoy.cli.commands.edit",
    "move": "agenvoy.cli.commands.move",
    "remove": "agenvoy.cli.commands.remove",
    "open": "agenvoy.cli.commands.open",
    "restore": "agenvoy.cli.commands.restore",
    "undo": "agenvoy.cli.commands.undo",
    "redo": "agenvoy.cli.commands.redo",
    "task": "agenvoy.cli.commands.task",
    "history": "agenvoy.cli.commands.history",
    "show": "agenvoy.cli.commands.show",
    "diff": "agenvoy.cli.commands.diff",
    "status": "agenvoy.cli.commands.status",
    "blame": "agenvoy.cli.commands.blame",
    "trash": "agenvoy.cli.commands.trash",
    "run": "agenvoy.cli.commands.run",
    "adopt": "agenvoy.cli.commands.adopt",
    "hook": "agenvoy.cli.commands.hook",
    "call": "agenvoy.cli.commands.call",
    "tools": "agenvoy.cli.commands.tools",
    "mcp": "agenvoy.cli.commands.mcp",
    "install": "agenvoy.cli.commands.install",
    "config": "agenvoy.cli.commands.config",
    "index": "agenvoy.cli.commands.index",
    "verify": "agenvoy.cli.commands.verify",
    "gc": "agenvoy.cli.commands.gc",
    "purge": "agenvoy.cli.commands.purge",
    "du": "agenvoy.cli.commands.du",
    "doctor": "agenvoy.cli.commands.doctor",
    "demo": "agenvoy.cli.commands.demo",
}
"""Name -> module of every command, in the order of the help."""
