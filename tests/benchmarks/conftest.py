"""Benchmarks print their figures as ratios, with what was measured against what."""

from __future__ import annotations

from collections.abc import Callable

import pytest


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Prints a line although the output is captured."""

    def line(text: str) -> None:
        with capsys.disabled():
            print(f"\n{text}", end="")

    return line
