"""The README says what the code says."""

from __future__ import annotations

from pathlib import Path

from agenvoy.errors import CODES
from agenvoy.surfaces.spec import surface

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_table_of_tools_is_made_from_their_declarations() -> None:
    for tool in surface("native").tools:
        names = ", ".join(f"`{field.alias or name}`" for name, field in tool.request.model_fields.items())
        assert f"| `{tool.name}` | {tool.description.split('. ')[0].rstrip('.')} | {names or '–'} |" in README


def test_every_error_code_is_explained() -> None:
    assert [code for code in sorted(CODES) if f"`{code}`" not in README] == []
