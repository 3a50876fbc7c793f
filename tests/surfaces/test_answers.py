"""A verb's outcome or error becomes the contract's document."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenvoy.errors import AgenvoyError
from agenvoy.surfaces.answers import answer
from agenvoy.surfaces.dispatch import decode
from agenvoy.types import Outcome, TaskRef


def test_an_outcome_becomes_a_document() -> None:
    outcome = Outcome("begin_task", "Begin(x)", {"task_id": "t1"}, "", TaskRef("t1", "x"), ["mind the gap"])
    done = answer("begin_task", {"objective": "x"}, lambda: outcome)
    assert done.exit_status == 0 and done.document["task"] == {"id": "t1", "objective": "x"}
    assert done.document["text"].startswith("Notice: mind the gap\nTask t1") and done.document["notices"]


@pytest.mark.parametrize(
    ("code", "status"),
    [("invalid_arguments", 2), ("confirmation_required", 3), ("conflict", 4), ("cancelled", 130), ("not_read", 1)],
)
def test_an_error_keeps_its_code_details_and_exit_status(code: str, status: int) -> None:
    def verb() -> Outcome:
        raise AgenvoyError(code, "what happened", "what to do", extra=[1])

    done = answer("edit_file", {"path": "f"}, verb)
    assert done.exit_status == status and done.document["label"] == "Edit(f)"
    assert done.document["error"] == {"code": code, "message": "what happened", "hint": "what to do", "extra": [1]}


def test_an_error_of_the_system_gets_the_contracts_code(tmp_path: Path) -> None:
    def verb() -> Outcome:
        os.stat(tmp_path / "missing")
        raise AssertionError

    assert answer("read_files", {}, verb).document["error"]["code"] == "not_found"


def test_an_unexpected_error_is_internal_and_its_details_go_to_a_private_log(tmp_path: Path) -> None:
    def verb() -> Outcome:
        raise ZeroDivisionError("secret cause")

    home = tmp_path / "home"
    done = answer("read_files", {}, verb, home=str(home))
    log = home / "errors.log"
    assert done.document["error"]["code"] == "internal" and "secret cause" not in str(done.document)
    assert "secret cause" in log.read_text() and stat.S_IMODE(log.stat().st_mode) == 0o600


def test_an_unwritable_log_does_not_hide_the_error(tmp_path: Path) -> None:
    def verb() -> Outcome:
        raise ZeroDivisionError

    (tmp_path / "file").write_text("x")
    home = os.path.join(tmp_path, "file", "below")
    assert answer("read_files", {}, verb, home=home).document["error"]["code"] == "internal"


def test_an_interruption_passes() -> None:
    def verb() -> Outcome:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer("read_files", {}, verb)


@pytest.mark.parametrize(
    "text", ["{", "[1,", '{"a": NaN}', "nul", b"\xff\xfe{}", "[" * 200_000, '{"a": 1' + "0" * 5000 + "}", "{} {}"]
)
def test_what_is_no_json_is_refused(text: Any) -> None:
    with pytest.raises(AgenvoyError) as caught:
        decode(text)
    assert caught.value.code == "invalid_arguments"


def test_nothing_at_all_means_no_arguments() -> None:
    assert decode(b"") == {} and decode(" \n") == {} and decode(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}


def test_answers_need_no_pydantic() -> None:
    code = "import sys, agenvoy.surfaces.answers; sys.exit('pydantic' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
