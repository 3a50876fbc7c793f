"""A chat endpoint on loopback that plays a script, so that a real agent program can be driven without a model."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Arguments = dict[str, Any] | Callable[[list[str]], dict[str, Any]]


@dataclass
class Script:
    """The steps of a run: (end of the tool's name, its arguments), and the tools' answers as the model saw them.

    Arguments may be a function of the answers so far, for ids that only a run can know.
    """

    steps: Sequence[tuple[str, Arguments]]
    answers: list[str] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    at: int = 0

    def reply(self, request: dict[str, Any]) -> dict[str, Any]:
        """The model's message: the next step where tools are offered, else a word."""
        self.offered = [tool["function"]["name"] for tool in request.get("tools", [])]
        if not self.offered:
            return {"role": "assistant", "content": "ok"}
        self.answers = [_text(m["content"]) for m in request["messages"] if m["role"] == "tool"]
        if self.at >= len(self.steps):
            return {"role": "assistant", "content": "done"}
        wanted, arguments = self.steps[self.at]
        self.at += 1
        name = next((name for name in self.offered if re.search(wanted + "$", name)), wanted)
        given = arguments(self.answers) if callable(arguments) else arguments
        call = {"name": name, "arguments": json.dumps(given)}
        tool_call = {"index": 0, "id": f"call_{self.at}", "type": "function", "function": call}
        return {"role": "assistant", "content": None, "tool_calls": [tool_call]}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


@contextmanager
def served(script: Script) -> Iterator[str]:
    """Serve a script as an OpenAI-compatible endpoint; gives its base address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            message = script.reply(request)
            ends = "tool_calls" if "tool_calls" in message else "stop"
            usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
            head = {"id": "x", "created": 0, "model": "scripted"}
            if request.get("stream"):
                chunk = {**head, "object": "chat.completion.chunk"}
                parts = [
                    {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
                    {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": ends}], "usage": usage},
                ]
                body = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
                self._send("text/event-stream", body)
            else:
                choice = {"index": 0, "message": message, "finish_reason": ends}
                whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
                self._send("application/json", json.dumps(whole))

        def _send(self, kind: str, body: str) -> None:
            data = body.encode()
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
