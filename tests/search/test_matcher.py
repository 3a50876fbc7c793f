"""Patterns: what RE2 cannot do is named, and never hangs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenvoy.errors import AgenvoyError
from agenvoy.search.matcher import Matcher


@pytest.mark.parametrize(
    ("pattern", "word"),
    [
        ("Some(?!one)", "look-ahead"),
        ("a(?=b)", "look-ahead"),
        ("(?<=a)b", "look-behind"),
        ("(?<!a)b", "look-behind"),
        (r"(abc)\1", "back-reference"),
        ("(?P<q>a)(?P=q)", "back-reference"),
        (r"(?<q>a)\k<q>", "back-reference"),
        ("a(?>bc)", "atomic"),
        ("a*+", "possessive"),
        ("(?(1)a|b)", "conditional"),
        (r"a\Z", r"\z"),
        ("(?x) a", "verbose"),
    ],
)
def test_an_unsupported_construct_is_named(pattern: str, word: str) -> None:
    with pytest.raises(AgenvoyError) as caught:
        Matcher(pattern)
    assert caught.value.code == "invalid_pattern"
    assert word in caught.value.message + caught.value.hint
    assert "RE2" in caught.value.hint


@pytest.mark.parametrize("pattern", ["foo(", "*.py", "[a", "a)", "x{3,1}", "\\"])
def test_a_broken_pattern_is_told_in_words_without_naming_a_construct(pattern: str) -> None:
    with pytest.raises(AgenvoyError) as caught:
        Matcher(pattern)
    assert caught.value.code == "invalid_pattern"
    assert "look" not in caught.value.message
    assert "b'" not in caught.value.message
    assert "(?m)" not in caught.value.message


def test_an_escaped_backslash_ahead_of_a_digit_is_no_back_reference() -> None:
    assert Matcher(r"a\\1").find(b"a\\1") == (0, 3)
    with pytest.raises(AgenvoyError, match="missing"):
        Matcher(r"\\1(")


def test_a_pattern_line_by_line_never_crosses_a_line_feed() -> None:
    assert Matcher(r"a\sb").find(b"a\nb") is None
    assert Matcher(r"[^x]b").find(b"\nb") is None
    assert Matcher(r"(?s)a.b").find(b"a\nb") is None
    assert Matcher("a.b", multiline=True).find(b"a\nb") == (0, 3)


def test_case_counts_only_where_it_is_asked_for() -> None:
    assert Matcher("über").find("ÜBER".encode()) is None
    assert Matcher("über", case_sensitive=False).find("ÜBER".encode()) == (0, 5)


@pytest.mark.timeout(20)
def test_a_pattern_that_makes_backtracking_engines_hang_ends_at_once() -> None:
    assert Matcher("(a*)*(a*)*(a*)*b$").find(b"a" * 200_000) is None


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("foo.bar", b"foo"), ("ab*cde", b"cde"), (r"\x41bcd", b""), ("a|bcd", b"a bcd"), ("(?i)abc", b""), ("a{", b""),
        ("ab?", b"a"), (r"\d+needle", b"needle"), ("a(b)?cde", b"cde"), ("é", b""), (r"\Qab", b""), ("(a|b)cd", b"cd"),
        ("x{0}yz", b"yz"), ("(fo|ba)", b"ba fo"), ("fo|", b""), (r"a\.b", b"a.b"), ("(?:ab)+c", b"ab"),
        ("[[:alpha:]]ab", b""),
    ],
)  # fmt: skip
def test_the_required_literals_are_told_carefully(pattern: str, literals: bytes) -> None:
    assert Matcher(pattern).literals == tuple(literals.split())


@pytest.mark.parametrize(
    ("pattern", "plain"), [("a.b", None), (r"a\.b", b"a.b"), ("^a", None), ("a|b", None), ("a+", None)]
)
def test_a_pattern_that_is_one_text_is_known_as_such(pattern: str, plain: bytes | None) -> None:
    assert Matcher(pattern).plain == plain


@given(st.text("ab\n.^$|()*+?[]\\swdW", max_size=8), st.text("ab\n ", max_size=12))
def test_a_pattern_that_is_taken_line_by_line_matches_as_across_lines(pattern: str, text: str) -> None:
    try:
        taken = Matcher(pattern, multiline=True)
        crossing = Matcher(f"(?:{pattern})", multiline=True)  # this spelling is never taken line by line
    except AgenvoyError:
        return
    assert crossing.multiline
    assert taken.find(text.encode()) == crossing.find(text.encode())


@given(st.text("ab.*?+(){}[]|^$\\d1xQE-", max_size=12), st.text("abdx1\\A- ", max_size=30))
def test_every_match_holds_a_required_literal(pattern: str, text: str) -> None:
    try:
        matcher = Matcher(pattern)
        by_pattern = Matcher(f"(?:{pattern})|\\b\\B")  # the same, but never taken for a plain text
    except AgenvoyError:
        return
    found = matcher.find(text.encode())
    assert found == by_pattern.find(text.encode())
    if found and matcher.literals:
        assert any(literal in text.encode() for literal in matcher.literals)
