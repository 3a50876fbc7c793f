"""The worker's side: takes jobs from a socket until its parent is gone.

A job names a function as `module:function`, called with a descriptor, the arguments and a function that
reports progress; it gives back a JSON-ready document and some bytes. Nothing here knows what the jobs are about.
"""

from __future__ import annotations

import fcntl
import os
import resource
import select
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module
from typing import Any

from agenvoy.errors import AgenvoyError
from agenvoy.workers.frames import receive, send

_GRACE_S = 5  # CPU seconds beyond a job's own limit: the parent kills first, this ends what no parent watches


def main(sock_fd: int, life_fd: int, memory: int) -> None:
    """Serve until the socket ends.

    Args:
        sock_fd: descriptor of the socket that brings jobs.
        life_fd: read end of a pipe whose other end only the parent holds.
        memory: most bytes of address space; 0: not limited here (the parent watches what is resident).
    """
    if memory:
        with suppress(ValueError, OSError):  # macOS has no such limit; the parent watches what is resident anyway
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a dump would put the document's text on the disk
    serve(socket.socket(fileno=sock_fd), life_fd)


def serve(sock: socket.socket, life_fd: int) -> None:
    """Take jobs until the socket ends.

    Args:
        sock: brings jobs, takes answers.
        life_fd: see `main`.
    """
    die_with_parent(life_fd)
    while True:
        try:
            job, _, fd = receive(sock)
        except (EOFError, OSError):
            return
        answer, blob = _done(job, fd, sock)
        send(sock, answer, blob)


def die_with_parent(life_fd: int) -> None:
    """End this process at once when the other end of the pipe closes, even in the middle of a library's C loop.

    On Linux the kernel itself sends SIGIO, whose default is to end the process; elsewhere a thread waits. (A death
    signal by `prctl` goes by the thread that started us, which in a server may end long before the process.)
    """
    if sys.platform.startswith("linux"):
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        fcntl.fcntl(life_fd, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(life_fd, fcntl.F_SETFL, fcntl.fcntl(life_fd, fcntl.F_GETFL) | os.O_ASYNC)
        if select.select([life_fd], [], [], 0)[0]:  # it was gone before we asked to be told
            os._exit(1)
    else:
        threading.Thread(target=lambda: (os.read(life_fd, 1), os._exit(1)), daemon=True).start()


def _done(job: dict[str, Any], fd: int | None, sock: socket.socket) -> tuple[dict[str, Any], bytes]:
    try:
        _limit_cpu(None if job["renew"] else float(job["seconds"]))
        module, _, function = str(job["call"]).partition(":")
        answer, blob = getattr(import_module(module), function)(
            fd, job["arguments"], lambda report: send(sock, {"progress": report})
        )
        return {"done": answer}, blob
    except AgenvoyError as error:
        return {"error": error.document()}, b""
    except MemoryError:
        return {"failed": "memory", "detail": "out of memory"}, b""
    except ImportError as error:
        return {"failed": "missing", "detail": str(error.name or error)}, b""
    except Exception as error:  # noqa: BLE001 - the border: whatever a parser raises is about that file only
        return {"failed": "crash", "detail": f"{type(error).__name__}: {error}"[:500]}, b""
    finally:
        if fd is not None:
            os.close(fd)


def _limit_cpu(seconds: float | None) -> None:
    """Set the limit anew for each job; None: nobody knows how much it may take."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    if seconds is None:
        resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = used.ru_utime + used.ru_stime
    # several threads of a media library may run at once, so the limit is in CPU seconds of all processors
    limit = int(spent + seconds * max(1, os.cpu_count() or 1)) + _GRACE_S
    resource.setrlimit(resource.RLIMIT_CPU, (limit, hard))
