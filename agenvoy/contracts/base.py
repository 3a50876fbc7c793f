"""What all requests and results have in common.

Models are built on first use (`defer_build`): a call needs one request of twelve, and building all takes 100 ms.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, model_validator

_INT64 = 2**63  # SQLite's integers; a larger number can name nothing and would overflow on its way there


def _fits(value: int) -> int:
    if not -_INT64 <= value < _INT64:
        raise ValueError("the number is too large")
    return value


Whole = Annotated[int, AfterValidator(_fits)]
"""A whole number of 64 bits; strict, so neither `true` nor `"1"` nor `1.0` is one."""


class Request(BaseModel):
    """Base of everything that may be asked: strict types, no unknown names, frozen.

    `null` for an argument that may be left out counts as left out, because many clients fill every argument.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, allow_inf_nan=False, populate_by_name=True, defer_build=True
    )

    removed: ClassVar[dict[str, str]] = {}
    """Arguments that older tools had: name -> what replaced it (a hint for the caller)."""
    removed_values: ClassVar[dict[tuple[str, str], str]] = {}
    """Values that older tools had: (argument, value) -> what replaced it."""

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        optional = set()
        for name, field in cls.model_fields.items():
            if not field.is_required():
                optional |= {name, field.alias or name}
        return {key: value for key, value in data.items() if value is not None or key not in optional}


class Result(BaseModel):
    """Base of everything that comes back: frozen; members that a later version adds are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, populate_by_name=True, defer_build=True)
