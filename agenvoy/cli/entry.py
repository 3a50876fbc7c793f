"""From the process to a command: what is run, and how an interruption or a closed pipe ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def run(argv: Sequence[str]) -> int:
    """Run a command line (without the program's name); gives back the exit status."""
    try:
        return _run(argv)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has gone (`| head`): not a failure. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(argv: Sequence[str]) -> int:
    if "_AGENVOY_COMPLETE" not in os.environ:
        if "call" in argv:
            from agenvoy.cli.calls import call, parse_line

            line = parse_line(argv)
            if line is not None:
                return call(line)
        from agenvoy.cli.direct import parse

        plain = parse(argv)
        if plain is not None:
            from agenvoy.cli.run import carry_out

            return carry_out(*plain)
    from agenvoy.cli.app import invoke

    return invoke(argv)
