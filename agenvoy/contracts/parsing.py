"""Arguments as JSON -> a request, or a refusal that names the argument and what would be right."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError

from agenvoy.contracts.base import Request
from agenvoy.contracts.names import nearest
from agenvoy.errors import AgenvoyError

R = TypeVar("R", bound=Request)
_SHOWN = 60  # characters of a wrong value that a message repeats


def parse(model: type[R], arguments: object, tool: str) -> R:
    """The request that `arguments` (decoded JSON) mean.

    Args:
        model: the tool's request model.
        arguments: anything; only an object with the right names and types passes.
        tool: the tool's name, for messages.

    Raises:
        AgenvoyError: invalid_arguments, naming the first wrong argument.
    """
    if not isinstance(arguments, Mapping):
        raise _invalid(
            f"the arguments of {tool} must be a JSON object, not {_kind(arguments)}", _usage(model, tool)
        )
    _refuse_removed(model, arguments, tool)
    try:
        _refuse_half_characters(arguments, "")
        return model.model_validate(dict(arguments))
    except ValidationError as error:
        raise _explain(model, error, tool) from None
    except RecursionError:
        raise _invalid(f"the arguments of {tool} are nested too deeply", _usage(model, tool)) from None


def _invalid(message: str, hint: str) -> AgenvoyError:
    return AgenvoyError("invalid_arguments", message, hint)


def _refuse_half_characters(value: object, where: str) -> None:
    """Lone surrogates (`"\\ud800"` in JSON) are no text: neither a file nor the store can hold them."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise _invalid(
                f"`{where}` holds half of a surrogate pair (U+{ord(value[error.start]):04X}), which is no character",
                "send whole characters; spell names that are not UTF-8 as bytes:… such as bytes:caf%E9.txt",
            ) from None
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _refuse_half_characters(item, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _refuse_half_characters(item, f"{where}[{index}]")


def _refuse_removed(model: type[Request], arguments: Mapping[Any, Any], tool: str) -> None:
    for name, hint in model.removed.items():
        if name in arguments:
            raise _invalid(f"{tool} has no argument `{name}`", hint)
    for (name, value), hint in model.removed_values.items():
        if arguments.get(name) == value:
            raise _invalid(f"{tool} has no {name}={value}", hint)


def _explain(model: type[Request], error: ValidationError, tool: str) -> AgenvoyError:
    """The refusal for pydantic's findings: unknown names first, since a misspelt name also looks like a missing one."""
    found = error.errors(include_url=False, include_context=False)
    found.sort(key=lambda e: {"extra_forbidden": 0, "missing": 2}.get(e["type"], 1))
    first = found[0]
    holder, where, name = _locate(model, first["loc"])
    if first["type"] == "extra_forbidden":
        return _unknown(holder, where, name, tool)
    full = f"{where}.{name}" if where else name
    field = holder.model_fields.get(_field_name(holder, name))
    says = (field.description or "") if field else ""
    if first["type"] == "missing":
        return _invalid(f"{tool} needs `{full}`", f"{full}: {says}" if says else _usage(model, tool))
    value = first["input"]
    if first["type"] == "too_short":
        return _invalid(f"`{full}` is empty", f"{full}: {says}")
    if first["type"] == "value_error":
        return _invalid(f"`{full}` is too large a number", "use a number of at most 64 bits")
    right = _expected(field.annotation if field else _item(holder, name))
    hint = f"{full}: {says}" if says else _usage(model, tool)
    if isinstance(value, str) and value.strip()[:1] in ("[", "{") and right.startswith(("a list", "an object")):
        hint = f"give `{full}` as {right} itself, not as JSON text in a string"
    return _invalid(f"`{full}` must be {right}, not {_kind(value)}", hint)


def _field_name(model: type[BaseModel], name: str) -> str:
    return next((field for field, info in model.model_fields.items() if info.alias == name), name)


def _locate(model: type[Request], loc: tuple[int | str, ...]) -> tuple[type[Request], str, str]:
    """(the model that holds the argument, where it stands such as `files[0]`, the argument's name)."""
    holder, where, name = model, "", ""
    for part in loc:
        if isinstance(part, int):
            name = f"{name}[{part}]"
            continue
        if name:
            base = name.partition("[")[0]
            below = _item_model(holder, base)
            if below is None:
                break  # what follows names a member of a union, not an argument
            where, holder = (f"{where}.{name}" if where else name), below
        name = part
    return holder, where, name


def item_models(annotation: Any) -> list[type[Request]]:
    """The request models inside an annotation such as `list[EditTarget] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, Request):
        return [annotation]
    return [model for part in get_args(annotation) for model in item_models(part)]


def _item_model(model: type[Request], name: str) -> type[Request] | None:
    field = model.model_fields.get(_field_name(model, name))
    found = item_models(field.annotation) if field else []
    return found[0] if found else None


def _item(model: type[Request], name: str) -> Any:
    """The annotation of the items of a list argument, for `files[0]`."""
    field = model.model_fields.get(_field_name(model, name.partition("[")[0]))
    items = [get_args(part)[0] for part in _members(field.annotation if field else str) if get_args(part)]
    return items[0] if items else str


def _members(annotation: Any) -> tuple[Any, ...]:
    """The members of a union; anything else alone."""
    return get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)


def _names(model: type[Request]) -> list[str]:
    return [info.alias or name for name, info in model.model_fields.items()]


def _unknown(holder: type[Request], where: str, name: str, tool: str) -> AgenvoyError:
    known = _names(holder)
    place = f"`{where}`" if where else tool
    message = f"{place} has no argument `{name[:_SHOWN]}`"
    guess = nearest(name, known)
    if guess:
        return _invalid(f"{message}; did you mean `{guess}`?", f"call again with `{guess}` in its place")
    for outer in known:
        inner = _item_model(holder, outer)
        if inner and (name in _names(inner) or nearest(name, _names(inner))):
            right = name if name in _names(inner) else nearest(name, _names(inner))
            return _invalid(f"{message}; `{right}` belongs inside `{outer}`", f'use {outer}=[{{"{right}": …}}]')
    return _invalid(message, f"it takes {', '.join(known)}" if known else f"call {tool} with no arguments")


def _usage(model: type[Request], tool: str) -> str:
    names = [n if f.is_required() else n + "?" for n, f in zip(_names(model), model.model_fields.values(), strict=True)]
    return f"call {tool} with {{{', '.join(names)}}}"


_PLAIN = {int: "a whole number", str: "a string", bool: "true or false", float: "a number", type(None): ""}


def _expected(annotation: Any) -> str:
    """What an annotation accepts, in words."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "an object"
    origin = getattr(annotation, "__origin__", None)
    parts = get_args(annotation)
    if origin is list:
        inner = item_models(parts[0])
        if inner:
            return f"a list of objects {{{', '.join(_names(inner[0]))}}}"
        return "a list of " + _expected(parts[0]).removeprefix("a ").replace("whole number", "whole numbers").replace(
            "string", "strings"
        )
    if hasattr(annotation, "__metadata__"):
        return _expected(parts[0])
    if parts and all(isinstance(part, str) for part in parts):
        return "one of " + ", ".join(parts)
    return " or ".join(text for text in map(_expected, parts) if text)


def _kind(value: object) -> str:
    """A wrong value in words, cut short."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
        return f'the string "{shown}"'
    if isinstance(value, int | float):
        return f"the number {str(value)[:_SHOWN]}" if abs(value) < 1e60 else "so large a number"
    if isinstance(value, list | tuple):
        flat = all(isinstance(item, str | int | float) for item in value)
        return f"the list {str(value)[:_SHOWN]}" if value and flat else "a list"
    return "an object" if isinstance(value, Mapping) else f"a {type(value).__name__}"
