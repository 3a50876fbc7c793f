"""Several workers on one large job, each given a part at a time; the caller works beside them."""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from contextlib import suppress
from typing import Any

from agenvoy.workers.child import serve
from agenvoy.workers.frames import receive, send
from agenvoy.workers.pool import IDLE_S, Limits, Worker

_LIMITS = Limits(memory=0, address=0, seconds=0.0)  # own code on files it reads in bounded pieces


class _Forked:
    """A worker that is a copy of this process: it needs no time to come up.

    Only where this process has a single thread (a command's): a lock that another thread holds would stay locked in
    the copy for ever. It ends when its socket does, and by the life pipe like any worker.

    Args:
        others: workers made before; the copy closes its ends of their sockets and pipes.
    """

    def __init__(self, others: list[Worker | _Forked]) -> None:
        self.sock, theirs = socket.socketpair()
        life_read, self.life = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                for other in others:
                    other.sock.close()
                    os.close(other.life)
                self.sock.close()
                os.close(self.life)
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # ^C is for the parent to handle
                with suppress(Exception):  # the parent does the part again that brings no answer
                    serve(theirs, life_read)
            finally:
                os._exit(0)  # nothing of the copied process is flushed or closed
        theirs.close()
        os.close(life_read)

    def end(self) -> None:
        """Kill it."""
        os.close(self.life)
        self.sock.close()
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


class Crew:
    """Workers of one process that do parts of the same kind of job, kept warm for the next job.

    One job at a time has the crew: `take` says whether it is free.

    Args:
        call: `module:function`, see `child`.
        most: workers at most.
        idle_s: seconds of rest after which they are ended.
    """

    def __init__(self, call: str, most: int, idle_s: float = IDLE_S) -> None:
        self.call = call
        self.most = most
        self.idle_s = idle_s
        self._workers: list[Worker | _Forked] = []
        self._busy: dict[int, tuple[Worker | _Forked, Any]] = {}
        self._taken = threading.Lock()
        self._alarm: threading.Timer | None = None
        self._owner = os.getpid()

    def take(self) -> bool:
        """Have the crew for one job; False where another thread has it."""
        if not self._taken.acquire(blocking=False):
            return False
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        if self._owner != os.getpid():  # after a fork the workers are the other process's
            self._workers, self._busy, self._owner = [], {}, os.getpid()
        return True

    def release(self) -> None:
        """Give the crew back; workers that are still at work are ended."""
        for worker, _ in list(self._busy.values()):
            self._lose(worker)
        if self._workers:
            self._alarm = threading.Timer(self.idle_s, self._end_rested)
            self._alarm.daemon = True
            self._alarm.start()
        self._taken.release()

    def _end_rested(self) -> None:
        if self._taken.acquire(blocking=False):
            try:
                self.close()
            finally:
                self._taken.release()

    def warm(self) -> bool:
        """Whether any worker has been started."""
        return bool(self._workers)

    def hire(self) -> None:
        """Start all workers that are not there; they take parts at once and begin when they are up."""
        alone = threading.active_count() == 1 and hasattr(os, "fork")
        while len(self._workers) < self.most:
            self._workers.append(_Forked(self._workers) if alone else Worker(_LIMITS))

    def free(self) -> list[Worker | _Forked]:
        """Workers without a part."""
        return [worker for worker in self._workers if worker.sock.fileno() not in self._busy]

    def give(self, worker: Worker | _Forked, arguments: dict[str, Any], part: Any) -> bool:
        """Give a worker a part; False where it has died.

        Args:
            worker: one of `free`.
            arguments: JSON-ready, for the function.
            part: what `answers` gives back beside the answer.
        """
        try:
            send(worker.sock, {"call": self.call, "arguments": arguments, "seconds": 0, "renew": True})
        except OSError:
            self._lose(worker)
            return False
        self._busy[worker.sock.fileno()] = (worker, part)
        return True

    @property
    def at_work(self) -> list[Any]:
        """The parts that workers have."""
        return [part for _, part in self._busy.values()]

    def answers(self, wait_s: float) -> list[tuple[Any, dict[str, Any] | None]]:
        """Pairs of part and answer that have come; None for the answer of a worker that failed or died.

        Args:
            wait_s: seconds to wait for the first.
        """
        if not self._busy:
            return []
        ready, _, _ = select.select(list(self._busy), [], [], wait_s)
        found: list[tuple[Any, dict[str, Any] | None]] = []
        for number in ready:
            worker, part = self._busy.pop(number)
            try:
                document, _, _ = receive(worker.sock)
            except (OSError, EOFError):
                self._lose(worker)
                document = {}
            answer = document.get("done")
            found.append((part, answer if isinstance(answer, dict) else None))
        return found

    def _lose(self, worker: Worker | _Forked) -> None:
        self._busy.pop(worker.sock.fileno(), None)
        self._workers.remove(worker)
        worker.end()

    def pids(self) -> list[int]:
        """Process ids of the workers."""
        return [worker.pid for worker in self._workers]

    def close(self) -> None:
        """End all workers."""
        for worker in list(self._workers):
            self._lose(worker)


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
