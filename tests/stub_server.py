"""A stub of an OpenAI-compatible server on loopback, which fails as it is told to.

It answers from a table by the prompt's first line, or else with the last word of the prompt, so
that answers can be told apart. What is in ``script`` is done first, one entry a request, in the
order in which requests come; each request that is answered well is written into ``answered``.
"""

from __future__ import annotations

import json
import math
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "stub-model"
LISTED = (MODEL, "other-model")


@dataclass(frozen=True, kw_only=True)
class Say:
    """A response: its status, and its body as JSON or as it stands."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Cut:
    """Close the connection; after so many bytes of the body, or before the status line."""

    after: int | None = None


@dataclass(frozen=True, kw_only=True)
class Hang:
    """Say nothing until the server is released, or so many seconds have passed."""

    seconds: float = 30.0


Step = Say | Cut | Hang


def refuse(status: int, message: str = "no", *, code: str = "", **headers: str) -> Say:
    """An error in OpenAI's form."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"error": {"message": message, "type": "stub", "code": code or None}}
    return Say(status=status, body=body, headers=named)


@dataclass
class Stub:
    """What the server knows, does and has seen.

    ``check`` may refuse any request by what it asks for; ``words`` are replies and
    ``likeliest`` the probabilities of first tokens, the one that is written first, both by the
    first line of a prompt; where ``logprobs`` is off there are no probabilities.
    """

    url: str = ""
    script: deque[Step] = field(default_factory=deque)
    check: Callable[[dict[str, Any]], Step | None] = lambda body: None
    words: dict[str, str | None] = field(default_factory=dict)
    likeliest: dict[str, dict[str, float]] = field(default_factory=dict)
    logprobs: bool = True
    models: Step | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    connections: int = 0
    protocol: str = "HTTP/1.0"
    released: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def reply(self, path: str, body: dict[str, Any]) -> Step:
        """What is to be done with a request."""
        with self.lock:
            self.asked.append(body)
            scripted = self.script.popleft() if self.script else None
        if (step := scripted or self.check(body)) is not None:
            return step
        prompt = _prompt(body)
        with self.lock:
            self.answered.append(prompt)
        if path.endswith("/chat/completions"):
            return Say(body={"choices": [self._chat(prompt, body)]})
        return Say(body={"choices": [self._completion(prompt, body)]})

    def _text(self, prompt: str) -> str | None:
        first = prompt.partition("\n")[0]
        written = next(iter(self.likeliest.get(first, prompt.split()[-1:])))
        return self.words.get(first, written)

    def _tokens(self, prompt: str) -> dict[str, float]:
        first = prompt.partition("\n")[0]
        return self.likeliest.get(first, {str(self._text(prompt)): 0.75, " other": 0.125})

    def _chat(self, prompt: str, body: dict[str, Any]) -> dict[str, Any]:
        text = self._text(prompt)
        choice: dict[str, Any] = {"message": {"role": "assistant", "content": text}}
        if body.get("logprobs") and self.logprobs:
            tokens = [
                {"token": token, "logprob": math.log(probability)}
                for token, probability in self._tokens(prompt).items()
            ]
            first = {**tokens[0], "top_logprobs": tokens[: body["top_logprobs"]]}
            choice["logprobs"] = {"content": [first]}
        return choice

    def _completion(self, prompt: str, body: dict[str, Any]) -> dict[str, Any]:
        choice: dict[str, Any] = {"text": self._text(prompt)}
        if self.logprobs:
            ranked = list(self._tokens(prompt).items())[: body["logprobs"]]
            choice["logprobs"] = {
                "tokens": [ranked[0][0]],
                "token_logprobs": [math.log(ranked[0][1])],
                "top_logprobs": [{token: math.log(probability) for token, probability in ranked}],
            }
        return choice


@contextmanager
def stub_server(kind: type[Stub] = Stub) -> Iterator[Stub]:
    """A stub that serves while the context is open; its ``url`` is the base URL."""
    stub = kind()
    server = _Server(
        ("127.0.0.1", 0),
        type("Handler", (_Handler,), {"stub": stub, "protocol_version": stub.protocol}),
    )
    with server:
        stub.url = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield stub
        finally:
            stub.released.set()
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    # As many as may knock at once; the standard five make further ones wait for a second.
    request_queue_size = 64


class _Handler(BaseHTTPRequestHandler):
    # With HTTP/1.0 each connection ends with its response: none is left when the server is closed.
    stub: Stub

    def setup(self) -> None:
        with self.stub.lock:
            self.stub.connections += 1
        super().setup()

    def do_GET(self) -> None:
        listed = Say(body={"object": "list", "data": [{"id": name} for name in LISTED]})
        self.stub.keys.add(self.headers.get("Authorization", ""))
        self._do(self.stub.models or listed)

    def do_POST(self) -> None:
        stub = self.stub
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with stub.lock:
            stub.keys.add(self.headers.get("Authorization", ""))
        self._do(stub.reply(self.path, body))

    def log_message(self, format: str, *args: Any) -> None:
        """Keep silent: the standard server writes every request to standard error."""

    def _do(self, step: Step) -> None:
        # Whoever asked may have gone.
        with suppress(ConnectionError):
            match step:
                case Say():
                    self._send(step, cut=None)
                case Cut(after=None):
                    pass
                case Cut(after=count):
                    self._send(Say(body={"choices": []}), cut=count)
                case Hang():
                    self.stub.released.wait(step.seconds)

    def _send(self, step: Say, *, cut: int | None) -> None:
        content = step.body if isinstance(step.body, bytes) else json.dumps(step.body).encode()
        self.send_response(step.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        for name, value in step.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[:cut])


def _prompt(body: dict[str, Any]) -> str:
    if "messages" in body:
        return str(body["messages"][-1]["content"])
    return str(body["prompt"])
