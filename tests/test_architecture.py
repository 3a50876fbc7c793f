"""The house rules, checked: linters, types, layers, sizes, docstrings, one door for each library, a complete README."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenvoy.cli import COMMANDS
from agenvoy.surfaces.spec import surface

TOP = Path(__file__).parents[1]
MODULES = sorted((TOP / "agenvoy").rglob("*.py"))
DOORS = {
    "re2": ("search",),
    "rignore": ("disk",),
    "pydantic": ("contracts", "surfaces", "configfile"),
    "typer": ("cli",),
    "rich": ("cli",),
    "click": ("cli",),
    "mcp": ("mcp_server",),
    "mcp_types": ("mcp_server",),
    "sqlite3": ("catalog",),
    "sqlite_utils": ("catalog",),
    "xxhash": ("blobs",),
    "zstandard": ("blobs",),
    "charset_normalizer": ("textual", "textual.py"),
    "merge3": ("history",),
    "pypdf": ("readers",),
    "docx": ("readers",),
    "pptx": ("readers",),
    "PIL": ("readers",),
    "faster_whisper": ("readers",),
}
LONGEST_MODULE, LONGEST_FUNCTION = 400, 60  # lines


def run(*command: str) -> None:
    done = subprocess.run([sys.executable, *command], cwd=TOP, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def room(path: Path) -> str:
    return path.relative_to(TOP / "agenvoy").parts[0]


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def public(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Functions and classes that a caller can name: those of the module and of its public classes."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            for inner in node.body if isinstance(node, ast.ClassDef) else ():
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and not inner.name.startswith("_"):
                    yield inner


def test_ruff_finds_nothing() -> None:
    run("-m", "ruff", "check", "agenvoy", "tests")


def test_mypy_finds_nothing() -> None:
    run("-m", "mypy", "--strict")


def test_the_layers_hold() -> None:
    run("-c", "import sys; sys.path.insert(0, '.'); from importlinter.cli import lint_imports_command as c; c()")


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(TOP)))
def test_a_module_is_short_documented_and_uses_the_right_doors(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    assert len(source.splitlines()) <= LONGEST_MODULE
    assert ast.get_docstring(tree), "the module says nothing about itself"
    long = [f.name for f in functions(tree) if (f.end_lineno or 0) - f.lineno + 1 > LONGEST_FUNCTION]
    assert long == []
    silent = [node.name for node in public(tree) if not ast.get_docstring(node)]
    assert silent == [], "public, without a docstring"
    wrong = [name for name in imported(tree) if room(path) not in DOORS.get(name.partition(".")[0], (room(path),))]
    assert wrong == [], "imported beside its door"


def test_no_comment_postpones_work() -> None:
    words = ("TO" + "DO", "FIX" + "ME", "XX" + "X", "for " + "now")
    found = [f"{path.name}: {word}" for path in MODULES for word in words if word in path.read_text(encoding="utf-8")]
    assert found == []


def test_the_core_reads_no_environment_and_prints_nothing() -> None:
    outside = {"cli", "mcp_server", "surfaces", "__main__.py", "__init__.py"}
    for path in MODULES:
        if room(path) not in outside:
            names = {ast.unparse(n) for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if _speaks(n)}
            assert names == set(), path


def _speaks(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func) in ("print", "os.getenv", "input")
    return isinstance(node, ast.Attribute) and ast.unparse(node) in ("os.environ", "sys.stdout", "sys.stderr")


@pytest.mark.parametrize("name", list(COMMANDS))
def test_the_readme_mentions_every_command(name: str) -> None:
    assert f"agenvoy {name}" in readme() or f"`{name}" in readme()


def test_the_readme_mentions_every_tool() -> None:
    assert [tool.name for tool in surface("native").tools if f"`{tool.name}`" not in readme()] == []


def test_the_readme_has_the_two_commands() -> None:
    for heading in ("## Run it", "## Test it"):
        after = readme().split(f"\n{heading}\n", 1)[1].split("\n## ", 1)[0]
        assert after.count("```") >= 2, heading


def readme() -> str:
    return (TOP / "README.md").read_text(encoding="utf-8")


def test_starting_history_imports_nothing_heavy(tmp_path: Path) -> None:
    heavy = ("pydantic", "rich", "re2", "rignore", "charset_normalizer", "asyncio", "numpy", "mcp", "sqlite_utils")
    code = (
        "import sys; from agenvoy.cli.entry import run; run(['history']); run(['history']);"
        f"print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
    )
    env = {**os.environ, "AGENVOY_HOME": str(tmp_path / "home"), "AGENVOY_ROOT": str(tmp_path)}
    for _ in range(2):  # the first run makes the store, which may need more
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "[]"
