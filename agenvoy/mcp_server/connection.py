"""One client's connection: whom it works for, in which folders, on which threads.

Two lanes: what changes something runs on one thread, in the order in which it was asked for; what only looks runs on
several, so that a slow search keeps no edit waiting. The event loop stays free to answer pings and to carry questions.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from agenvoy.config import Settings
from agenvoy.errors import AgenvoyError
from agenvoy.mcp_server.asking import confirm
from agenvoy.workspace.watch import Watch, watching

if TYPE_CHECKING:
    from agenvoy.workspace.service import Service

T = TypeVar("T")
Progress = Callable[[float, float | None, str], None]

SWITCH_S = 0.0005  # seconds between two looks at whether another thread wants to run
LOOKING = 6  # threads; several searches at once, and still processors left for the rest of the machine
OPEN = 8  # services kept open; each is a connection to the store, one for every task that calls name


@dataclass(slots=True)
class _Lease:
    """An open service and how many calls use it."""

    service: Service
    users: int = 0


class Connection:
    """The state of one connection.

    Args:
        settings: whose actor is the client's name from the first call on, unless one was given.
        lasting: it ends with its client, and the task that it began ends with it; False: it stands for all requests
            without a session of one actor.
    """

    def __init__(self, settings: Settings, *, lasting: bool = True) -> None:
        # A search holds the interpreter for a whole interval whenever an edit's thread comes back from the disk: with
        # Python's own 5 ms an edit takes 140 ms beside a search, with this 10 ms (5 ms alone).
        sys.setswitchinterval(SWITCH_S)
        self.settings = settings
        self.log_level = "warning"
        self.roots_asked = False
        self._lasting = lasting
        self._changing = ThreadPoolExecutor(1, thread_name_prefix="agenvoy-change")
        self._looking = ThreadPoolExecutor(LOOKING, thread_name_prefix="agenvoy-look")
        self._guard = threading.Lock()
        self._leases: dict[tuple[str | None, tuple[str, ...] | None], _Lease] = {}
        self._at_work: set[asyncio.Future[Any]] = set()
        self._former: str | None = None  # the actor's task that ran before this connection

    def named(self, client: str | None) -> None:
        """Take the client's name as the actor, unless an actor was given or calls have been served already."""
        if client and self.settings.actor == "cli" and not self._leases:
            self.settings = replace(self.settings, actor=client[:80])

    def narrowed(self, within: tuple[str, ...] | None) -> None:
        """From now on, only touch these folders (real paths inside the allowed ones); None: all allowed ones."""
        self.settings = replace(self.settings, within=within)

    async def work(self, job: Callable[[], T], *, changes: bool, progress: Progress) -> T:
        """Run a job on a thread; cancelling this stops it where it can be stopped with nothing half done.

        Args:
            job: what to do; it must not raise.
            changes: it takes its turn behind other changes; otherwise it runs beside them.
            progress: is told how far the job has come, from its thread.
        """
        stop = threading.Event()
        watch = Watch(stop.is_set, progress)

        def watched() -> T:
            with watching(watch):
                return job()

        lane = self._changing if changes else self._looking
        running = contextvars.copy_context().run
        future = asyncio.get_running_loop().run_in_executor(lane, running, watched)
        self._at_work.add(future)
        future.add_done_callback(self._at_work.discard)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            stop.set()
            future.cancel()  # where it has not begun, it never does
            raise

    @contextmanager
    def service(self, task: str | None, *, changes: bool) -> Iterator[Service]:
        """The service for calls of a task (None: the running one of workspace and actor), kept open for the next."""
        key = (task, self.settings.within)
        with self._guard:
            lease = self._leases.pop(key, None)
            if lease is None:
                from agenvoy.workspace.service import Service  # late: a server answers before it needs a store

                settings = replace(self.settings, task=task) if task else self.settings
                lease = _Lease(Service(settings, confirm=confirm))
            self._leases[key] = lease  # the last in the order: the newest
            lease.users += 1
            self._close_idle(OPEN)
            if changes and task is None and self._former is None:
                self._former = _running(lease.service)
        try:
            yield lease.service
        finally:
            with self._guard:
                lease.users -= 1

    def _close_idle(self, keep: int) -> None:
        """Close the services that were not used for longest and are not in use, down to `keep`."""
        for key in [k for k, lease in self._leases.items() if not lease.users]:
            if len(self._leases) <= keep:
                return
            self._leases.pop(key).service.close()

    async def close(self) -> None:
        """Let changes at work come to their end, end the task that this connection began, and close the store."""
        while self._at_work:
            await asyncio.wait(self._at_work)
        await asyncio.get_running_loop().run_in_executor(self._changing, self._close)
        self._changing.shutdown(wait=False)
        self._looking.shutdown(wait=False)

    def _close(self) -> None:
        with self._guard:
            own = next((lease.service for (task, _), lease in self._leases.items() if task is None), None)
            if own is not None and self._former is not None and self._lasting and self.settings.task is None:
                task = _running(own)
                if task and task != self._former:
                    _end(own)
            self._close_idle(0)


def _running(service: Service) -> str:
    """Id of the caller's running task; empty where there is none, or no store that could tell."""
    try:
        task = service.session.running()
    except AgenvoyError:
        return ""  # a damaged store must not keep files from being read
    return "" if task is None or task.ended_at is not None else task.id


def _end(service: Service) -> None:
    try:
        service.end_task(summary="the connection ended")
    except AgenvoyError:
        return  # a store that cannot be written just then: the task ends when it has been idle for 12 hours
