"""`python -m agenvoy` and the console script."""

from __future__ import annotations

import sys

from agenvoy.cli.entry import run


def main() -> int:
    """Run the command line of this process; gives back its exit status."""
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
