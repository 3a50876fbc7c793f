"""The quick parser: a plain command line straight to its function, without typer.

It takes what is right and plain, and leaves everything else (help, completion, mistakes, rarer spellings) to typer,
whose import and set-up take several times as long as most commands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

from agenvoy.cli import COMMANDS
from agenvoy.cli.options import OPTIONS, Options
from agenvoy.cli.params import Arg, Opt, Parameter, parameters

GLOBALS: tuple[Parameter, ...] = tuple(
    Parameter(
        option.name,
        {"value": str, "values": list[str], "flag": bool}[option.kind],
        None,
        Opt(help=option.help, metavar=option.metavar),
    )
    for option in OPTIONS
)
"""The global options as parameters."""

Found = tuple[Callable[..., int], Options, dict[str, Any]]


class _NotPlain(Exception):
    """Something that only typer understands, or a mistake that typer explains."""


def parse(argv: Sequence[str]) -> Found | None:
    """The function, the global options and the arguments of a command line; None where typer has to look at it."""
    try:
        given, words = _take(list(argv), GLOBALS, stop=True)
        options = Options().merged(given)
        if not words or words[0] not in COMMANDS:
            return None
        module = import_module(COMMANDS[words[0]])
        rest = words[1:]
        several = getattr(module, "COMMANDS", None)
        if several is not None:
            early, rest = _take(rest, GLOBALS, stop=True)
            options = options.merged(early)
            if not rest or rest[0] not in several:
                return None
        function = several[rest[0]] if several is not None else module.command
        return function, *_arguments(function, options, rest[1:] if several is not None else rest)
    except _NotPlain:
        return None


def _arguments(function: Callable[..., int], options: Options, words: list[str]) -> tuple[Options, dict[str, Any]]:
    own = parameters(function)
    names = {item.name for item in own}
    others = [item for item in GLOBALS if item.name not in names]
    given, rest = _take(words, [*own, *others], stop=False)
    later = {item.name: given.pop(item.name) for item in others if item.name in given}
    given |= _place([item for item in own if isinstance(item.declared, Arg)], rest)
    for item in own:
        if item.name not in given:
            if item.required:
                raise _NotPlain
            given[item.name] = item.default
    return options.merged(later), given


def _take(words: list[str], known: Iterable[Parameter], *, stop: bool) -> tuple[dict[str, Any], list[str]]:
    """Options out of words: (values, the words that are left). With `stop`, the first word that is none ends it."""
    flags = {flag: item for item in known for flag in item.flags}
    given: dict[str, Any] = {}
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        if word == "--" and not stop:
            return given, rest + left
        if word == "-" or not word.startswith("-"):
            if stop:
                return given, [word, *left]
            rest.append(word)
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        item = flags.get(name)
        if item is None or (equals and item.kind is bool) or (item.kind is not bool and not equals and not left):
            raise _NotPlain
        if item.kind is bool:
            given[item.name] = True
        else:
            one = _value(item, value if equals else left.pop(0))
            given[item.name] = [*given.get(item.name, ()), one] if item.several else one
    return given, rest


def _value(item: Parameter, text: str) -> Any:
    try:
        return item.kind(text)
    except ValueError:
        raise _NotPlain from None


def _place(arguments: list[Parameter], words: list[str]) -> dict[str, Any]:
    """Words to positional arguments, in order; a last one of several values takes the rest."""
    given: dict[str, Any] = {}
    left = list(words)
    for item in arguments:
        if item.several and left:
            given[item.name], left = [_value(item, word) for word in left], []
        elif left:
            given[item.name] = _value(item, left.pop(0))
    if left:
        raise _NotPlain
    return given
