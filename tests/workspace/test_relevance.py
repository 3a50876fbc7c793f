"""The relevance check against a small server that speaks the chat interface."""

import json
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

LONG = "pears and quinces\n" * 400


class Model:
    """A decision model that says what it is told to say, and keeps what it was asked."""

    def __init__(self) -> None:
        self.says, self.status, self.asked, self.keys = "", 200, [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.asked.append((self.path, json.loads(body)))
                outer.keys.append(self.headers.get("Authorization"))
                said = json.dumps({"choices": [{"message": {"role": "assistant", "content": outer.says}}]}).encode()
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *args: object) -> None:
                return None

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def verdict(self, related: bool, confidence: float) -> None:
        self.says = "Here you are: " + json.dumps({"related": related, "confidence": confidence})


@pytest.fixture
def model():
    made = Model()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def judged(world, model):
    (world.root / "long.txt").write_text(LONG)
    return world.service(decision_model="judge", decision_url=model.url, decision_key="k-1")


def read(service, reason="count the bridges", **request):
    return service.read_files([{"path": "long.txt", **request}], reason).result["files"][0]


def test_an_unrelated_text_is_withheld_once_in_a_task(judged, model):
    judged.begin_task("build a bridge")
    model.verdict(False, 0.9)
    first, second = read(judged), read(judged)
    assert first["text"].startswith("File withheld") and "\n" not in first["text"] and first["withheld"]
    assert second["text"].startswith("1\tpears") and len(model.asked) == 1
    path, body = model.asked[0]
    assert (path, body["model"], model.keys[0]) == ("/v1/chat/completions", "judge", "Bearer k-1")
    assert "count the bridges" in body["messages"][0]["content"]


def test_gc_forgets_what_was_withheld_from_tasks_that_have_ended(judged, model, world):
    judged.begin_task("build a bridge")
    model.verdict(False, 0.9)
    read(judged)
    judged.gc()
    assert read(judged)["text"].startswith("1\tpears")
    judged.end_task()
    judged.gc()
    with sqlite3.connect(world.home / ".store" / "history.db") as c:
        assert c.execute("SELECT * FROM withheld").fetchall() == []


def test_a_withheld_answer_is_no_read(judged, model):
    judged.begin_task("build a bridge")
    model.verdict(False, 0.9)
    read(judged)
    with pytest.raises(Exception) as error:
        judged.edit_file("long.txt", content="new")
    assert error.value.code == "not_read"


def test_without_a_reason_the_objective_counts(judged, model):
    judged.begin_task("build a bridge")
    model.verdict(False, 0.95)
    assert read(judged, reason=None)["text"].startswith("File withheld")
    assert "build a bridge" in model.asked[0][1]["messages"][0]["content"]


def test_without_any_purpose_nobody_is_asked(judged, model):
    assert read(judged, reason=None)["text"].startswith("1\t") and model.asked == []


@pytest.mark.parametrize(("related", "confidence"), [(True, 0.99), (False, 0.69)])
def test_a_related_or_a_doubtful_text_is_shown(judged, model, related, confidence):
    model.verdict(related, confidence)
    assert read(judged)["text"].startswith("1\tpears")


@pytest.mark.parametrize("says", ["", "no idea", '{"related": "no", "confidence": 1}', '{"confidence": 1}', "{"])
def test_an_answer_that_cannot_be_understood_lets_the_text_through(judged, model, says):
    model.says = says
    assert read(judged)["text"].startswith("1\tpears")


def test_a_failing_model_lets_the_text_through(judged, model):
    model.verdict(False, 1.0)
    model.status = 500
    assert read(judged)["text"].startswith("1\tpears")


def test_no_server_lets_the_text_through(world):
    (world.root / "long.txt").write_text(LONG)
    service = world.service(decision_model="judge", decision_url="http://127.0.0.1:9/v1")
    assert read(service)["text"].startswith("1\tpears")


def test_rows_around_a_place_are_never_judged(judged, model):
    model.verdict(False, 1.0)
    assert read(judged, around=[5], context=400)["text"].startswith("1\tpears") and model.asked == []


def test_short_texts_and_sensitive_files_are_never_sent(world, model):
    model.verdict(False, 1.0)
    service = world.service(decision_model="judge", decision_url=model.url, allow_sensitive=True)
    (world.root / ".env").write_text(LONG)
    (world.root / "short.txt").write_text("x" * 4000)
    service.read_files([{"path": ".env"}, {"path": "short.txt"}], "count the bridges")
    assert model.asked == []
