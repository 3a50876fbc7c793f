"""The four ways in give the same results, the same codes and the same texts for the same arguments."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from agenvoy import AgenvoyError, Workspace
from agenvoy.cli.entry import run
from agenvoy.configfile import load
from agenvoy.mcp_server.clients import Clients
from agenvoy.mcp_server.server import Offer


@dataclass(frozen=True)
class Step:
    """One call: the tool with its arguments, and the command line that means the same."""

    tool: str
    arguments: dict[str, Any]
    argv: tuple[str, ...]
    stdin: str = ""


def find(argv: tuple[str, ...], **arguments: Any) -> Step:
    return Step("find_files", arguments, argv)


def read(path: str) -> Step:
    return Step("read_files", {"files": [{"path": path}]}, ("read", path))


def write(path: str, text: str) -> Step:
    return Step("edit_file", {"path": path, "content": text}, ("write", path), text)


def patch(path: str, old: str, new: str) -> Step:
    targets = [{"old_string": old, "new_string": new}]
    return Step("edit_file", {"path": path, "targets": targets}, ("edit", path, "--old", old, "--new", new))


def remove(path: str) -> Step:
    return Step("remove_file", {"path": path}, ("remove", path))


def restore(**arguments: Any) -> Step:
    names = {"version": "--version", "task_id": "--task"}
    argv = [word for name, flag in names.items() if name in arguments for word in (flag, str(arguments[name]))]
    return Step("restore_file", arguments, ("restore", *argv, *(["--dry-run"] if arguments.get("dry_run") else [])))


BEHAVIOURS: dict[str, list[Step]] = {
    "a file is written, read, patched": [write("f", "a\nb\n"), read("f"), patch("f", "b", "c"), read("f")],
    "what was not read is not changed": [write("seen", "x\n"), write("old", "new\n"), patch("old", "x", "y")],
    "an anchor must be there, once": [read("twice"), patch("twice", "zzz", "y"), patch("twice", "x", "y")],
    "no change, empty, placeholder": [read("old"), patch("old", "old", "old"), write("old", "")],
    "removed and put back": [write("f", "a\n"), remove("f"), read("f"), restore(version=1), read("f")],
    "what is not there": [read("missing"), remove("missing"), restore(version=99), restore(task_id="zz")],
    "bounds": [read("/etc/hostname"), read("../x"), write(".git/config", "x"), remove("."), read("")],
    "folders and binaries": [read("sub"), remove("sub"), read("binary"), write("sub", "x")],
    "a sensitive file is not shown unasked": [read(".env")],
    "listing and searching": [
        find(("list",), mode="list", queries=[{}]),
        find(("list", "nowhere"), mode="list", queries=[{"dir": "nowhere"}]),
        find(("glob", "*.txt"), mode="glob", queries=[{"pattern": "*.txt"}]),
        find(("glob", "*"), mode="glob", queries=[{"pattern": "*"}]),
        find(("search", "x"), mode="search", output="content", queries=[{"pattern": "x"}]),
        find(("search", "(?=x)"), mode="search", queries=[{"pattern": "(?=x)"}]),
    ],
    "a task is taken back": [
        Step("begin_task", {"objective": "try"}, ("task", "begin", "try")),
        write("f", "a\n"),
        read("old"),
        write("old", "other\n"),
        restore(task_id="current", dry_run=True),
        restore(task_id="current"),
        Step("workspace_status", {}, ("status",)),
        Step("list_tasks", {}, ("task", "list")),
        Step("end_task", {}, ("task", "end")),
        Step("end_task", {}, ("task", "end")),
        Step("file_history", {}, ("history",)),
        Step("file_history", {"path": "old"}, ("history", "old")),
    ],
    "moving": [
        Step("move_file", {"path": "old", "to": "new"}, ("move", "old", "new")),
        Step("move_file", {"path": "new", "to": "twice"}, ("move", "new", "twice")),
        Step("move_file", {"path": "gone", "to": "x"}, ("move", "gone", "x")),
    ],
}


def fill(root: Path) -> None:
    texts = {"old": "old\n", "twice": "x\nx\n", ".env": "KEY=1\n", "sub/a.txt": "x\n", "b.txt": "y\n"}
    for name, text in texts.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
        os.utime(root / name, (1e9, 1e9))
    (root / "binary").write_bytes(b"\0\1\2")
    (root / ".git").mkdir()


class Place:
    """A workspace filled as every other one, and the four ways into it."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.monkeypatch, self.capsys = folder, monkeypatch, capsys
        self.root = folder / "root"
        self.root.mkdir(parents=True)
        fill(self.root)
        self.env = {"HOME": str(folder), "AGENVOY_HOME": str(folder / "home"), "AGENVOY_ROOT": str(self.root)}
        for name, value in {**self.env, "AGENVOY_ACTOR": "same"}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(self.root)

    def command(self, argv: list[str], stdin: str) -> Any:
        self.monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
        self.capsys.readouterr()
        run(argv)
        return json.loads(self.capsys.readouterr().out)

    def cli(self, steps: list[Step]) -> list[Any]:
        return [self.command([*step.argv, "--json", "--yes"], step.stdin) for step in steps]

    def call(self, steps: list[Step]) -> list[Any]:
        return [self.command(["--yes", "call", s.tool, json.dumps(s.arguments)], "") for s in steps]

    def mcp(self, steps: list[Step]) -> list[Any]:
        settings = load(self.env, str(self.root), actor="same", yes=True).settings

        async def drive() -> list[Any]:
            clients = Clients(settings, single=True)
            async with Client(Offer(settings, ["native"], clients).server(), mode="legacy") as client:
                done = [await client.call_tool(step.tool, step.arguments) for step in steps]
            await clients.close()
            return done

        return [
            {**({} if done.is_error else {"ok": True, "result": done.structured_content}),
             **(done.structured_content if done.is_error else {}), "text": done.content[0].text}
            for done in asyncio.run(drive())
        ]  # fmt: skip

    def python(self, steps: list[Step]) -> list[Any]:
        found = []
        with Workspace.open(self.root, home=self.folder / "home", actor="same") as ws:
            for step in steps:
                try:
                    done = getattr(ws, step.tool)(**step.arguments)
                    found.append({"ok": True, "result": done.model_dump(by_alias=True, exclude_unset=True)})
                except AgenvoyError as error:
                    found.append({"ok": False, "error": error.document()})
        return found

    def plain(self, document: Any) -> Any:
        """Without what differs from run to run: ids, times, places."""
        text = json.dumps(document).replace(str(self.folder), "PLACE")
        text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?[^\"\\ ]*", "TIME", text)
        text = re.sub(r"\b[0-9a-z]{12}\b", "TASK", re.sub(r"\b(?:[0-9a-f]{16}|[0-9a-f]{32,64})\b", "SHA", text))
        return json.loads(text)


@pytest.mark.parametrize("name", list(BEHAVIOURS))
def test_the_four_ways_agree(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found: dict[str, list[Any]] = {}
    ways: list[Callable[[Place, list[Step]], list[Any]]] = [Place.call, Place.cli, Place.mcp, Place.python]
    for way in ways:
        place = Place(tmp_path / way.__name__, monkeypatch, capsys)
        found[way.__name__] = [place.plain(document) for document in way(place, BEHAVIOURS[name])]
    for number, (call, cli, mcp, python) in enumerate(zip(*found.values(), strict=True)):
        step = BEHAVIOURS[name][number]
        for other in (cli, mcp, python):
            for member in ("ok", "result", "error"):
                assert other.get(member) == call.get(member), (step, member)
        assert mcp["text"] == call["text"] and cli.get("text", call["text"]) == call["text"], step
