"""The parent's side: processes kept warm between jobs, watched while they work, killed when they use too much."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from agenvoy.errors import CODES, AgenvoyError
from agenvoy.workers.frames import receive, send

Why = Literal["memory", "timeout", "crash", "missing"]
Tell = Callable[[dict[str, Any]], None]

_WATCH_S = 0.05  # seconds between two looks at a worker's memory
_KEEP_BYTES = 300 * 1024 * 1024  # a worker that has grown so far is not kept: its heap would never shrink again
IDLE_S = 600.0  # seconds after which a worker that has nothing to do ends
_START = (
    "import json,sys; sys.path[:0]=[p for p in json.loads(sys.argv[4]) if p not in sys.path];"
    "from agenvoy.workers.child import main; main(*map(int, sys.argv[1:4]))"
)


class WorkerFailed(Exception):
    """A job that ended without an answer.

    Args:
        why: memory, timeout, crash, or missing (a library that is not installed).
        detail: for a log or an error's text: the exception, the signal, the library's name.
    """

    def __init__(self, why: Why, detail: str) -> None:
        super().__init__(f"{why}: {detail}")
        self.why = why
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Limits:
    """What one worker may use.

    Args:
        memory: bytes resident; beyond it the worker is killed.
        address: bytes of address space, enforced by the kernel, so that no allocation outruns the watch; 0 where a
            library reserves far more than it uses.
        seconds: wall-clock time of one job.
    """

    memory: int
    address: int
    seconds: float


class Worker:
    """One process."""

    def __init__(self, limits: Limits) -> None:
        ours, theirs = socket.socketpair()
        life_read, self.life = os.pipe()
        command = [sys.executable, "-P", "-c", _START, str(theirs.fileno()), str(life_read), str(limits.address)]
        paths = json.dumps([os.path.abspath(p) for p in sys.path if p])
        self.process = subprocess.Popen(
            [*command, paths],
            pass_fds=(theirs.fileno(), life_read),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,  # ^C at the terminal is for the parent to handle
        )
        theirs.close()
        os.close(life_read)
        self.pid = self.process.pid
        self.sock = ours
        self.rested = 0.0  # since when it has had nothing to do

    def resident(self) -> int:
        """Bytes of memory in use; 0 where the system does not tell."""
        try:
            with open(f"/proc/{self.process.pid}/statm", "rb") as statm:
                return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, ValueError, IndexError):  # not Linux, or it has just ended
            return 0

    def end(self) -> str:
        """Kill it and say how it ended."""
        if self.process.poll() is None:
            self.process.kill()
        code = self.process.wait()
        self.sock.close()
        if self.life >= 0:
            os.close(self.life)
            self.life = -1
        if code >= 0:
            return f"exit status {code}"
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"


class Pool:
    """Workers of one kind.

    Args:
        limits: of each worker.
        most: jobs at once; further callers wait.
        idle_s: seconds after which a worker that has nothing to do is ended.
    """

    def __init__(self, limits: Limits, most: int = 2, idle_s: float = IDLE_S) -> None:
        self.limits = limits
        self.idle_s = idle_s
        self._alarm: threading.Timer | None = None
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._places = threading.BoundedSemaphore(most)
        self._owner = os.getpid()

    def run(
        self,
        call: str,
        fd: int,
        arguments: dict[str, Any],
        *,
        tell: Tell | None = None,
        seconds: float | None = None,
        memory: int | None = None,
        renew: bool = False,
        check: Callable[[], None] | None = None,
    ) -> tuple[dict[str, Any], bytes]:
        """Have a worker call a function.

        Args:
            call: `module:function`, see `child`.
            fd: an open file, handed over as it is: no path is opened a second time.
            arguments: JSON-ready.
            tell: is told of progress.
            seconds, memory: other limits for this job.
            check: is called often while the answer is waited for; what it raises ends the worker and comes through.
            renew: whether progress starts the time anew: for jobs whose length nobody knows.

        Returns:
            What the function gave back.

        Raises:
            WorkerFailed: see there.
            AgenvoyError: what the function raised.
        """
        allowed = Limits(memory or self.limits.memory, self.limits.address, seconds or self.limits.seconds)
        job = {"call": call, "arguments": arguments, "seconds": allowed.seconds, "renew": renew}
        with self._places:
            worker = self._handed(job, fd)
            keep = False
            try:
                answer, blob = _wait(worker, allowed, tell, renew, check)
                keep = answer.get("failed") != "memory" and worker.resident() < max(_KEEP_BYTES, allowed.memory // 2)
            except (OSError, EOFError):
                raise WorkerFailed("crash", worker.end()) from None
            finally:
                self._give_back(worker, keep)
        return _told(answer), blob

    def _handed(self, job: dict[str, Any], fd: int) -> Worker:
        """A worker that has taken the job; one that died while it rested (killed by the system) is replaced."""
        worker = self._take()
        try:
            send(worker.sock, job, fd=fd)
        except OSError:
            worker.end()
            worker = Worker(self.limits)
            send(worker.sock, job, fd=fd)
        return worker

    def _take(self) -> Worker:
        with self._lock:
            if self._owner != os.getpid():  # after a fork the workers are the other process's
                self._idle, self._owner, self._alarm = [], os.getpid(), None
            while self._idle:
                worker = self._idle.pop()
                if worker.process.poll() is None:
                    return worker
                worker.end()
        return Worker(self.limits)

    def _give_back(self, worker: Worker, keep: bool) -> None:
        if keep:
            with self._lock:
                worker.rested = time.monotonic()
                self._idle.append(worker)
                self._set_alarm()
        else:
            worker.end()

    def _set_alarm(self) -> None:
        """One timer at most, for the worker that rests longest; the lock is held."""
        if self._idle and self._alarm is None:
            wait = max(0.0, self._idle[0].rested + self.idle_s - time.monotonic())
            self._alarm = threading.Timer(wait, self._end_rested)
            self._alarm.daemon = True
            self._alarm.start()

    def _end_rested(self) -> None:
        """End the workers that had nothing to do for too long."""
        until = time.monotonic() - self.idle_s
        with self._lock:
            self._alarm = None
            ended = [worker for worker in self._idle if worker.rested <= until]
            self._idle = [worker for worker in self._idle if worker.rested > until]
            self._set_alarm()
        for worker in ended:
            worker.end()

    def pids(self) -> list[int]:
        """Process ids of the workers that wait for a job."""
        with self._lock:
            return [worker.process.pid for worker in self._idle]

    def close(self) -> None:
        """End all waiting workers."""
        with self._lock:
            idle, self._idle = self._idle, []
            if self._alarm is not None:
                self._alarm.cancel()
                self._alarm = None
        for worker in idle:
            worker.end()


def _wait(
    worker: Worker, allowed: Limits, tell: Tell | None, renew: bool, check: Callable[[], None] | None
) -> tuple[dict[str, Any], bytes]:
    """The answer; kills a worker that takes too long or too much."""
    deadline = time.monotonic() + allowed.seconds
    while True:
        ready, _, _ = select.select([worker.sock], [], [], _WATCH_S)
        if ready:
            worker.sock.settimeout(max(1.0, deadline - time.monotonic()))
            document, blob, _ = receive(worker.sock)
            if "progress" not in document:
                return document, blob
            if tell is not None and isinstance(document["progress"], dict):
                tell(document["progress"])
            if renew:
                deadline = time.monotonic() + allowed.seconds
        if check is not None:
            check()
        if time.monotonic() > deadline:
            worker.end()
            raise WorkerFailed("timeout", f"no answer within {allowed.seconds:g} s")
        if worker.resident() > allowed.memory:
            worker.end()
            raise WorkerFailed("memory", f"more than {allowed.memory >> 20} MiB")


def _told(answer: dict[str, Any]) -> dict[str, Any]:
    """A job's result, or its error raised again."""
    done = answer.get("done")
    if isinstance(done, dict):
        return done
    error = answer.get("error")
    if isinstance(error, dict) and error.get("code") in CODES:
        rest = {k: v for k, v in error.items() if k not in ("code", "message", "hint")}
        raise AgenvoyError(error["code"], str(error.get("message", "")), str(error.get("hint", "")), **rest)
    why = answer.get("failed")
    raise WorkerFailed(why if why in ("memory", "missing") else "crash", str(answer.get("detail", "no answer")))
