"""agenvoy install: one entry in a client's configuration, and nothing else, there and back."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenvoy.cli.clients import jsonc
from agenvoy.cli.clients.known import CLIENTS

Agenvoy = Callable[..., Any]
NAMES = [known.name for known in CLIENTS]
COMMENTED = """{
  // the theme, which matters most
  "theme": "dark", /* really */
  "mcpServers": {
    "other": { "command": "x" } // keep me
  },
  "last": [1, 2,],
}
"""


@pytest.fixture(autouse=True)
def _no_places_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCODE_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def meaning(path: Path) -> dict[str, Any]:
    text = path.read_text()
    found: dict[str, Any] = tomllib.loads(text) if path.suffix == ".toml" else jsonc.parse(text).data
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scope", ["user", "project"])
def test_it_installs_twice_and_uninstalls_to_nothing(agenvoy: Agenvoy, root: Path, name: str, scope: str) -> None:
    done = agenvoy("install", name, "--scope", scope, "--json").document["result"]
    path = Path(done["path"])
    assert done["changed"] and "+" in done["diff"] and path.is_relative_to(root if scope == "project" else root.parent)
    (table,) = meaning(path).values()
    entry = table["agenvoy"]
    words = entry["command"] if name == "opencode" else [entry["command"], *entry["args"]]
    assert words[1:3] == ["-m", "agenvoy"] or words[0].endswith("agenvoy")
    assert agenvoy("install", name, "--scope", scope, "--json").document["result"]["changed"] is False
    assert agenvoy("install", name, "--scope", scope, "--uninstall", "--json").document["result"]["changed"]
    assert not path.exists()
    assert agenvoy("install", name, "--scope", scope, "--uninstall").code == 0


def test_what_is_installed_starts_a_server(agenvoy: Agenvoy, root: Path) -> None:
    agenvoy("install", "claude-code")
    entry = meaning(root.parent / ".claude.json")["mcpServers"]["agenvoy"]
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}) + "\n"
    argv = [entry["command"], *entry["args"]]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(argv, input=line, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "agenvoy" and entry["env"]["AGENVOY_HOME"]


def test_comments_order_and_other_entries_stay(agenvoy: Agenvoy, root: Path) -> None:
    path = root.parent / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(COMMENTED)
    done = agenvoy("install", "gemini", "--json").document["result"]
    assert Path(done["copy"]).read_text() == COMMENTED
    assert list(meaning(path)["mcpServers"]) == ["other", "agenvoy"] and "// keep me" in path.read_text()
    agenvoy("install", "gemini", "--uninstall")
    assert path.read_text() == COMMENTED


def test_a_toml_file_keeps_everything_else(agenvoy: Agenvoy, root: Path) -> None:
    path = root.parent / ".codex" / "config.toml"
    path.parent.mkdir()
    text = '# mine\nmodel = "x"\n\n[mcp_servers.other]  # theirs\ncommand = "y"\n'
    path.write_text(text)
    agenvoy("install", "codex")
    assert set(meaning(path)["mcp_servers"]) == {"other", "agenvoy"} and path.read_text().startswith(text)
    path.write_text(path.read_text() + "\n# after\n[tail]\nz = 1\n")
    agenvoy("install", "codex", "--subagent")
    assert "--subagent" in meaning(path)["mcp_servers"]["agenvoy"]["args"]
    agenvoy("install", "codex", "--uninstall")
    assert path.read_text() == text + "\n# after\n[tail]\nz = 1\n"


def test_the_users_own_empty_tables_do_not_keep_it_from_going(agenvoy: Agenvoy, root: Path) -> None:
    path = root.parent / ".codex/config.toml"
    path.parent.mkdir()
    path.write_text('model = "x"\n\n[tui]\n')
    assert agenvoy("install", "codex").code == 0
    assert agenvoy("install", "codex", "--uninstall").code == 0
    assert path.read_text() == 'model = "x"\n\n[tui]\n'


def test_a_file_that_is_none_is_refused(agenvoy: Agenvoy, root: Path) -> None:
    path = root.parent / ".gemini" / "settings.json"
    path.parent.mkdir()
    os.mkfifo(path)
    assert agenvoy("install", "gemini", "--json").document["error"]["code"] == "not_a_file"


@pytest.mark.parametrize("text", ["mcp_servers = 3\n", "[[mcp_servers]]\na = 1\n"])
def test_a_table_of_servers_that_is_none_is_refused(agenvoy: Agenvoy, root: Path, text: str) -> None:
    path = root.parent / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text(text)
    assert agenvoy("install", "codex", "--json").document["error"]["code"] == "invalid_arguments"
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("name", "file", "text"),
    [
        ("cursor", ".cursor/mcp.json", '{"a":1}'),
        ("cursor", ".cursor/mcp.json", "{\n}\n"),
        ("cursor", ".cursor/mcp.json", " \n"),
        ("cursor", ".cursor/mcp.json", '{"a": 1, "mcpServers": {"x": {}}}'),
        ("gemini", ".gemini/settings.json", '{\r\n\t"a": 1, // mine\r\n}'),
        ("codex", ".codex/config.toml", "a=1"),
        ("codex", ".codex/config.toml", "a = 1\n# the end"),
    ],
)
def test_it_goes_byte_for_byte_and_comes_only_once(
    agenvoy: Agenvoy, root: Path, name: str, file: str, text: str
) -> None:
    path = root.parent / file
    path.parent.mkdir()
    path.write_bytes(text.encode())
    agenvoy("install", name)
    assert agenvoy("install", name, "--json").document["result"]["changed"] is False
    agenvoy("install", name, "--uninstall")
    assert path.read_bytes() == text.encode()


@pytest.mark.parametrize("text", ["{", '{"a" 1}', "[]", '{"mcpServers": []}', '{"a": 1} x', "\xff"])
def test_a_broken_file_is_an_error_and_stays(agenvoy: Agenvoy, root: Path, text: str) -> None:
    path = root.parent / ".cursor" / "mcp.json"
    path.parent.mkdir()
    path.write_bytes(text.encode("latin-1"))
    for flags in ([], ["--dry-run"]):
        assert agenvoy("install", "cursor", *flags).code == 2
    assert path.read_bytes() == text.encode("latin-1") and len(list(path.parent.iterdir())) == 1


def test_an_inline_table_is_refused(agenvoy: Agenvoy, root: Path) -> None:
    path = root.parent / ".codex" / "config.toml"
    path.parent.mkdir()
    path.write_text('mcp_servers = { agenvoy = { command = "x" } }\n')
    assert agenvoy("install", "codex").code == 2 and agenvoy("install", "codex", "--uninstall").code == 2


def test_a_linked_file_stays_a_link_and_keeps_its_mode(agenvoy: Agenvoy, root: Path) -> None:
    real = root.parent / "dotfiles.json"
    real.write_text('{"a": 1}\n')
    real.chmod(0o640)
    link = root.parent / ".claude.json"
    link.symlink_to(real)
    agenvoy("install", "claude")
    assert link.is_symlink() and "agenvoy" in real.read_text() and real.stat().st_mode & 0o777 == 0o640


def test_a_dry_run_shows_and_writes_nothing(agenvoy: Agenvoy, root: Path) -> None:
    done = agenvoy("install", "zed", "--dry-run")
    assert done.code == 0 and '+    "agenvoy": {' in done.out and not (root.parent / ".config" / "zed").exists()


def test_print_is_for_any_other_client(agenvoy: Agenvoy, root: Path) -> None:
    entry = agenvoy("install", "print", "--allow", "/srv").document["mcpServers"]["agenvoy"]
    assert entry["args"][-4:] == ["--root", str(root), "--allow", "/srv"]
    assert agenvoy("install", "emacs").code == 2 and agenvoy("install", "zed", "--scope", "moon").code == 2


SPACE = st.sampled_from(["", " ", "\n", "\n    ", " // note\n", "/* x */", "\t"])
KEYS = st.sampled_from(["a", "b", "s", 'q"uote', "ü"])
VALUES = st.recursive(
    st.one_of(st.integers(), st.booleans(), st.none(), st.sampled_from(["x", "// no", "{"])),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)


@st.composite
def texts(draw: st.DrawFn, value: Any) -> str:
    """A value as JSON with comments and odd spacing."""
    gap = lambda: draw(SPACE)  # noqa: E731
    if isinstance(value, dict):
        parts = [f"{gap()}{json.dumps(k)}{gap()}:{gap()}{draw(texts(v))}{gap()}" for k, v in value.items()]
        tail = "," if parts and draw(st.booleans()) else ""
        return "{" + ",".join(parts) + tail + gap() + "}"
    if isinstance(value, list):
        return "[" + ",".join(gap() + draw(texts(v)) for v in value) + gap() + "]"
    return json.dumps(value)


@given(st.data(), st.dictionaries(KEYS, VALUES, max_size=4))
def test_a_member_put_in_and_taken_out_leaves_the_meaning_and_the_comments(data: st.DataObject, value: Any) -> None:
    value.pop("agenvoy", None)
    text = data.draw(texts(value))
    put = jsonc.put(text, ["agenvoy"], {"command": "x"})
    assert jsonc.parse(put).data == {**value, "agenvoy": {"command": "x"}}
    back = jsonc.remove(put, ["agenvoy"])
    assert jsonc.parse(back).data == value and back.count("note") == text.count("note")
