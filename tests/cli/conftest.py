"""A workspace and a home of one's own, and the command line run in this process."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agenvoy.cli.entry import run


@dataclass
class Ended:
    """What a command left: exit status, standard output, standard error."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Standard output as the one JSON document that it must be."""
        found: dict[str, Any] = json.loads(self.out)
        return found


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty workspace that is the working directory; home and HOME lie beside it."""
    folder = tmp_path / "root"
    folder.mkdir()
    monkeypatch.setenv("AGENVOY_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("AGENVOY_ROOT", "AGENVOY_TASK", "AGENVOY_ACTOR", "AGENVOY_SUBAGENT", "AGENVOY_ALLOW"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AGENVOY_ROOT", str(folder))
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def agenvoy(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Ended]:
    """Runs a command line; `stdin` is its standard input."""

    def agenvoy(*argv: str, stdin: str | bytes = "") -> Ended:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"))
        capsys.readouterr()
        code = run(list(argv))
        said = capsys.readouterr()
        return Ended(code, said.out, said.err)

    return agenvoy
