"""A crew shares one job, does without workers that die, and leaves no process behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from test_pool import gone

from agenvoy.workers.crew import Crew

HERE = Path(__file__).parent


@pytest.fixture
def crew(monkeypatch):
    monkeypatch.syspath_prepend(str(HERE))
    made = Crew("jobs:part", 2)
    yield made
    made.close()


def answers(crew, count):
    found = []
    while len(found) < count:
        found += crew.answers(5)
    return found


def test_each_worker_answers_its_part(crew):
    assert crew.take()
    crew.hire()
    for number, worker in enumerate(crew.free()):
        assert crew.give(worker, {"number": number}, f"part {number}")
    assert sorted(crew.at_work) == ["part 0", "part 1"]
    assert sorted((part, answer["number"]) for part, answer in answers(crew, 2)) == [("part 0", 0), ("part 1", 1)]
    crew.release()
    assert len(crew.pids()) == 2


@pytest.mark.parametrize("threads", [False, True])
def test_the_part_of_a_worker_that_dies_comes_back(crew, threads):
    over = threading.Event()
    other = threading.Thread(target=over.wait)  # beside another thread workers are not copies of this process
    if threads:
        other.start()
    assert crew.take()
    crew.hire()
    worker = crew.free()[0]
    assert crew.give(worker, {"die": True}, "lost")
    assert answers(crew, 1) == [("lost", None)]
    assert gone(worker.pid)
    assert len(crew.pids()) == 1
    crew.release()
    over.set()


def test_a_crew_serves_one_job_at_a_time(crew):
    assert crew.take()
    taken = []
    thread = threading.Thread(target=lambda: taken.append(crew.take()))
    thread.start()
    thread.join()
    assert taken == [False]
    crew.release()
    assert crew.take()
    crew.release()


def test_a_worker_that_is_at_work_when_the_job_ends_is_ended(crew):
    assert crew.take()
    crew.hire()
    worker = crew.free()[0]
    crew.give(worker, {"hang": True}, "endless")
    crew.release()
    assert gone(worker.pid)


@pytest.mark.parametrize("arguments", ["{}", "{'hang': True}"])
def test_copies_die_with_their_parent(arguments):
    code = (
        f"import sys, time; sys.path.insert(0, {str(HERE)!r});"
        "from agenvoy.workers.crew import Crew; crew = Crew('jobs:part', 2); crew.take(); crew.hire();"
        f"crew.give(crew.free()[0], {arguments}, 0); print(*crew.pids(), flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pids = [int(word) for word in parent.stdout.readline().split()]
    assert len(pids) == 2 and os.getpid() not in pids
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert all(gone(pid) for pid in pids)
