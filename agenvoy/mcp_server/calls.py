"""One tool call: on a thread, with progress, with questions to the user, stopped when the client cancels it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

import mcp_types as types

from agenvoy.errors import AgenvoyError
from agenvoy.mcp_server import logs
from agenvoy.mcp_server.asking import (
    ANSWERS,
    ROUNDS,
    Answers,
    Asked,
    Context,
    ask,
    can_ask,
    earlier,
    is_modern,
    key,
    question,
)
from agenvoy.mcp_server.connection import Connection, Progress
from agenvoy.mcp_server.results import tool_result
from agenvoy.surfaces.answers import Answer, refusal
from agenvoy.surfaces.dispatch import run
from agenvoy.surfaces.spec import Surface, surface

BETWEEN_S = 0.1  # seconds between two progress notifications: more would only fill the client's log


async def call_tool(
    ctx: Context, params: types.CallToolRequestParams, connection: Connection, where: str
) -> types.CallToolResult | types.InputRequiredResult:
    """Carry out a tool call; a refused or failed one is a result that says so.

    Args:
        ctx, params: the request.
        connection: whose it is.
        where: name of the surface whose tool it names.
    """
    answers: Answers | None = earlier(params) if can_ask(ctx) else None
    try:
        task = _task(params)
    except AgenvoyError as wrong:
        return tool_result(refusal(params.name, params.arguments, wrong))
    for _ in range(ROUNDS):
        done = await _once(ctx, params, connection, where, answers, task)
        if isinstance(done, Answer):
            await logs.told(ctx, connection, done)
            return tool_result(done)
        if answers is None:  # `confirm` asks only where there are answers to look in
            break
        if is_modern(ctx):
            return question(done.request, answers)
        given = await ask(ctx, done.request)
        if given is None:
            answers = None
        else:
            answers[key(done.request)] = given
    error = AgenvoyError("confirmation_required", f"{params.name} asks too many questions", "call it for fewer files")
    return tool_result(refusal(params.name, params.arguments, error))


async def _once(
    ctx: Context,
    params: types.CallToolRequestParams,
    connection: Connection,
    where: str,
    answers: Answers | None,
    task: str | None,
) -> Answer | Asked:
    """One attempt: the answer, or the question that has to be answered before."""
    arguments = params.arguments or {}
    tools = surface(where)
    changes = _changes(tools, params.name)
    settings = connection.settings

    def job() -> Answer | Asked:
        ANSWERS.set(answers)  # in this call's own context
        try:
            with connection.service(task, changes=changes) as service:
                return run(
                    lambda: service, params.name, arguments, where, subagent=settings.subagent, home=settings.home
                )
        except Asked as asked:
            return asked

    return await connection.work(job, changes=changes, progress=_progress(ctx))


def _changes(tools: Surface, name: str) -> bool:
    """Whether a tool takes its turn behind other changes (one that opens something for the user need not)."""
    return any(t.name == name and not t.read_only and not t.open_world for t in tools.tools)


def _task(params: types.CallToolRequestParams) -> str | None:
    """The task that a client names for this call in `_meta["agenvoy/task"]`.

    Raises:
        AgenvoyError: invalid_arguments where it is no text: the call must not count for another task unseen.
    """
    named: Any = dict(params.meta or {}).get("agenvoy/task")
    if named is not None and not (isinstance(named, str) and named):
        raise AgenvoyError(
            "invalid_arguments", '_meta["agenvoy/task"] is not the id of a task', "name a task that begin_task gave"
        )
    return named


def _progress(ctx: Context) -> Progress:
    """Tells the client how far a call has come, at most every `BETWEEN_S`, always rising."""
    if (ctx.meta or {}).get("progress_token") is None:
        return lambda done, total, message: None
    loop = asyncio.get_running_loop()
    last, furthest = time.monotonic(), -1.0

    def progress(done: float, total: float | None, message: str) -> None:
        nonlocal last, furthest
        now = time.monotonic()
        if now - last < BETWEEN_S or done <= furthest:
            return
        last, furthest = now, done
        told: Coroutine[Any, Any, None] = ctx.session.report_progress(done, total, message)
        asyncio.run_coroutine_threadsafe(told, loop)

    return progress
