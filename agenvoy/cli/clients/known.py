"""The clients that `agenvoy install` knows: where their configuration is and what an entry looks like in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

NAME = "agenvoy"
"""The name of the entry."""

Scope = Literal["project", "user"]
Entry = Callable[[Sequence[str], Mapping[str, str]], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Client:
    """One client.

    Args:
        name: what the user calls it.
        title: its own name.
        table: the member of its configuration that holds MCP servers.
        entry: a command line and an environment -> an entry.
        user: its user's file, from HOME and the environment; the first of several that exists counts.
        project: its file in a project's folder; likewise.
        form: json (comments allowed) or toml.
        folder: what stands for the opened folder in its configuration; empty: it starts servers in that folder.
    """

    name: str
    title: str
    table: str
    entry: Entry
    user: Callable[[str, Mapping[str, str]], Sequence[str]]
    project: Sequence[str]
    form: Literal["json", "toml"] = "json"
    folder: str = ""

    def file(self, scope: Scope, root: str, env: Mapping[str, str]) -> str:
        """The file that an entry goes into: the one that is there, else the first of those that may be."""
        home = env.get("HOME") or os.path.expanduser("~")
        places = self.user(home, env) if scope == "user" else [os.path.join(root, p) for p in self.project]
        return next((path for path in places if os.path.exists(path)), places[0])

    @property
    def path(self) -> tuple[str, str]:
        """Where in the file the entry is."""
        return (self.table, NAME)


def _plain(command: Sequence[str], env: Mapping[str, str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": command[0], "args": list(command[1:])}
    return {**entry, "env": dict(env)} if env else entry


def _typed(command: Sequence[str], env: Mapping[str, str]) -> dict[str, Any]:
    return {"type": "stdio", **_plain(command, env)}


def _opencode(command: Sequence[str], env: Mapping[str, str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "local", "command": list(command), "enabled": True}
    return {**entry, "environment": dict(env)} if env else entry


def _config(env: Mapping[str, str], home: str) -> str:
    return env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")


def _vscode(home: str, env: Mapping[str, str]) -> list[str]:
    base = os.path.join(home, "Library", "Application Support") if sys.platform == "darwin" else _config(env, home)
    return [os.path.join(base, "Code", "User", "mcp.json")]


def _opencode_files(home: str, env: Mapping[str, str]) -> list[str]:
    named = env.get("OPENCODE_CONFIG")
    folder = os.path.join(_config(env, home), "opencode")
    return [named] if named else [os.path.join(folder, name) for name in ("opencode.json", "opencode.jsonc")]


CLIENTS: tuple[Client, ...] = (
    Client("claude-code", "Claude Code", "mcpServers", _typed,
           lambda home, env: [os.path.join(env.get("CLAUDE_CONFIG_DIR") or home, ".claude.json")], [".mcp.json"]),
    Client("gemini", "Gemini CLI", "mcpServers", _plain,
           lambda home, env: [os.path.join(home, ".gemini", "settings.json")], [".gemini/settings.json"]),
    Client("codex", "Codex CLI", "mcp_servers", _plain,
           lambda home, env: [os.path.join(env.get("CODEX_HOME") or os.path.join(home, ".codex"), "config.toml")],
           [".codex/config.toml"], "toml"),
    Client("opencode", "opencode", "mcp", _opencode, _opencode_files, ["opencode.json", "opencode.jsonc"]),
    Client("cursor", "Cursor", "mcpServers", _plain,
           lambda home, env: [os.path.join(home, ".cursor", "mcp.json")], [".cursor/mcp.json"],
           folder="${workspaceFolder}"),
    Client("vscode", "VS Code", "servers", _typed, _vscode, [".vscode/mcp.json"], folder="${workspaceFolder}"),
    Client("zed", "Zed", "context_servers", _plain,
           lambda home, env: [os.path.join(_config(env, home), "zed", "settings.json")], [".zed/settings.json"]),
)  # fmt: skip
ALIASES = {"claude": "claude-code", "gemini-cli": "gemini", "codex-cli": "codex", "vs-code": "vscode", "code": "vscode"}


def client(name: str) -> Client | None:
    """The client of that name or alias."""
    wanted = ALIASES.get(name.lower(), name.lower())
    return next((known for known in CLIENTS if known.name == wanted), None)
