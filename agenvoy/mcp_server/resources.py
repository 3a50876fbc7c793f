"""History as resources: `agenvoy://task/ID`, `agenvoy://version/N`.

The rule for sensitive files holds here too: the verbs behind these give sizes and hashes only.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError

from agenvoy.mcp_server.connection import Connection
from agenvoy.surfaces.answers import Answer, answer
from agenvoy.types import Outcome

if TYPE_CHECKING:
    from agenvoy.workspace.service import Service

SCHEME = "agenvoy://"
NOT_FOUND = -32002  # MCP's own code for a resource that is not there
_LISTED = 24  # tasks; older ones are read by their id


def templates() -> types.ListResourceTemplatesResult:
    """The shapes of the addresses."""
    task, version = f"{SCHEME}task/{{task_id}}", f"{SCHEME}version/{{version}}"
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                uri_template=task, name="task", title="A task", mime_type="application/json",
                description="What a task changed, with its diff. `current` and `last` are taken for an id.",
            ),
            types.ResourceTemplate(
                uri_template=version, name="version", title="A version of a file", mime_type="application/json",
                description="One recorded state of one file: when, by whom, for what, and its text.",
            ),
        ]
    )  # fmt: skip


async def listed(connection: Connection) -> types.ListResourcesResult:
    """The newest tasks."""
    done = await _look(connection, "list_tasks", lambda service: service.list_tasks(_LISTED))
    rows = done.document["result"]["rows"] if done.ok else []
    return types.ListResourcesResult(
        resources=[
            types.Resource(
                uri=f"{SCHEME}task/{row['task_id']}",
                name=f"task {row['task_id']}",
                title=row["objective"] or f"what {row['actor']} did",
                description=f"{row['files']} files, by {row['actor']}, begun {row['begun_at']}",
                mime_type="application/json",
            )
            for row in rows
        ]
    )


async def complete(connection: Connection, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Ids of tasks that begin so, for the task's address; nothing for anything else."""
    typed = params.argument.value
    ids = []
    if params.argument.name == "task_id":
        done = await _look(connection, "list_tasks", lambda service: service.list_tasks(_LISTED))
        rows = done.document["result"]["rows"] if done.ok else []
        ids = [name for name in ("current", "last", *(row["task_id"] for row in rows)) if name.startswith(typed)]
    return types.CompleteResult(completion=types.Completion(values=ids, total=len(ids), has_more=False))


async def read(connection: Connection, uri: str) -> types.ReadResourceResult:
    """One resource; raises an MCP error for an address that leads to nothing."""
    kind, _, name = uri.removeprefix(SCHEME).partition("/")
    name = unquote(name)
    if not uri.startswith(SCHEME) or kind not in ("task", "version") or not name:
        raise MCPError(NOT_FOUND, f"there is no resource {uri[:200]}", {"uri": uri[:200]})
    if kind == "task":
        shown = _result(uri, await _look(connection, "task_show", lambda service: service.task_show(name)))
        diff = await _look(connection, "diff", lambda service: service.diff(task_id=shown["task_id"]))
        texts = [entry["diff"] for entry in diff.document["result"]["diffs"]] if diff.ok else []
        return _contents(uri, shown, "text/x-diff", "\n".join(texts))
    if not name.isdecimal() or len(name) > 18:  # SQLite's integers have 18 safe digits
        raise MCPError(NOT_FOUND, f"a version is a whole number: {uri[:200]}", {"uri": uri[:200]})
    shown = _result(uri, await _look(connection, "show", lambda service: service.show(int(name))))
    return _contents(uri, shown, "text/plain", shown.pop("content", None))


def _contents(uri: str, shown: dict[str, Any], mime: str, text: str | None) -> types.ReadResourceResult:
    """The facts as JSON, and the text behind them where there is one."""
    facts = json.dumps(shown, ensure_ascii=False, indent=1)
    found: list[types.TextResourceContents | types.BlobResourceContents] = [
        types.TextResourceContents(uri=uri, mime_type="application/json", text=facts)
    ]
    if text:
        found.append(types.TextResourceContents(uri=uri, mime_type=mime, text=text))
    return types.ReadResourceResult(contents=found)


def _result(uri: str, done: Answer) -> dict[str, Any]:
    if done.ok:
        return dict(done.document["result"])
    error = done.document["error"]
    raise MCPError(NOT_FOUND, error["message"], {"uri": uri[:200], "code": error["code"], "hint": error["hint"]})


async def _look(connection: Connection, tool: str, verb: Callable[[Service], Outcome]) -> Answer:
    """Carry out a verb that only looks."""

    def asked() -> Outcome:
        with connection.service(None, changes=False) as service:
            return verb(service)

    def job() -> Answer:
        return answer(tool, {}, asked, home=connection.settings.home)

    return await connection.work(job, changes=False, progress=lambda done, total, message: None)
