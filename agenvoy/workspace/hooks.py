"""What an agent with its own tools tells through its hooks, recorded like everything else.

    a prompt          begins a task with the prompt as its objective
    before a write    the file's state is recorded; after it, the new state
    before a command  a scan; after it, another: what changed in between is the command's doing
    at the end        a last scan, and the task ends

So `agenvoy restore --task last` takes back what that agent did, by whatever means.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from agenvoy.catalog import stamps, tasks, versions
from agenvoy.catalog.stamps import Command
from agenvoy.errors import AgenvoyError
from agenvoy.history.changes import Change, Spec, missing_folders
from agenvoy.types import ABSENT, State
from agenvoy.workspace.protecting import keeps, protect
from agenvoy.workspace.session import Session
from agenvoy.workspace.tracked import scan

Moment = Literal["prompt", "before", "after", "stop"]
OBJECTIVE = 2000  # characters of a prompt that become the objective: whole for most, and bounded


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a client spells its hooks.

    Args:
        moments: event name → what it means.
        files: names of tools that write a file; empty: events that carry `file_path` do.
        shells: names of tools that run a command; empty: events that carry `command` do.
        session: the member that names the agent's session.
        answer: what is printed on standard output: the client's "go on".
    """

    moments: Mapping[str, Moment]
    files: frozenset[str]
    shells: frozenset[str]
    session: str
    answer: str = ""


# Claude Code: code.claude.com/docs/en/hooks. Codex takes the same protocol. Gemini CLI: docs/hooks/reference.md in its
# repository. Cursor: cursor.com/docs/agent/hooks.
_CLAUDE: Mapping[str, Moment] = {
    "UserPromptSubmit": "prompt", "PreToolUse": "before", "PostToolUse": "after", "PostToolUseFailure": "after",
    "Stop": "stop", "SessionEnd": "stop",
}  # fmt: skip
_CURSOR: Mapping[str, Moment] = {
    "beforeSubmitPrompt": "prompt", "beforeShellExecution": "before", "afterShellExecution": "after",
    "preToolUse": "before", "afterFileEdit": "after", "postToolUse": "after", "stop": "stop",
}  # fmt: skip
_WRITES = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit", "apply_patch"})
DIALECTS: Mapping[str, Dialect] = {
    "claude-code": Dialect(_CLAUDE, _WRITES, frozenset({"Bash"}), "session_id"),
    "codex": Dialect(_CLAUDE, _WRITES, frozenset({"Bash", "shell", "local_shell"}), "session_id"),
    "gemini": Dialect(
        {"BeforeAgent": "prompt", "BeforeTool": "before", "AfterTool": "after", "AfterAgent": "stop",
         "SessionEnd": "stop"},
        frozenset({"write_file", "replace"}), frozenset({"run_shell_command"}), "session_id", "{}",
    ),
    "cursor": Dialect(
        _CURSOR, frozenset({"Write", "Edit", "MultiEdit"}), frozenset({"Shell"}), "conversation_id", "{}"
    ),
}  # fmt: skip


def dialect(client: str) -> Dialect:
    """How a client spells its hooks; raises invalid_arguments for an unknown one."""
    if client not in DIALECTS:
        raise AgenvoyError(
            "invalid_arguments", f"{client} is no client with hooks that agenvoy knows", f"one of {', '.join(DIALECTS)}"
        )
    return DIALECTS[client]


def folder_of(event: Mapping[str, Any]) -> str | None:
    """The folder that an event is about."""
    roots = event.get("workspace_roots")
    found = event.get("cwd") or (roots[0] if isinstance(roots, list) and roots else None)
    return found if isinstance(found, str) and found else None


def handle(session: Session, client: str, event: Mapping[str, Any]) -> str | None:
    """Do what an event asks for; gives a sentence for a log, or None where there was nothing to do.

    Raises:
        AgenvoyError: the store cannot be used; the agent goes on whatever is raised here.
    """
    spoken = dialect(client)
    moment = spoken.moments.get(str(event.get("hook_event_name")))
    if moment is None:
        return None
    name = str(event.get(spoken.session) or "")
    session.settings = replace(session.settings, actor=f"{client}:{name[:8]}" if name else client)
    session.writable_store()
    if moment == "prompt":
        return _prompt(session, str(event.get("prompt") or ""))
    if moment == "stop":
        return _stop(session)
    given = event.get("tool_input")
    arguments: Mapping[str, Any] = given if isinstance(given, Mapping) else event
    tool = str(event.get("tool_name") or "")
    command, path = arguments.get("command"), arguments.get("file_path") or arguments.get("notebook_path")
    if tool in spoken.shells or (not tool and command is not None):
        text = command if isinstance(command, str) else " ".join(map(str, command or ()))
        return _before_command(session, text) if moment == "before" else _after_command(session)
    if isinstance(path, str) and (tool in spoken.files or not tool):
        known = _before_write if moment == "before" else _after_write
        return known(session, path, tool or "edit")
    return None


def _prompt(session: Session, prompt: str) -> str:
    _close(session)
    objective = " ".join(prompt.split())[:OBJECTIVE] or "(an empty prompt)"
    new, at = session.new_id(), session.clock()
    with session.catalog.write() as c:
        workspace = tasks.ensure_workspace(c, session.settings.root)
        tasks.end_all(c, workspace, session.settings.actor, at)
        tasks.insert(c, new, workspace, session.settings.actor, objective, at)
    return f"task {new} begins"


def _stop(session: Session) -> str | None:
    _close(session)
    task = session.running()
    if task is None:
        return None
    with session.catalog.write() as c:
        tasks.end(c, task.id, session.clock())
    return f"task {task.id} ended"


def _own(session: Session) -> list[Command]:
    workspace = session.workspace_id()
    if workspace is None:
        return []
    with session.catalog.read() as c:
        return [o for o in stamps.open_commands(c, workspace) if o.actor == session.settings.actor]


def _close(session: Session) -> None:
    """End windows that stayed open, and see what else has changed where there is a baseline to compare with."""
    for command in _own(session):
        scan(session, command)
        with session.catalog.write() as c:
            stamps.end_command(c, command.id)
    workspace = session.workspace_id()
    if workspace is not None:
        with session.catalog.read() as c:
            whole = stamps.last_scan(c, workspace) is not None
        if whole:
            scan(session)


def _task(session: Session) -> str:
    """The agent's running task; begun here where no prompt has begun one."""
    task = session.running()
    if task is not None:
        return task.id
    new = session.new_id()
    with session.catalog.write() as c:
        workspace = tasks.ensure_workspace(c, session.settings.root)
        tasks.insert(c, new, workspace, session.settings.actor, "", session.clock())
    return new


def _before_command(session: Session, command: str) -> str:
    scan(session)
    task = _task(session)
    with session.catalog.write() as c:
        workspace = tasks.ensure_workspace(c, session.settings.root)
        # Process 0: the window is closed by the event after the command, not by the end of this process.
        stamps.begin_command(c, workspace, task, session.settings.actor, command, 0, session.clock())
    return "the state before the command is recorded"


def _after_command(session: Session) -> str | None:
    found = _own(session)
    changed = 0
    for command in found:
        changed += len(scan(session, command).changes)
        with session.catalog.write() as c:
            stamps.end_command(c, command.id)
    return f"{changed} changes recorded" if found else None


def _before_write(session: Session, path: str, tool: str) -> str | None:
    real = _inside(session, path)
    if real is None:
        return None
    _task(session)
    folders = missing_folders(real)
    with session.log.hold([real, *folders]):
        unseen = [f for f in folders if (_was(session, f) or ABSENT).kind != "absent" or _new(session, f)]
        if unseen:  # that they were not there is told by nothing else, once they are
            spec = Spec(session.settings.root, "", "", "external", f"Outside({len(unseen)} paths)")
            session.log.record_only(spec, [Change(f, ABSENT, ABSENT, "observed") for f in unseen])
        seen, was = session.log.look(real), _was(session, real)
        if was is not None and was.same(seen.state):
            return None
        if was is not None:
            spec = Spec(session.settings.root, "", "", "external", "Outside(1 paths)")
            session.log.record_only(spec, [Change(real, was, seen.state, "external", data=seen.data)])
        _note(session, real, seen.state, seen.data)
    if protect(session, [real], tool, f"{tool}({session.jail.shown(real)})"):
        _note(session, real, seen.state, None)  # with the bytes went what was known of the state
    return f"the state of {path} before {tool} is recorded"


def _after_write(session: Session, path: str, tool: str) -> str | None:
    real = _inside(session, path)
    if real is None:
        return None
    task = _task(session)
    made = _made_folders(session, real)
    with session.log.hold([real, *made]):
        seen, was = session.log.look(real), _was(session, real) or ABSENT
        if was.same(seen.state):
            return None
        action = "create" if was.kind == "absent" else "delete" if seen.state.kind == "absent" else "modify"
        shown = session.jail.shown(real)
        spec = Spec(session.settings.root, session.settings.actor, tool, "run", f"{tool}({shown})", task)
        change = Change(real, was, seen.state, action, data=seen.data)  # type: ignore[arg-type]
        folders = [Change(folder, ABSENT, session.log.look(folder).state, "create") for folder in made]
        session.log.record_only(spec, [*folders, change])
        _note(session, real, seen.state, seen.data)
    protect(session, [real], tool, f"{tool}({shown})")
    return f"{shown} recorded"


def _new(session: Session, path: str) -> bool:
    """Whether the log has no row of a path."""
    with session.catalog.read() as c:
        return versions.newest(c, path) is None


def _made_folders(session: Session, real: str) -> list[str]:
    """Parents that are there now and were not before the write, outermost first."""
    found, folder = [], os.path.dirname(real)
    while folder != session.settings.root and os.path.isdir(folder):
        with session.catalog.read() as c:
            newest = versions.newest(c, folder)
        if newest is None or newest.state.kind != "absent":
            break
        found.append(folder)
        folder = os.path.dirname(folder)
    return found[::-1]


def _inside(session: Session, path: str) -> str | None:
    try:
        return session.identity(session.jail.resolve(path, write=True).real)
    except AgenvoyError as error:
        if error.code in ("outside_workspace", "permission_denied", "invalid_arguments", "not_found"):
            return None  # not a file of this workspace: the agent may write it, it is none of ours
        raise


def _was(session: Session, real: str) -> State | None:
    workspace = session.workspace_id()
    with session.catalog.read() as c:
        newest = versions.newest(c, real)
        if newest is not None:
            return newest.state
        return stamps.state(c, workspace, real) if workspace is not None else None


def _note(session: Session, real: str, state: State, data: bytes | None) -> None:
    if keeps(session, real) and state.kind in ("file", "link") and not session.vault.has(state.hash):
        if data is not None:
            session.vault.stage(data)
        else:
            session.vault.stage_blocks(session.log.disk_blocks(real))
    with session.catalog.write() as c:
        workspace = tasks.ensure_workspace(c, session.settings.root)
        session.vault.enter(c)
        stamps.save(c, workspace, [(real, state)])
