"""hook: what an agent's own hooks call; not for people."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated

from agenvoy.cli.params import Arg
from agenvoy.cli.run import Run
from agenvoy.errors import AgenvoyError


def command(
    run: Run,
    client: Annotated[str, Arg("claude-code, codex, gemini or cursor.")],
) -> int:
    """Take one hook event of an agent as JSON on standard input, and record what it tells.

    The agent is never held up: whatever goes wrong here is one line on standard error and exit status 1.
    """
    from agenvoy.workspace.hooks import dialect, folder_of

    try:
        spoken = dialect(client)
        event = json.loads(sys.stdin.buffer.read() or b"{}")
        if not isinstance(event, dict):
            raise AgenvoyError("invalid_arguments", "the event is no JSON object", "see the client's page on hooks")
        folder = folder_of(event)
        if folder is not None and os.path.isdir(folder):
            os.chdir(folder)
        run.service().hook(client, event)
    except (AgenvoyError, ValueError, OSError) as error:
        sys.stderr.write(f"agenvoy: this step is not recorded: {error}\n")
        return 1
    if spoken.answer:
        sys.stdout.write(spoken.answer + "\n")
    return 0
