"""demo: the main job on one screen."""

from __future__ import annotations

import os
import tempfile
from typing import Annotated

from agenvoy.cli.output import put, put_json
from agenvoy.cli.params import Arg
from agenvoy.cli.run import Run


def command(
    run: Run,
    dir: Annotated[str | None, Arg("Folder to work on a copy of.", metavar="[DIR]")] = None,
) -> int:
    """Show a task on a copy of a folder (agenvoy's own source by default), undone and proved undone by checksums."""
    import agenvoy
    from agenvoy.cli.demo import Demo
    from agenvoy.render.plain import visible

    def show(line: str) -> None:
        put("\n".join(visible(part) for part in line.split("\n")))

    source = os.path.abspath(dir) if dir else os.path.dirname(os.path.abspath(agenvoy.__file__))
    with tempfile.TemporaryDirectory(prefix="agenvoy-demo-") as scratch:
        quiet = run.options.json
        demo = Demo(source, os.path.realpath(scratch), say=(lambda line: None) if quiet else show)
        same = demo.run()
    if run.options.json:
        put_json({"ok": True, "tool": "demo", "label": "Demo", "task": None, "result": demo.facts, "text": ""})
    return 0 if same else 1
