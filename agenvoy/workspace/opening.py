"""The verb `open_file`: the system's own handler, without a shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from agenvoy.errors import AgenvoyError
from agenvoy.types import ConfirmRequest, Outcome
from agenvoy.workspace.session import Session

SECONDS = 10  # contract: at most 10 seconds
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def open_file(session: Session, target: str) -> Outcome:
    """See the contract, `open_file`; raises not_found, no_handler, timeout, confirmation_required."""
    label = f"Open({target})"
    if not target.strip() or "\0" in target:
        raise AgenvoyError("invalid_arguments", "the target is blank or holds a NUL", "name a file or a URL")
    if _URL.match(target) and not target.startswith("bytes:") and not _is_file(session, target):
        session.not_for_subagents("open_file")
        session.ask(ConfirmRequest("open_file", label, f"open {target}?"))
        _hand_over(target, target)
        return Outcome("open_file", label, {"target": target, "opened": True}, "", session.task_ref())
    place = session.jail.resolve(target)
    if not os.path.exists(place.real):
        raise AgenvoyError("not_found", f"{place.shown} does not exist", "list the folder with find_files")
    if session.settings.is_sensitive(target, place.real):
        session.ask(ConfirmRequest("open_file", label, f"open the sensitive file {place.shown}?", sensitive=True))
    _hand_over(place.real, place.shown)
    return Outcome("open_file", label, {"target": place.shown, "opened": True}, "", session.task_ref())


def _is_file(session: Session, target: str) -> bool:
    """A file may be named like a URL (`a:b`); where one is there it is meant."""
    try:
        return os.path.lexists(session.jail.resolve(target).real)
    except AgenvoyError:
        return False


def _hand_over(target: str, shown: str) -> None:
    if sys.platform == "win32":
        os.startfile(target)
        return
    program = "open" if sys.platform == "darwin" else "xdg-open"
    no_handler = AgenvoyError("no_handler", f"nothing on this system opens {shown}", "open it by hand")
    try:
        done = subprocess.run(
            [program, target],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
            start_new_session=True,
        )
    except FileNotFoundError:
        raise no_handler from None
    except subprocess.TimeoutExpired:
        raise AgenvoyError("timeout", f"the handler of {shown} did not answer in {SECONDS} s", "look at it") from None
    if done.returncode != 0:
        raise no_handler
