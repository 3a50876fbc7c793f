"""A child process with the caller's terminal: signals passed on, limits kept, and what it leaves running found."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

NOT_EXECUTABLE, NOT_FOUND, TIMED_OUT = 126, 127, 124  # as env(1) and timeout(1)
GRACE_S = 5.0  # seconds between the polite signal and the one that cannot be refused
_DRAIN_S = 0.5  # seconds for the last output after the command has ended; its children may hold the pipe for ever
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


@dataclass(frozen=True, slots=True)
class Limits:
    """What a command may take.

    Args:
        seconds: wall time; None: no limit.
        output: bytes of standard output and of standard error that are passed on, each; the rest is read and dropped.
            None: no limit, and the command has the caller's own terminal.
    """

    seconds: float | None = None
    output: int | None = None


@dataclass(slots=True)
class Ended:
    """How a command ended.

    Args:
        status: exit status as a shell would give it (128 + number where a signal ended it, 124 after the time limit).
        timed_out: whether the time limit ended it.
        dropped: bytes of output that were not passed on.
        left: `(pid, start time)` of the processes that it left running.
    """

    status: int
    timed_out: bool = False
    dropped: int = 0
    left: list[tuple[int, int]] = field(default_factory=list)


def spawn(argv: Sequence[str], environment: Mapping[str, str], cwd: str, limits: Limits) -> Ended:
    """Run a command to its end, or to the end of its time."""
    _adopt_orphans(True)
    others = set(_children(os.getpid()))
    piped = subprocess.PIPE if limits.output is not None else None
    signals = _Signals()
    try:
        child = subprocess.Popen(list(argv), env=dict(environment), cwd=cwd, stdout=piped, stderr=piped)
        signals.lead_to(child)
        pumps = _pumps(child, limits.output)
        ended = _wait(child, limits.seconds, others)
        deadline = time.monotonic() + _DRAIN_S
        for pump in pumps:
            pump.join(max(0.0, deadline - time.monotonic()))
        ended.dropped = sum(pump.dropped for pump in pumps)
        ended.left = [one for one in _children(os.getpid()) if one not in others]
    except FileNotFoundError:
        return Ended(NOT_FOUND)
    except OSError:
        return Ended(NOT_EXECUTABLE)
    finally:
        signals.restore()
        _adopt_orphans(False)
    return ended


class _Signals:
    """Passes signals on to the command, also those that come before it has started.

    The terminal sends its own (interrupt, quit) to the whole group: the command decides what they mean, and we wait for
    it. They are not ignored by the system's means, which the command would inherit.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._previous = {number: signal.signal(number, self._pass_on) for number in _PASSED_ON}
        self._previous |= {n: signal.signal(n, lambda *_: None) for n in (signal.SIGINT, signal.SIGQUIT)}

    def _pass_on(self, number: int, frame: object) -> None:
        if self._child is None:
            self._early.append(number)
        else:
            self._child.send_signal(number)

    def lead_to(self, child: subprocess.Popen[bytes]) -> None:
        """From now on this is who gets them."""
        self._child = child
        for number in self._early:
            child.send_signal(number)

    def restore(self) -> None:
        """The handlers are those from before again."""
        for number, handler in self._previous.items():
            signal.signal(number, handler)


def _wait(child: subprocess.Popen[bytes], seconds: float | None, others: set[tuple[int, int]]) -> Ended:
    try:
        status = child.wait(seconds)
    except subprocess.TimeoutExpired:
        _stop(child, others)
        return Ended(TIMED_OUT, timed_out=True)
    return Ended(status if status >= 0 else 128 - status)


def _stop(child: subprocess.Popen[bytes], others: set[tuple[int, int]]) -> None:
    """End a command with everything that it started: politely, then for good; `others` are our own children."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in _family(child.pid):
            _send(pid, number)
        try:
            child.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            continue
        for one in _children(os.getpid()):  # what has lost its parent by that
            if one not in others:
                _send(one[0], signal.SIGKILL)
                os.waitpid(one[0], 0)
        return
    child.wait()


def _send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return  # it ended by itself


def _family(pid: int) -> list[int]:
    """A process and its descendants."""
    found = [pid]
    for one in found:
        found += [child for child, _ in _children(one)]
    return found


class _Pump(threading.Thread):
    """Passes a pipe on up to a number of bytes, and goes on reading, so that the command never waits for it."""

    def __init__(self, source: BinaryIO, target: int, most: int) -> None:
        super().__init__(name="agenvoy-output", daemon=True)
        self._source, self._target, self._left = source, target, most
        self.dropped = 0

    def run(self) -> None:
        while block := os.read(self._source.fileno(), 64 * 1024):
            kept = block[: self._left]
            self._left -= len(kept)
            self.dropped += len(block) - len(kept)
            try:
                while kept:
                    kept = kept[os.write(self._target, kept) :]
            except BrokenPipeError:  # nobody reads any more: the command is to find out as it would without us
                self._source.close()
                return


def _pumps(child: subprocess.Popen[bytes], most: int | None) -> list[_Pump]:
    if most is None or child.stdout is None or child.stderr is None:
        return []
    pumps = [_Pump(child.stdout, 1, most), _Pump(child.stderr, 2, most)]  # type: ignore[arg-type]
    for pump in pumps:
        pump.start()
    return pumps


# ---- processes, as Linux tells of them; elsewhere nothing is known of what a command leaves running
def _adopt_orphans(on: bool) -> None:
    """Whether children of the command that lose their parent become ours, so that they can be found."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(on), 0, 0, 0)


def _children(pid: int) -> list[tuple[int, int]]:
    """`(pid, start time)` of the living children of a process."""
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        facts = _facts(int(name)) if name.isdigit() else None
        if facts is not None and facts[0] == pid:
            found.append((int(name), facts[1]))
    return found


def _facts(pid: int) -> tuple[int, int] | None:
    """`(parent, start time in clock ticks)` of a process that lives (proc(5), /proc/pid/stat); None where none does."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:  # it has ended meanwhile
        return None
    return None if not fields or fields[0] in (b"Z", b"X") else (int(fields[1]), int(fields[19]))


def is_running(pid: int, started: int) -> bool:
    """Whether that very process still lives; its number may have been given to another one since."""
    facts = _facts(pid)
    return facts is not None and facts[1] == started
