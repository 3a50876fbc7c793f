"""The keys as a pydantic model, for telling everything that is wrong with a file at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from agenvoy.configfile.keys import KEYS, TABLES, Key

_CONFIG = ConfigDict(extra="forbid", strict=True)
_TYPES: dict[str, Any] = {
    "whole": int, "number": float, "flag": bool, "text": str, "texts": list[str], "folder": str, "folders": list[str],
    "keep": Literal["recorded", "not recorded"],
}  # fmt: skip


def model() -> type[BaseModel]:
    """One optional member for each key, tables as models of their own."""
    members = {key.name: _member(key) for key in KEYS if "." not in key.name}
    for table in sorted(TABLES):
        own = {key.name.partition(".")[2]: _member(key) for key in KEYS if key.name.startswith(table + ".")}
        members[table] = (create_model(table, __config__=_CONFIG, **own), None)
    return create_model("Config", __config__=_CONFIG, **members)


def _member(key: Key) -> Any:
    return (_TYPES[key.kind], Field(None, description=key.help, ge=key.least, le=key.most))


def problems(document: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(key, what is wrong with it), for every finding, in the order of the file's keys."""
    try:
        model().model_validate(document)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        return [(".".join(str(part) for part in one["loc"] if isinstance(part, str)), one["msg"]) for one in found]
    return []
