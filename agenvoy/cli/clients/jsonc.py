"""One member of a JSON text, comments, order and spacing of everything else kept.

Comments and trailing commas are taken, as VS Code, Zed, Gemini CLI and opencode take them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")
_DEEPEST = 100


class Broken(ValueError):
    """The text is no JSON; `line` says where it stops being it."""

    def __init__(self, text: str, at: int, said: str) -> None:
        self.line = text.count("\n", 0, at) + 1
        super().__init__(f"line {self.line}: {said}")


@dataclass(slots=True)
class Member:
    """A member of an object: its key, where the key begins, its value, where its comma is (-1: none)."""

    key: str
    start: int
    value: Node
    comma: int = -1


@dataclass(slots=True)
class Node:
    """A value and where it stands: `data` is what it means."""

    start: int
    end: int
    data: Any
    members: list[Member] = field(default_factory=list)


def parse(text: str) -> Node:
    """The value that a text holds; raises Broken."""
    at = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, at, 0)
    rest = _skip(text, node.end)
    if rest != len(text):
        raise Broken(text, rest, "something stands behind the end")
    return node


def _skip(text: str, at: int) -> int:
    found = _TRIVIA.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> Node:
    if depth > _DEEPEST:
        raise Broken(text, at, "nested too deeply")
    first = text[at : at + 1]
    if first == "{":
        return _object(text, at, depth)
    if first == "[":
        return _array(text, at, depth)
    found = _STRING.match(text, at) if first == '"' else _SCALAR.match(text, at)
    if not found:
        raise Broken(text, at, "a value is missing" if first else "the text ends too early")
    try:
        return Node(at, found.end(), json.loads(found[0]))
    except ValueError:
        raise Broken(text, at, f"{found[0][:40]} is no value") from None


def _object(text: str, start: int, depth: int) -> Node:
    members: list[Member] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        if members and members[-1].comma < 0:
            raise Broken(text, at, "a comma or } is missing")
        found = _STRING.match(text, at)
        if not found:
            raise Broken(text, at, "a name is missing")
        colon = _skip(text, found.end())
        if text[colon : colon + 1] != ":":
            raise Broken(text, colon, "a : is missing")
        value = _value(text, _skip(text, colon + 1), depth + 1)
        members.append(Member(json.loads(found[0]), at, value))
        at = _skip(text, value.end)
        if text[at : at + 1] == ",":
            members[-1].comma = at
            at = _skip(text, at + 1)
    return Node(start, at + 1, {member.key: member.value.data for member in members}, members)


def _array(text: str, start: int, depth: int) -> Node:
    items: list[Any] = []
    at = _skip(text, start + 1)
    more = True
    while text[at : at + 1] != "]":
        if not more:
            raise Broken(text, at, "a comma or ] is missing")
        item = _value(text, at, depth + 1)
        items.append(item.data)
        at = _skip(text, item.end)
        more = text[at : at + 1] == ","
        if more:
            at = _skip(text, at + 1)
    return Node(start, at + 1, items)


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with the member at `path` set; objects on the way are made where they are missing.

    Raises:
        Broken: the text is no JSON, or something that is no object stands on the way.
    """
    if not text.strip("\ufeff \t\r\n"):
        text = "{}\n"
    node = parse(text)
    for depth, name in enumerate(path):
        if not isinstance(node.data, dict):
            raise Broken(text, node.start, f"an object is expected where {name} should be put")
        member = _last(node, name)
        if member is None:
            for outer in reversed(path[depth + 1 :]):
                value = {outer: value}
            return _insert(text, node, name, value)
        node = member.value
    if node.data == value:
        return text
    spelled = _spell(value, _indent_at(text, node.start), _unit(text))
    return text[: node.start] + spelled + text[node.end :]


def _last(node: Node, name: str) -> Member | None:
    """The member of that name; of several the last one, as readers of JSON take it."""
    return next((member for member in reversed(node.members) if member.key == name), None)


def _insert(text: str, node: Node, name: str, value: Any) -> str:
    """A new last member, in the style of the object: each on its own line, or all on one."""
    inner = text[node.start + 1 : node.end - 1]
    outer_indent = _indent_at(text, node.start)
    if node.members and "\n" not in inner:
        comma = "" if node.members[-1].comma >= 0 else ","
        at = node.start + 1 + len(inner.rstrip())
        return f"{text[:at]}{comma} {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}{text[at:]}"
    unit = _unit(text)
    indent = _indent_at(text, node.members[-1].start) if node.members else outer_indent + unit
    spelled = f"\n{indent}{json.dumps(name)}: {_spell(value, indent, unit)}"
    if not node.members and not inner.strip():
        return f"{text[: node.start + 1]}{spelled}\n{outer_indent}{text[node.end - 1 :]}"
    at = node.start + 1 + len(inner.rstrip())
    if not node.members:  # only comments
        return f"{text[:at]}{spelled}{text[at:]}"
    last = node.members[-1]
    if last.comma >= 0:
        return f"{text[:at]}{spelled},{text[at:]}"
    return f"{text[: last.value.end]},{text[last.value.end : at]}{spelled}{text[at:]}"


def remove(text: str, path: Sequence[str]) -> str:
    """The text without the member at `path`; the same text where there is none. Raises Broken."""
    node = parse(text)
    for name in path[:-1]:
        member = _last(node, name)
        if member is None:
            return text
        node = member.value
    found = _last(node, path[-1])
    if found is None:
        return text
    index = node.members.index(found)
    end = found.comma + 1 if found.comma >= 0 else found.value.end
    start = len(text[: found.start].rstrip(" \t\r\n"))
    if found.comma < 0 and index > 0:  # it was the last one, so the comma before it has to go
        comma = node.members[index - 1].comma
        left = text[:comma] + text[comma + 1 : start] + text[end:]
    else:
        left = text[:start] + text[end:]
    if len(node.members) == 1 and not left[node.start + 1 : node.end - 1 - (len(text) - len(left))].strip():
        return left[: node.start] + "{}" + left[node.end - (len(text) - len(left)) :]
    return left


def _spell(value: Any, indent: str, unit: str) -> str:
    """A value on lines of its own, but for lists of plain values, which stay on one."""
    if isinstance(value, dict) and value:
        inner = indent + unit
        lines = [f"{inner}{json.dumps(key)}: {_spell(item, inner, unit)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return json.dumps(value, ensure_ascii=False)


def _indent_at(text: str, at: int) -> str:
    """The white space that the line of a position begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """How much one level is indented: as the first indented line of the file; two blanks where there is none."""
    found = re.search(r"\n([ \t]+)[^\s/*]", text)
    return found[1] if found else "  "
