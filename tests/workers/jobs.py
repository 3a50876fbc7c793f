"""What the workers of these tests are asked to do, good and bad. (They find this module by the parent's path.)"""

from __future__ import annotations

import os
import time

from agenvoy.errors import AgenvoyError


def echo(fd, arguments, tell):
    tell({"at": 1})
    return {"pid": os.getpid(), "said": arguments, "read": os.pread(fd, 100, 0).decode()}, b"\0raw"


def die(fd, arguments, tell):
    os.abort()


def hang(fd, arguments, tell):
    while True:
        pass


def sleep(fd, arguments, tell):
    while True:
        time.sleep(60)


def hoard(fd, arguments, tell):
    held = []
    while True:
        held.append(bytearray(16 << 20))


def refuse(fd, arguments, tell):
    raise AgenvoyError("no_text", "nothing there", "look elsewhere", pages=3)


def fail(fd, arguments, tell):
    raise KeyError("an odd file")


def need(fd, arguments, tell):
    import no_such_library  # noqa: F401


def steps(fd, arguments, tell):
    for number in range(4):
        time.sleep(0.3)
        tell({"step": number})
    return {"steps": 4}, b""


def part(fd, arguments, tell):
    if arguments.get("die"):
        os.abort()
    while arguments.get("hang"):
        pass
    return {"number": arguments.get("number")}, b""
