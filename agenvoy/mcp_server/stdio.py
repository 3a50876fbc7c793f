"""Standard input and output as the SDK's message streams, for clients that are not always right.

The SDK's own stdio transport decodes with `errors="replace"` and drops what it cannot parse. Here bytes that are not
UTF-8 would end up as U+FFFD in somebody's file, and a client would wait for ever for the answer to a broken message.
So lines are parsed as bytes, and each one that is no message is answered with JSON-RPC's own error. The loop itself
reads and writes what cannot block; threads do the rest.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import select
import termios
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import BinaryIO

import anyio
import anyio.to_thread
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from agenvoy.disk.names import is_utf8

LONGEST = 256 * 1024 * 1024
"""Bytes of one message; a longer one is skipped and refused. Five times what a client may sensibly write at once."""
_AHEAD = 16  # messages read ahead of the loop, so that a client that floods is slowed down instead of stored
_SETTLE_S = 10  # seconds for calls that were made before the client closed its end
_LAST_S = 2  # seconds for the last answers; a client that does not read them gets none

Found = SessionMessage | types.JSONRPCError | None
Reader = MemoryObjectReceiveStream[SessionMessage | Exception]
Writer = MemoryObjectSendStream[SessionMessage]


@contextmanager
def _wire() -> Iterator[tuple[int, int]]:
    """Private duplicates of descriptors 0 and 1; the public ones lead to nowhere and to standard error meanwhile.

    A child process, or a library that prints, can so neither eat the client's messages nor garble the answers.
    """
    reading, writing = os.dup(0), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    try:
        yield reading, writing
    finally:
        os.dup2(writing, 1)
        os.close(writing)
        os.dup2(reading, 0)  # `reading` stays open: the reading thread may still wait on it


def parse(line: bytes) -> SessionMessage | types.JSONRPCError:
    """One line as a message, or the error that answers it (JSON-RPC 2.0, section 5.1)."""
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except (ValueError, RecursionError):
        message = None  # below it is told apart what is wrong with it
    # a request whose id is no string or integer passes as a notification, and its sender would wait for ever
    if message is not None and not (isinstance(message, types.JSONRPCNotification) and _has_id(line)):
        return SessionMessage(message)
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return _refusal(None, types.PARSE_ERROR, "the message is not JSON in UTF-8, or is nested too deeply")
    asked = found.get("id") if isinstance(found, dict) else None  # a request is told by its id, so that nobody waits
    number = asked if isinstance(asked, str | int) and not isinstance(asked, bool) and is_utf8(str(asked)) else None
    said = (
        "the message is no JSON-RPC 2.0 request, notification or answer, has an id that is neither a string nor an"
        " integer, or holds half of a surrogate pair"
    )
    return _refusal(number, types.INVALID_REQUEST, said)


def _has_id(line: bytes) -> bool:
    return b'"id"' in line and "id" in json.loads(line)


def _refusal(number: str | int | None, code: int, message: str) -> types.JSONRPCError:
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=types.ErrorData(code=code, message=message))


_TOO_LONG = _refusal(None, types.INVALID_REQUEST, "the message is too long")


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines of a stream; None for one that is too long, after skipping it."""
    while line := stream.readline(LONGEST):
        if line.endswith(b"\n") or len(line) < LONGEST:
            if line.strip():
                yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(LONGEST)
        yield None


def _read(fd: int, loop: asyncio.AbstractEventLoop, pipe: _Pipe) -> None:
    """The reading thread, where the loop cannot wait for the descriptor: every line to it, then None for the end."""
    stream = os.fdopen(fd, "rb", buffering=1024 * 1024, closefd=False)
    try:
        for line in _lines(stream):
            pipe.room.acquire()
            loop.call_soon_threadsafe(pipe.found.put_nowait, _TOO_LONG if line is None else parse(line))
        loop.call_soon_threadsafe(pipe.found.put_nowait, None)
    except (OSError, RuntimeError):
        return  # the wire broke, or the loop has ended: nobody waits for what is left


class _Ready:
    """Reads on the loop itself what a pipe or socket has ready: two changes of threads less for every message."""

    def __init__(self, fd: int, loop: asyncio.AbstractEventLoop, pipe: _Pipe) -> None:
        self._fd, self._loop, self._pipe = fd, loop, pipe
        self._parts: list[bytes] = []
        self._held = 0
        self._skipping = False
        self._ended = False
        self._go_on()

    def stop(self) -> None:
        """Read no more."""
        self._ended = True
        self._loop.remove_reader(self._fd)

    def _go_on(self) -> None:
        if not self._ended:
            self._loop.add_reader(self._fd, self._on_ready)

    def _on_ready(self) -> None:
        if self._pipe.found.qsize() > _AHEAD:
            self._loop.remove_reader(self._fd)  # the client floods: it waits until what it sent was taken
            self._loop.call_later(0.01, self._go_on)
            return
        try:
            data = os.read(self._fd, 1024 * 1024)
        except OSError:
            data = b""
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._end_line(line)
        self._held += len(rest)
        if self._held > LONGEST:
            self._skipping, self._held = True, 0
            self._parts.clear()
        if rest and not self._skipping:
            self._parts.append(rest)
        if not data:
            self._end_line(b"")
            self._pipe.found.put_nowait(None)
            self.stop()

    def _end_line(self, tail: bytes) -> None:
        line = b"".join([*self._parts, tail])
        self._parts.clear()
        self._held = 0
        if self._skipping:
            self._pipe.found.put_nowait(_TOO_LONG)
        elif line.strip():
            self._pipe.found.put_nowait(parse(line))
        self._skipping = False


class _Pipe:
    """What goes between the wire and the session, and which requests have no answer yet."""

    def __init__(self, writing: int) -> None:
        self.found: asyncio.Queue[Found] = asyncio.Queue()
        self.room = threading.Semaphore(_AHEAD)
        self._writing = writing
        self._open: set[str | int] = set()  # ids of the client's requests
        self._asked = 0  # questions of ours that wait for the client's answer

    async def deliver(self, messages: MemoryObjectSendStream[SessionMessage | Exception], answers: Writer) -> None:
        """Messages to the session, errors back to the client, until the client closes its end."""
        async with messages, answers:
            while (each := await self.found.get()) is not None:
                self.room.release()
                try:
                    if isinstance(each, types.JSONRPCError):
                        await answers.send(SessionMessage(each))
                        continue
                    self._note(each.message)
                    await messages.send(each)
                except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                    return  # the session has ended
            await self._settle()

    def _note(self, message: types.JSONRPCMessage) -> None:
        """Keep count: what waits for an answer, and what does so no longer."""
        if isinstance(message, types.JSONRPCRequest):
            self._open.add(message.id)
        elif isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._asked -= 1
        elif message.method == "notifications/cancelled":
            self._open.discard((message.params or {}).get("requestId", ""))

    async def _settle(self) -> None:
        """Let calls that were made before the end come to theirs, while somebody is there to read the answers."""
        poll = select.poll()
        poll.register(self._writing, 0)  # POLLERR and POLLHUP are always told
        with anyio.move_on_after(_SETTLE_S):
            while self._open and self._asked <= 0 and not poll.poll(0):
                await anyio.sleep(0.01)

    async def write(self, messages: MemoryObjectReceiveStream[SessionMessage]) -> None:
        """Every message to the client; ends quietly where it has gone."""
        async with messages:
            async for each in messages:
                message = each.message
                data = memoryview(_spelled(message))
                try:
                    if _fits(self._writing, len(data)):
                        _write_all(self._writing, data)
                    else:
                        await anyio.to_thread.run_sync(_write_all, self._writing, data, abandon_on_cancel=True)
                except OSError:
                    return
                if isinstance(message, types.JSONRPCRequest):
                    self._asked += 1
                elif isinstance(message, types.JSONRPCResponse | types.JSONRPCError) and message.id is not None:
                    self._open.discard(message.id)


def _spelled(message: types.JSONRPCMessage) -> bytes:
    """A message as one line; half of a surrogate pair, which no UTF-8 can hold, as JSON's escape."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8") + b"\n"
    except ValueError:  # pydantic's error for it is one too
        return json.dumps(message.model_dump(mode="python", by_alias=True, exclude_unset=True)).encode() + b"\n"


def _fits(fd: int, size: int) -> bool:
    """Whether a pipe is empty and large enough, so that writing cannot block and needs no thread (Linux tells)."""
    try:
        waiting = fcntl.ioctl(fd, termios.FIONREAD, b"\0\0\0\0")
        return waiting == b"\0\0\0\0" and size <= fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ)
    except (OSError, AttributeError):  # no pipe, or another system
        return False


def _write_all(fd: int, data: memoryview) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _watched(fd: int, pipe: _Pipe) -> _Ready | None:
    """Begin to read; None where a thread of its own does it (files, which no loop can wait for)."""
    loop = asyncio.get_running_loop()
    try:
        return _Ready(fd, loop, pipe)
    except OSError:
        threading.Thread(target=_read, args=(fd, loop, pipe), name="stdin", daemon=True).start()
        return None


@asynccontextmanager
async def stdio() -> AsyncIterator[tuple[Reader, Writer]]:
    """The message streams of this process's standard input and output."""
    inbound, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    answers, outbound = anyio.create_memory_object_stream[SessionMessage](0)
    with _wire() as (reading, writing):
        pipe = _Pipe(writing)
        ready = _watched(reading, pipe)
        async with anyio.create_task_group() as writer, anyio.create_task_group() as delivering:
            writer.start_soon(pipe.write, outbound)
            delivering.start_soon(pipe.deliver, inbound, answers.clone())
            try:
                yield messages, answers
            finally:
                if ready is not None:
                    ready.stop()
                delivering.cancel_scope.cancel()
                await answers.aclose()
                writer.cancel_scope.deadline = anyio.current_time() + _LAST_S
