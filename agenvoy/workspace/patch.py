"""Anchored replacements in a file's bytes: what was matched changes, every other byte stays. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from agenvoy import textual
from agenvoy.errors import AgenvoyError
from agenvoy.workspace.anchors import DOUBLE, SINGLE, View, locate
from agenvoy.workspace.placeholders import check_placeholder, check_written

_SINGLE = frozenset({"cp1252", "cp1251", "cp1250", "koi8-r", "cp866", "iso-8859-1"})  # one byte is one character
PATCH_BYTES = 1024 * 1024  # largest file that can be patched (contract: 1 MiB)


@dataclass(frozen=True, slots=True)
class PatchResult:
    """The bytes after a patch, and how many places were replaced."""

    data: bytes
    replacements: int


@dataclass(frozen=True, slots=True)
class _Edit:
    """One place: the matched span, and inside it what really changes; positions of the view."""

    start: int
    end: int
    inner: int
    inner_end: int
    text: str  # newlines are LF


def apply_patch(data: bytes, targets: Sequence[Mapping[str, Any]], path: str, limit: int = PATCH_BYTES) -> PatchResult:
    """Apply every target to `data`, or none.

    Args:
        data: the file as it is.
        targets: mappings with `old_string`, `new_string` (default empty) and `replace_all` (default false). All
            anchors are located in `data` before anything is replaced.
        path: the file as the caller spelled it, for messages.
        limit: largest file in bytes.

    Raises:
        AgenvoyError: invalid_arguments, too_large, binary_file, no_change, targets_conflict, anchor_not_found,
            anchor_ambiguous, placeholder_content, encoding_mismatch, would_empty.
    """
    if len(data) > limit:
        raise AgenvoyError(
            "too_large",
            f"{path} has {len(data):,} bytes; patches go up to {limit:,}",
            "use a program through `agenvoy run -- COMMAND`, or write the whole file",
        )
    form = textual.sniff(data, True)
    if form is None:
        seems = textual.looks_like(data[:512])
        raise AgenvoyError(
            "binary_file", f"{path} is binary ({len(data):,} bytes; it seems to be {seems})", "only text can be patched"
        )
    text = textual.decode(data, form)
    view = View(text)
    pairs = _pairs(view, targets)
    edits: list[_Edit] = []
    for old, new, every in pairs:
        edits += _edits(view, old, new, every, path)
    edits.sort(key=lambda e: (e.start, e.end))
    _check_overlaps(view, edits, path)
    result = _replaced(data, text, view, form, edits, path)
    if len(result) == len(form.bom) and len(data) > len(form.bom):
        raise AgenvoyError(
            "would_empty", f"the patch would leave {path} empty", "remove the file, or write the content it shall have"
        )
    if result == data:
        raise AgenvoyError("no_change", f"the patch changes nothing in {path}", "look at the file: it may be done")
    return PatchResult(result, len(edits))


def encode_write(content: str, existing: bytes | None, path: str) -> bytes:
    """The bytes that mode `write` puts into a file.

    Args:
        content: the whole new text, with its newlines.
        existing: the file's present bytes; None where there is none. Its encoding and mark are kept.
        path: as the caller spelled it.

    Raises:
        AgenvoyError: placeholder_content; encoding_mismatch, which names the first character that cannot be held.
    """
    utf8 = textual.TextForm("utf-8", b"", "none")
    form = (textual.sniff(existing, True) if existing else None) or utf8
    check_written(content, textual.decode(existing, form) if existing else "", path)
    if form.bom or form.encoding != "utf-8":
        content = content.removeprefix("\ufeff")
    return form.bom + _encoded(content, form, path)


def _pairs(view: View, targets: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, bool]]:
    """The targets with newlines as in the view, after what can be said without looking for them."""
    if not targets:
        raise AgenvoyError("invalid_arguments", "targets is empty", "give at least one old_string and new_string")
    pairs: list[tuple[str, str, bool]] = []
    for number, target in enumerate(targets, 1):
        old, new = view.normal(target["old_string"]), view.normal(target.get("new_string") or "")
        if not old:
            raise AgenvoyError(
                "invalid_arguments",
                f"old_string of target {number} is empty",
                "name text that stands in the file; to add lines, repeat a neighbouring line in new_string",
            )
        if old == new:
            raise AgenvoyError("no_change", f"target {number} replaces a text by itself", "leave that target out")
        for earlier, (_, before, _) in enumerate(pairs, 1):
            if old in before:
                raise _conflict(f"old_string of target {number} stands in new_string of target {earlier}")
        pairs.append((old, new, bool(target.get("replace_all"))))
    return pairs


def _conflict(what: str) -> AgenvoyError:
    return AgenvoyError("targets_conflict", what, "merge them into one target, or make two calls")


def _edits(view: View, old: str, new: str, every: bool, path: str) -> list[_Edit]:
    """One target's places; common ends of old and new are left as they are in the file."""
    places, loose = locate(view, old, every=every, path=path)
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    edits, middles = [], dict[str, str]()
    for at in places:
        matched = view.text[at : at + len(old)]
        if matched not in middles:
            check_placeholder(new, matched)
            styled = _styled(new, old, matched) if loose else new
            middles[matched] = styled[head : len(new) - tail]
        edits.append(_Edit(at, at + len(old), at + head, at + len(old) - tail, middles[matched]))
    return edits


def _styled(new: str, old: str, matched: str) -> str:
    """`new` with quotes of the file's style, for each kind (single, double) in which the anchor had another."""
    for kind in (SINGLE, DOUBLE):
        straight, opening, closing = kind[0], kind[1], kind[2]
        differ = [m for o, m in zip(old, matched, strict=True) if o in kind and o != m]
        if not differ:
            continue
        if differ[0] == straight:
            new = "".join(straight if c in kind else c for c in new)
            continue
        if kind[3] in differ:  # German: „so“, ‚so‘
            opening, closing = kind[3], kind[1]
        new = "".join(_curly(new, i, opening, closing) if c == straight else c for i, c in enumerate(new))
    return new


def _curly(text: str, at: int, opening: str, closing: str) -> str:
    """The curly quote for the straight one at `at`; inside a word it is an apostrophe."""
    if text[at] == "'" and _apostrophe(text, at):
        return "’"
    return opening if _opens(text, at) else closing


def _opens(text: str, at: int) -> bool:
    """Whether a quote at `at` opens: nothing, a space, a bracket, a dash or another opening quote stands before."""
    if at and text[at - 1] in SINGLE + DOUBLE:
        return _opens(text, at - 1)
    return at == 0 or text[at - 1].isspace() or text[at - 1] in "([{<—–-=/"


def _apostrophe(text: str, at: int) -> bool:
    """Whether a single quote at `at` stands inside a word."""
    return 0 < at < len(text) - 1 and text[at - 1].isalnum() and text[at + 1].isalnum()


def _check_overlaps(view: View, edits: Sequence[_Edit], path: str) -> None:
    for one, two in pairwise(edits):
        if two.start < one.end:
            raise _conflict(f"two targets match the same text in {path} (row {view.row(two.start)})")


def _replaced(data: bytes, text: str, view: View, form: textual.TextForm, edits: Sequence[_Edit], path: str) -> bytes:
    """The bytes with each edit's inner span replaced; spans are measured in the file's own encoding."""
    body = data[len(form.bom) :]
    parts = [form.bom]
    done, at = 0, 0  # up to here: characters of `text`, bytes of `body`
    for edit in edits:
        for position, keep in ((view.given(edit.inner), True), (view.given(edit.inner_end), False)):
            size = _width(body, at, text[done:position], form, path)
            if keep:
                parts.append(body[at : at + size])
                parts.append(_encoded(_with_newlines(view, edit), form, path))
            at, done = at + size, position
    parts.append(body[at:])
    return b"".join(parts)


def _encoded(text: str, form: textual.TextForm, path: str) -> bytes:
    """New text in the file's encoding."""
    try:
        return textual.encode(text, form)
    except textual.Unencodable as error:
        raise AgenvoyError(
            "encoding_mismatch",
            f"{path} is {error.encoding}, which cannot hold {error.told}",
            "use characters of that encoding, or convert the file to UTF-8 first (agenvoy run -- iconv …)",
            encoding=error.encoding,
            character=error.told,
        ) from None


def _width(body: bytes, at: int, piece: str, form: textual.TextForm, path: str) -> int:
    """How many bytes of `body` from `at` on are `piece`.

    Some encodings write one character in several ways, so the bytes are read back before they are trusted.
    """
    if form.encoding in _SINGLE or (form.encoding == "utf-8" and piece.isascii()):
        return len(piece)
    try:
        size = len(piece.encode(form.encoding, form.errors))
        if body[at : at + size].decode(form.encoding, form.errors) == piece:
            return size
    except UnicodeError:
        size = 0
    raise AgenvoyError(
        "encoding_mismatch",
        f"{path} holds bytes that are no clean {form.encoding}, so its text cannot be traced back to them",
        "convert the file to UTF-8 first, or write it whole",
        encoding=form.encoding,
    )


def _with_newlines(view: View, edit: _Edit) -> str:
    """The new text with the newlines of the place where it goes.

    A newline that replaces one takes that one's kind; others take the nearest of the matched text, else their row's.
    """
    if "\n" not in edit.text:
        return edit.text
    replaced = [view.newline(i) for i in range(edit.inner, edit.inner_end) if view.text[i] == "\n"]
    before = view.text.rfind("\n", edit.start, edit.inner)
    after = view.text.find("\n", edit.inner_end, edit.end)
    if before >= 0 or after >= 0:
        other = view.newline(before if before >= 0 else after)
    else:
        other = view.row_newline(edit.inner_end) or "\n"
    lines = edit.text.split("\n")
    kinds = replaced + [replaced[-1] if replaced else other] * (len(lines) - 1 - len(replaced))
    return "".join(line + kind for line, kind in zip(lines, [*kinds[: len(lines) - 1], ""], strict=True))
