"""open: show a file or link to the person at the screen."""

from __future__ import annotations

import re
from typing import Annotated, Any

from agenvoy.cli.params import Arg
from agenvoy.cli.run import Run

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # a scheme, RFC 3986; `bytes:` is a path


def command(run: Run, target: Annotated[str, Arg("A path or a URL.")]) -> int:
    """Open a file or URL with the system's default program."""
    link = _URL.match(target) and not target.startswith("bytes:")
    keywords: dict[str, Any] = {"target": target if link else run.path(target)}
    return run.finish("open_file", keywords, lambda service: service.open_file(**keywords))
