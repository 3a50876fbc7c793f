"""Hooks of agents that have them: which events call `agenvoy hook CLIENT`, and where that is written.

Claude Code: `hooks` in settings.json, groups with a matcher. Codex: the same form in hooks.json. Gemini CLI: `hooks` in
settings.json, times in milliseconds. Cursor: hooks.json, a list of commands an event. Files with comments are refused:
a list of groups cannot be changed in them without losing what a person wrote.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from agenvoy.cli.clients.change import Change, copies, read_text
from agenvoy.cli.clients.known import Scope
from agenvoy.errors import AgenvoyError

SECONDS = 600  # a first baseline of a large workspace takes its time; every other call is over in a moment
MARK = " hook "  # of our own entries: the command ends in `… hook CLIENT`


@dataclass(frozen=True, slots=True)
class Hooked:
    """A client with hooks.

    Args:
        user: its user's file, from HOME and the environment.
        project: its file in a project's folder.
        events: event → matcher of tool names (None: the event takes none).
        form: groups (a matcher and its hooks) or plain (commands).
        unit: of the timeout, in parts of a second.
    """

    user: Callable[[str, Mapping[str, str]], str]
    project: str
    events: Mapping[str, str | None]
    form: Literal["groups", "plain"] = "groups"
    unit: int = 1


_CLAUDE = {
    "UserPromptSubmit": None,
    "PreToolUse": "Bash|Write|Edit|MultiEdit|NotebookEdit",
    "PostToolUse": "Bash|Write|Edit|MultiEdit|NotebookEdit",
    "Stop": None,
}
HOOKED: Mapping[str, Hooked] = {
    "claude-code": Hooked(
        lambda home, env: os.path.join(env.get("CLAUDE_CONFIG_DIR") or os.path.join(home, ".claude"), "settings.json"),
        ".claude/settings.json", _CLAUDE,
    ),
    "codex": Hooked(
        lambda home, env: os.path.join(env.get("CODEX_HOME") or os.path.join(home, ".codex"), "hooks.json"),
        ".codex/hooks.json", {**_CLAUDE, "PreToolUse": "Bash|apply_patch", "PostToolUse": "Bash|apply_patch"},
    ),
    "gemini": Hooked(
        lambda home, env: os.path.join(home, ".gemini", "settings.json"), ".gemini/settings.json",
        {"BeforeAgent": None, "BeforeTool": "write_file|replace|run_shell_command",
         "AfterTool": "write_file|replace|run_shell_command", "AfterAgent": None}, unit=1000,
    ),
    "cursor": Hooked(
        lambda home, env: os.path.join(home, ".cursor", "hooks.json"), ".cursor/hooks.json",
        {"beforeSubmitPrompt": None, "preToolUse": None, "beforeShellExecution": None, "afterShellExecution": None,
         "afterFileEdit": None, "stop": None}, "plain",
    ),
}  # fmt: skip


def plan_hooks(name: str, scope: Scope, root: str, env: Mapping[str, str], command: Sequence[str] | None) -> Change:
    """What has to be done so that the client's hooks call us (None: do not call us any more).

    Raises:
        AgenvoyError: not_available for a client without hooks that we know; invalid_arguments for a broken file.
    """
    found = HOOKED.get(name)
    if found is None:
        raise AgenvoyError(
            "not_available", f"{name} has no hooks that agenvoy knows", f"those with hooks: {', '.join(HOOKED)}"
        )
    home = env.get("HOME") or os.path.expanduser("~")
    path = os.path.realpath(found.user(home, env) if scope == "user" else os.path.join(root, found.project))
    before = read_text(path)
    settings = _parsed(path, before)
    hooks = _without(settings.get("hooks"), path)
    if command is not None:
        hooks = _with(hooks, found, f"{shlex.join(command)}{MARK}{name}")
    changed = _changed(settings, found, hooks)
    if changed == settings or (command is None and before is None):
        return Change(path, before, before)
    if command is None:
        former = next((t for t in copies(path) if _installed_in(t, found, name, before or "", path)), None)
        if former is not None:
            return Change(path, before, former)
    empty = command is None and not {k for k in changed if k != "version"}
    return Change(path, before, None if empty else _dumped(changed))


def _installed_in(former: str, client: Hooked, name: str, text: str, path: str) -> bool:
    """Whether a text is what a former one became by installing our hooks, and nothing else."""
    try:
        command = next(_commands(json.loads(text)["hooks"], name), None)
        old = _parsed(path, former)
        hooks = _without(old.get("hooks"), path)
        if hooks != (old.get("hooks") or {}):
            return False  # ours were in it
    except (ValueError, KeyError, TypeError, AgenvoyError):  # no copy that we could have made
        return False
    return command is not None and _dumped(_changed(old, client, _with(hooks, client, command))) == text


def _commands(hooks: Any, name: str) -> Iterator[str]:
    for groups in hooks.values():
        for group in groups:
            for hook in group.get("hooks", [group]):
                if _ours(hook) and hook["command"].endswith(MARK + name):
                    yield hook["command"]


def _changed(settings: dict[str, Any], client: Hooked, hooks: dict[str, Any]) -> dict[str, Any]:
    changed = {**settings, **({"version": 1} if client.form == "plain" and "version" not in settings else {})}
    return {**changed, "hooks": hooks} if hooks else {k: v for k, v in changed.items() if k != "hooks"}


def _dumped(settings: dict[str, Any]) -> str:
    return json.dumps(settings, indent=2, ensure_ascii=False) + "\n"


def _parsed(path: str, text: str | None) -> dict[str, Any]:
    if text is None or not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise AgenvoyError(
            "invalid_arguments",
            f"{path} cannot be changed: it is no plain JSON ({error})",
            "correct it, or take its comments out; nothing was written",
        ) from None
    if not isinstance(found, dict):
        raise AgenvoyError("invalid_arguments", f"{path} does not hold an object", "nothing was written")
    return found


def _without(hooks: Any, path: str) -> dict[str, Any]:
    """The hooks without our own; everything else stays as it was, in its order."""
    if hooks is None:
        return {}
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise AgenvoyError("invalid_arguments", f"{path}: `hooks` has another form", "nothing was written")
    left = {}
    for event, groups in hooks.items():
        kept = [group for group in map(_group_without, groups) if group is not None]
        if kept or not groups:
            left[event] = kept
    return left


def _group_without(group: Any) -> Any:
    if not isinstance(group, dict):
        return group
    if isinstance(group.get("hooks"), list):
        kept = [hook for hook in group["hooks"] if not _ours(hook)]
        return {**group, "hooks": kept} if kept or not group["hooks"] else None
    return None if _ours(group) else group


def _ours(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and "agenvoy" in command and any(command.endswith(MARK + n) for n in HOOKED)


def _with(hooks: dict[str, Any], client: Hooked, command: str) -> dict[str, Any]:
    found = dict(hooks)
    for event, matcher in client.events.items():
        if client.form == "plain":
            entry: dict[str, Any] = {"command": command}
        else:
            hook = {"type": "command", "command": command, "timeout": SECONDS * client.unit}
            entry = {**({"matcher": matcher} if matcher else {}), "hooks": [hook]}
        found[event] = [*found.get(event, []), entry]
    return found
