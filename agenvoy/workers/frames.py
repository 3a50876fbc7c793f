"""How parent and worker talk: a JSON document and some bytes a frame, over a socket; a job brings a descriptor along.

JSON and not pickle, because what a worker says may be what a hostile file made of it.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any

_HEAD = struct.Struct(">II")  # bytes of the JSON document, bytes of what follows it
MOST = 256 * 1024 * 1024  # bytes of one frame's part; the largest answer is the text of a whole document


def send(sock: socket.socket, document: dict[str, Any], blob: bytes = b"", fd: int | None = None) -> None:
    """Send one frame.

    Args:
        sock: a stream socket.
        document: JSON-ready; lone surrogates in it survive.
        blob: raw bytes, such as an image.
        fd: a descriptor for the other side, which gets its own of the same open file.
    """
    body = json.dumps(document).encode("ascii")
    head = _HEAD.pack(len(body), len(blob))
    if fd is None:
        sock.sendall(head)
    else:
        socket.send_fds(sock, [head], [fd])
    sock.sendall(body)
    if blob:
        sock.sendall(blob)


def receive(sock: socket.socket) -> tuple[dict[str, Any], bytes, int | None]:
    """The next frame: document, bytes, descriptor.

    Raises:
        EOFError: the other side is gone, or said something that is no frame.
    """
    head, fds, _, _ = socket.recv_fds(sock, _HEAD.size, 1)
    for surplus in fds[1:]:
        os.close(surplus)
    head += _exactly(sock, _HEAD.size - len(head))
    length, rest = _HEAD.unpack(head)
    if max(length, rest) > MOST:
        raise EOFError("a frame beyond all measure")
    try:
        document = json.loads(_exactly(sock, length))
    except ValueError as error:
        raise EOFError("not a frame") from error
    if not isinstance(document, dict):
        raise EOFError("not a frame")
    return document, _exactly(sock, rest), fds[0] if fds else None


def _exactly(sock: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        piece = sock.recv(min(count - len(parts), 1 << 20))
        if not piece:
            raise EOFError("the other side is gone")
        parts += piece
    return bytes(parts)
