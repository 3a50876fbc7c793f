"""Prompts: what a person can pick from a client's menu instead of typing it."""

from __future__ import annotations

import mcp_types as types
from mcp.shared.exceptions import MCPError

_PROMPTS: dict[str, tuple[str, str, tuple[types.PromptArgument, ...], str]] = {
    "undo": (
        "Undo what you just did",
        "Take back everything that the agent changed in this task, after showing the plan.",
        (),
        "Take back everything that you changed in this task. First call restore_file with task_id=current and "
        "dry_run=true and tell me in a few lines what would happen to which file. If there are conflicts, show me "
        "both sides and ask. Otherwise call restore_file with task_id=current and the plan_id of the dry run.",
    ),
    "review": (
        "Review what was changed",
        "Show what this task, other tasks and others outside the tools changed.",
        (),
        "Call workspace_status and, for the files that your task changed, file_history with mode=read. Then tell me "
        "file by file what was changed and why, and what changed outside of your task.",
    ),
    "recover": (
        "Get an earlier version back",
        "Find an earlier state of a file and put it back.",
        (types.PromptArgument(name="path", description="The file, also one that was removed.", required=True),),
        "I want an earlier state of {path} back. Call file_history with path={path}, tell me which versions there are "
        "and what made them, and ask which one I mean. Then call restore_file with that version.",
    ),
}


def listed() -> types.ListPromptsResult:
    """Every prompt."""
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(name=name, title=title, description=says, arguments=list(arguments) or None)
            for name, (title, says, arguments, _) in _PROMPTS.items()
        ]
    )


def prompt(params: types.GetPromptRequestParams) -> types.GetPromptResult:
    """One prompt with its arguments filled in; raises an MCP error for an unknown one or a missing argument."""
    found = _PROMPTS.get(params.name)
    if found is None:
        raise MCPError(types.INVALID_PARAMS, f"there is no prompt {params.name[:64]!r}: {', '.join(_PROMPTS)}")
    _, says, arguments, text = found
    given = params.arguments or {}
    for argument in arguments:
        if not given.get(argument.name):
            raise MCPError(types.INVALID_PARAMS, f"the prompt {params.name} needs {argument.name}")
        text = text.replace("{" + argument.name + "}", given[argument.name])
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=says, messages=[message])
