"""Costs as ratios within one run: `pytest tests/benchmarks` (not part of the default run).

Each ratio is the median of rounds in which both sides take turns, so that a busy machine slows both.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from world import World, read, write

from agenvoy.blobs.files import sync_folder
from agenvoy.workspace.service import Service

Report = Callable[[str], None]
LINE = "a line of text as programs have them, {} and so on\n"


def timed(act: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def ratio(one: Callable[[int], object], other: Callable[[int], object], rounds: int) -> tuple[float, float, float]:
    """`(ratio, seconds of one, seconds of the other)`: medians over rounds in which both take turns."""
    pairs = [(timed(lambda n=n: one(n)), timed(lambda n=n: other(n))) for n in range(rounds)]  # type: ignore[misc]
    mine, theirs = statistics.median(p[0] for p in pairs), statistics.median(p[1] for p in pairs)
    return mine / theirs, mine, theirs


def bare_write(path: Path, data: bytes) -> None:
    """Temp, sync, rename, sync the folder: what any careful program does."""
    temp = path.with_name(path.name + ".tmp")
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)
    os.rename(temp, path)
    sync_folder(str(path.parent))


def bare_rewrite(files: dict[Path, bytes]) -> None:
    """Many files with the same care and the same batching: every temp synced, all renamed, each folder synced once."""
    for path, data in files.items():
        temp = path.with_name(path.name + ".tmp")
        fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)
    for path in files:
        os.rename(path.with_name(path.name + ".tmp"), path)
    for folder in {path.parent for path in files}:
        sync_folder(str(folder))


def text(number: int, size: int = 8192) -> str:
    """Text of about `size` bytes that differs from others in every line."""
    return "".join(LINE.format(f"{number}.{n}") for n in range(size // len(LINE)))


def test_an_edit_with_history_against_a_bare_durable_write(world: World, service: Service, report: Report) -> None:
    service.begin_task("measure")
    write(service, "f.txt", text(0).replace(LINE.format("0.80"), "turn 0\n"))
    bare = world.root.parent / "bare.txt"

    def edit(n: int) -> None:
        service.edit_file("f.txt", targets=[{"old_string": f"turn {n}\n", "new_string": f"turn {n + 1}\n"}])

    found, mine, theirs = ratio(edit, lambda n: bare_write(bare, text(n).encode()), 300)
    report(f"durable edit of 8 KB with history: {found:.2f}x a bare write ({mine * 1e3:.2f} / {theirs * 1e3:.2f} ms)")
    assert found <= 4


def test_taking_a_thousand_files_back_against_rewriting_them(world: World, service: Service, report: Report) -> None:
    files = {world.root / f"d{n % 20}/f{n}.txt": text(n).encode() for n in range(1000)}
    for path, data in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    service.begin_task("measure")
    names = [str(path.relative_to(world.root)) for path in files]
    for start in range(0, 1000, 100):
        read(service, *names[start : start + 100])
    for number, name in enumerate(names):
        service.edit_file(name, content=text(number + 5000))
    pairs = []
    for _ in range(3):
        mine = timed(lambda: service.restore_file(task_id="last"))
        service.undo()
        pairs.append((mine, timed(lambda: bare_rewrite(files))))
        bare_rewrite({path: text(n + 5000).encode() for n, path in enumerate(files)})
    found = statistics.median(p[0] for p in pairs) / statistics.median(p[1] for p in pairs)
    report(f"1,000 files taken back: {found:.2f}x a bare durable rewrite ({pairs})")
    assert found <= 3


def test_paging_through_a_two_gigabyte_log_in_bounded_memory(world: World, report: Report) -> None:
    block = "".join(f"2026-01-01 00:00:00 INFO request {n} was served in 3 ms\n" for n in range(20_000)).encode()
    with open(world.root / "big.log", "wb") as out:
        while out.tell() < 2 * 1024**3:
            out.write(block)
    code = (
        "import sys\nfrom agenvoy.config import Settings\nfrom agenvoy.workspace.service import Service\n"
        "s = Service(Settings(root=sys.argv[1], home=sys.argv[2]))\noffset, pages = 1, 0\n"
        "for offset in (1, 2049, 4097, 1_000_000, 20_000_000):\n"
        "    s.read_files([{'path': 'big.log', 'offset': offset}])\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )  # not ru_maxrss: that one counts what the process that started this one held
    command = [sys.executable, "-c", code, str(world.root), str(world.home)]
    peak = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout) / 1024
    report(f"five pages of a 2 GB log: {peak:.0f} MB at most")
    assert peak < 100


def test_history_from_a_cold_start_against_an_empty_python(world: World, service: Service, report: Report) -> None:
    write(service, "f.txt", "one\n")
    env = {**os.environ, "AGENVOY_HOME": str(world.home), "AGENVOY_ROOT": str(world.root)}
    agenvoy = [str(Path(sys.executable).with_name("agenvoy")), "history"]

    def run(command: list[str]) -> None:
        subprocess.run(command, check=True, capture_output=True, env=env)

    found, mine, theirs = ratio(lambda n: run(agenvoy), lambda n: run([sys.executable, "-c", "pass"]), 15)
    report(f"agenvoy history: {found:.1f}x python -c pass ({mine * 1e3:.0f} / {theirs * 1e3:.0f} ms)")
    assert found <= 12


def _grow(service: Service, path: str, upto: int) -> None:
    """Rows by plain SQL, fifty a path: a million real edits would take an hour and read no differently."""
    with service.session.catalog.write(sync=False) as c:
        operation = c.execute("SELECT max(id) FROM operations").fetchone()[0]
        have = c.execute("SELECT count(*) FROM versions").fetchone()[0]
        row = c.execute("SELECT kind, mode, size, hash, extra, proof FROM versions ORDER BY id LIMIT 1").fetchone()
        c.executemany(
            "INSERT INTO versions(path, operation, action, kind, mode, size, hash, extra, proof)"
            " VALUES (?, ?, 'modify', ?, ?, ?, ?, ?, ?)",
            ((os.fsencode(f"{path}/{n % (upto // 50)}.txt"), operation, *row) for n in range(have, upto)),
        )


@pytest.mark.parametrize("what", ["the workspace", "a file", "a folder"])
def test_history_with_a_million_versions_against_a_thousand(tmp_path: Path, report: Report, what: str) -> None:
    services = []
    for name, count in (("many", 1_000_000), ("few", 1000)):
        world = World(tmp_path / name)
        services.append(world.service())
        world.put("d/7.txt", "x\n")
        write(services[-1], "d/7.txt", "y\n")
        _grow(services[-1], str(world.root / "d"), count)
    wanted = {"the workspace": {}, "a file": {"path": "d/7.txt"}, "a folder": {"path": "d"}}[what]
    found, mine, theirs = ratio(
        lambda n: services[0].file_history(**wanted), lambda n: services[1].file_history(**wanted), 41
    )
    report(f"history of {what}, 1,000,000 versions: {found:.2f}x 1,000 ({mine * 1e3:.2f} / {theirs * 1e3:.2f} ms)")
    assert found <= 2


def test_eight_processes_on_eight_files_against_one(world: World, report: Report) -> None:
    write(world.service(), "start.txt", "x\n")
    world.close()

    def work(number: int, edits: int) -> None:
        service = world.service(actor=f"a{number}")
        for turn in range(edits):
            write(service, f"f{number}.txt", text(turn))
        world.close()

    def together() -> None:
        children = []
        for number in range(8):
            if (child := os.fork()) == 0:
                work(number, 25)
                os._exit(0)
            children.append(child)
        assert all(os.waitpid(child, 0)[1] == 0 for child in children)

    eight, one = timed(together), timed(lambda: work(9, 200))
    report(f"200 edits by 8 processes: {one / eight:.2f}x the throughput of one process ({eight:.2f} / {one:.2f} s)")
    assert one / eight > 0.4
