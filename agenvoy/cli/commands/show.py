"""show: what a file was in one version."""

from __future__ import annotations

import sys
from typing import Annotated, Any

from agenvoy.cli.output import put, put_raw, style_of
from agenvoy.cli.params import Arg
from agenvoy.cli.run import Run
from agenvoy.render.terminal import text_for_people


def command(run: Run, version: Annotated[int, Arg("A version number from `agenvoy history`.")]) -> int:
    """Show a file as it was in a version; in a pipe, exactly its text."""

    def show(result: Any) -> None:
        content = result.get("content")
        if isinstance(content, str) and not sys.stdout.isatty():
            put_raw(content)
        else:
            put(text_for_people("show", result, {}, style_of(sys.stdout)))

    return run.finish("show", {"version": version}, lambda service: service.show(version), show=show)
