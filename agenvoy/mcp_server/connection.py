"""One client's connection: the service it works with, on one thread, and whom to ask.

All work of a connection runs on one worker thread, in order: the event loop stays free to answer pings and carry the
user's confirmation back, and the store's connection is never shared by threads.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from agenvoy.config import Settings
from agenvoy.surfaces.answers import Answer
from agenvoy.surfaces.dispatch import run
from agenvoy.types import Answer as Reply
from agenvoy.types import ConfirmRequest
from agenvoy.workspace.service import Service

Elicit = Callable[[ConfirmRequest], Coroutine[Any, Any, Reply | None]]


class Connection:
    """The state of one connection.

    Args:
        settings: whose actor is the client's name from the first call on, unless one was given.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="agenvoy-mcp")
        self._services: dict[str | None, Service] = {}
        self._elicit: Elicit | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._former: set[str] | None = None  # tasks of this actor that ran before this connection

    def named(self, client: str | None) -> None:
        """Take the client's name as the actor, unless an actor was given or calls have been served already."""
        if client and self.settings.actor == "cli" and not self._services:
            self.settings = replace(self.settings, actor=client[:80])

    async def call(self, name: str, arguments: object, surface: str, task: str | None, elicit: Elicit) -> Answer:
        """Carry out one tool call on the worker thread.

        Args:
            name, arguments, surface: as `surfaces.dispatch` takes them.
            task: the task that this call belongs to, where the client names one.
            elicit: asks the user through the client.
        """
        self._loop = asyncio.get_running_loop()
        settings = self.settings

        def work() -> Answer:
            self._elicit = elicit
            opened = partial(self._service, task)
            return run(opened, name, arguments, surface, subagent=settings.subagent, home=settings.home)

        return await self._loop.run_in_executor(self._thread, work)

    def _service(self, task: str | None) -> Service:
        if self._former is None:
            with Service(self.settings) as first:
                self._former = self._running(first)
        if task not in self._services:
            settings = replace(self.settings, task=task) if task else self.settings
            self._services[task] = Service(settings, confirm=self._confirm)
        return self._services[task]

    def _confirm(self, request: ConfirmRequest) -> Reply | None:
        """Ask the user through the client; runs on the worker thread, the question on the event loop."""
        if self._elicit is None or self._loop is None:
            return None
        return asyncio.run_coroutine_threadsafe(self._elicit(request), self._loop).result()

    def _running(self, service: Service) -> set[str]:
        rows = service.list_tasks(limit=100).result["rows"]
        return {row["task_id"] for row in rows if row["running"] and row["actor"] == self.settings.actor}

    async def close(self) -> None:
        """End the task that this connection began, and close the store."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
        self._thread.shutdown()

    def _close(self) -> None:
        service = self._services.get(None)
        if service is not None and self._former is not None and self.settings.task is None:
            for task in self._running(service) - self._former:
                with Service(replace(self.settings, task=task)) as own:
                    own.end_task(summary="the connection ended")
        for each in self._services.values():
            each.close()
