"""Confirmations: a call that needs one is broken off, the user is asked, and the call is made again with the answer.

No thread waits and no lock is held while a person thinks, and the same way serves both eras of the protocol: up to
2025-11-25 the question goes to the client as `elicitation/create`; from 2026-07-28 on the call's answer is
`input_required`, and the client calls again with the user's answer.
"""

from __future__ import annotations

import hashlib
import json
from contextvars import ContextVar
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agenvoy.types import Answer, ConfirmRequest

Context = ServerRequestContext[Any, Any]
Answers = dict[str, Answer]

ROUNDS = 64
"""Questions of one call; each sensitive file of a reading is one."""
ANSWERS: ContextVar[Answers | None] = ContextVar("answers", default=None)
"""What the user has answered so far in this call; None: nobody can be asked."""

_MEANING: dict[str, Answer] = {"yes": "yes", "all in this task": "task"}


class Asked(BaseException):
    """A question must be put to the user first. (No `Exception`: nothing on the way may take it for a failure.)"""

    def __init__(self, request: ConfirmRequest) -> None:
        super().__init__(request.question)
        self.request = request


def key(request: ConfirmRequest) -> str:
    """A name for exactly this question: an answer to one question never answers another."""
    text = json.dumps([request.tool, request.label, request.question, request.sensitive])
    return "confirm-" + hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def confirm(request: ConfirmRequest) -> Answer | None:
    """The service's `confirm`: an answer given already, else `Asked`; None where nobody can be asked."""
    answers = ANSWERS.get()
    if answers is None:
        return None
    given = answers.get(key(request))
    if given is None:
        raise Asked(request)
    return given


def can_ask(ctx: Context) -> bool:
    """Whether the client can put a form to the user."""
    capabilities = ctx.session.client_capabilities
    asks = capabilities.elicitation if capabilities else None
    return asks is not None and (asks.form is not None or asks.url is None)  # `{}` means form


def is_modern(ctx: Context) -> bool:
    """Whether the client speaks a version in which servers send no requests of their own."""
    return ctx.protocol_version in MODERN_PROTOCOL_VERSIONS


def earlier(params: types.CallToolRequestParams) -> Answers:
    """The answers that a repeated call brings with it."""
    found: Answers = {}
    try:
        state = json.loads(params.request_state or "{}")
    except ValueError:
        state = {}
    if isinstance(state, dict):
        found |= {str(name): given for name, given in state.items() if given in ("yes", "task", "no")}
    for name, reply in (params.input_responses or {}).items():
        if isinstance(reply, types.ElicitResult):
            found[name] = _meaning(reply)
    return found


def question(request: ConfirmRequest, answers: Answers) -> types.InputRequiredResult:
    """The question as the answer of a call (2026-07-28)."""
    params = types.ElicitRequestFormParams(message=request.question, requested_schema=_schema(request))
    return types.InputRequiredResult(
        input_requests={key(request): types.ElicitRequest(params=params)}, request_state=json.dumps(answers)
    )


async def ask(ctx: Context, request: ConfirmRequest) -> Answer | None:
    """Ask through the client (up to 2025-11-25); None where it turns out that it cannot."""
    try:
        reply = await ctx.session.elicit_form(request.question, _schema(request), ctx.request_id)
    except MCPError:
        return None  # it said that it can and cannot, or it has no way back: the call then says what is missing
    given = _meaning(reply)
    return "yes" if given == "task" and request.sensitive else given


def _meaning(reply: types.ElicitResult) -> Answer:
    chosen = (reply.content or {}).get("answer") if reply.action == "accept" else None
    return _MEANING.get(chosen, "no") if isinstance(chosen, str) else "no"


def _schema(request: ConfirmRequest) -> dict[str, Any]:
    """Three answers; a sensitive file is asked for each time, so "all in this task" is not among them."""
    choices = ["yes", "no"] if request.sensitive else ["yes", "all in this task", "no"]
    answer = {"type": "string", "title": "Answer", "enum": choices}
    return {"type": "object", "properties": {"answer": answer}, "required": ["answer"]}
