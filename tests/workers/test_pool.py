import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from agenvoy.errors import AgenvoyError
from agenvoy.workers import Limits, Pool, WorkerFailed

HERE = Path(__file__).parent
MIB = 1 << 20


@pytest.fixture
def pool(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    made = Pool(Limits(memory=200 * MIB, address=0, seconds=30))
    yield made
    made.close()


@pytest.fixture
def fd(tmp_path):
    (tmp_path / "f").write_text("content")
    opened = os.open(tmp_path / "f", os.O_RDONLY)
    yield opened
    os.close(opened)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def gone(pid: int, seconds: float = 5) -> bool:
    end = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < end:
        threading.Event().wait(0.02)
    return not alive(pid)


def test_a_job_gets_the_open_file_and_gives_back_a_document_and_bytes(pool, fd):
    told = []
    done, blob = pool.run("jobs:echo", fd, {"a": "\udcff"}, tell=told.append)
    assert (done["said"], done["read"], blob, told) == ({"a": "\udcff"}, "content", b"\0raw", [{"at": 1}])


def test_a_worker_is_used_again(pool, fd):
    pids = {pool.run("jobs:echo", fd, {})[0]["pid"] for _ in range(3)}
    assert len(pids) == 1 and list(pids) == pool.pids()


@pytest.mark.parametrize(
    ("job", "why", "detail"),
    [("die", "crash", "SIGABRT"), ("fail", "crash", "KeyError"), ("need", "missing", "no_such_library")],
)
def test_a_failed_job_says_how_and_the_next_one_works(pool, fd, job, why, detail):
    with pytest.raises(WorkerFailed) as failure:
        pool.run(f"jobs:{job}", fd, {})
    assert failure.value.why == why and detail in failure.value.detail
    assert pool.run("jobs:echo", fd, {})[0]["read"] == "content"


def test_a_refusal_comes_through_with_its_details(pool, fd):
    with pytest.raises(AgenvoyError) as error:
        pool.run("jobs:refuse", fd, {})
    assert (error.value.code, error.value.hint, error.value.details) == ("no_text", "look elsewhere", {"pages": 3})


@pytest.mark.parametrize("job", ["hang", "sleep"])
def test_a_job_that_hangs_is_killed(pool, fd, job):
    begun = time.monotonic()
    with pytest.raises(WorkerFailed) as failure:
        pool.run(f"jobs:{job}", fd, {}, seconds=0.5)
    assert failure.value.why == "timeout" and time.monotonic() - begun < 5 and pool.pids() == []


def test_progress_renews_the_time_of_a_job_whose_length_nobody_knows(pool, fd):
    with pytest.raises(WorkerFailed):
        pool.run("jobs:steps", fd, {}, seconds=0.8)
    assert pool.run("jobs:steps", fd, {}, seconds=0.8, renew=True)[0] == {"steps": 4}


def test_a_job_that_takes_too_much_memory_is_killed(pool, fd):
    with pytest.raises(WorkerFailed) as failure:
        pool.run("jobs:hoard", fd, {})
    assert failure.value.why == "memory"


def test_the_kernel_refuses_what_goes_beyond_the_address_space(monkeypatch, fd):
    monkeypatch.syspath_prepend(str(HERE))
    tight = Pool(Limits(memory=4096 * MIB, address=300 * MIB, seconds=30))
    with pytest.raises(WorkerFailed) as failure:
        tight.run("jobs:hoard", fd, {})
    assert failure.value.why == "memory"
    tight.close()


def test_a_caller_that_gives_up_ends_the_worker(pool, fd):
    def give_up():
        raise LookupError("not wanted any more")

    with pytest.raises(LookupError):
        pool.run("jobs:sleep", fd, {}, check=give_up)
    assert pool.pids() == []


@pytest.mark.parametrize("job", ["hang", "sleep", "echo"])
def test_a_worker_dies_with_its_parent_even_in_a_busy_loop(tmp_path, job):
    code = (
        f"import os, sys, threading; sys.path.insert(0, {str(HERE)!r});"
        "from agenvoy.workers import Limits, Pool;"
        "made = Pool(Limits(1 << 30, 0, 60)); fd = os.open('/dev/null', os.O_RDONLY);"
        "worker = made._take(); print(worker.process.pid, flush=True); made._give_back(worker, True);"
        f"made.run('jobs:{job}', fd, {{}}, tell=lambda r: None); threading.Event().wait()"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert alive(pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert gone(pid)


def test_two_jobs_run_at_once_and_a_third_waits(pool, fd):
    done = []
    threads = [threading.Thread(target=lambda: done.append(pool.run("jobs:steps", fd, {}))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 3 and len(pool.pids()) <= 2


def test_a_worker_without_work_ends_by_itself(monkeypatch, fd):
    monkeypatch.syspath_prepend(str(HERE))
    short = Pool(Limits(memory=200 * MIB, address=0, seconds=30), idle_s=0.2)
    pid = short.run("jobs:echo", fd, {})[0]["pid"]
    assert gone(pid) and short.pids() == []
    assert short.run("jobs:echo", fd, {})[0]["pid"] != pid
    short.close()


def test_a_worker_that_was_killed_while_it_rested_is_replaced(pool, fd):
    pid = pool.run("jobs:echo", fd, {})[0]["pid"]
    os.kill(pid, signal.SIGKILL)
    assert gone(pid)
    assert pool.run("jobs:echo", fd, {})[0]["pid"] != pid
