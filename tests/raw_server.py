"""A server on loopback that answers every request with the bytes that it is given.

Where `stub_server` speaks the protocol well and fails as it is told to, this one says anything.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

MODEL = "m"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What came: the path, the headers by their names in small letters, the body as JSON."""

    path: str
    headers: dict[str, str]
    body: Any

    @property
    def key(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")


Pieces = bytes | Iterable[bytes]
Answer = Callable[[Request], Pieces]


@dataclass
class Raw:
    """The server's base URL, and what it was asked so far."""

    url: str = ""
    port: int = 0
    asked: list[Request] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def spec(self) -> str:
        return f"openai:{self.url}#{MODEL}"


@contextmanager
def raw_server(answer: Answer) -> Iterator[Raw]:
    """Serves while the context is open; the function gives what to send, whole or in pieces."""
    raw = Raw()
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listening:
        raw.port = listening.getsockname()[1]
        raw.url = f"http://127.0.0.1:{raw.port}/v1"
        thread = threading.Thread(target=_serve, args=(listening, raw, answer), daemon=True)
        thread.start()
        try:
            yield raw
        finally:
            raw.over.set()
            # Closing it does not wake the thread that waits for a connection.
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listening: socket.socket, raw: Raw, answer: Answer) -> None:
    while not raw.over.is_set():
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        threading.Thread(target=_one, args=(connection, raw, answer), daemon=True).start()


def _one(connection: socket.socket, raw: Raw, answer: Answer) -> None:
    # Whoever asked may have gone, or may speak TLS.
    with connection, suppress(OSError, ValueError, IndexError):
        connection.settimeout(30)
        request = _read(connection)
        raw.asked.append(request)
        pieces = answer(request)
        for piece in (pieces,) if isinstance(pieces, bytes) else pieces:
            if raw.over.is_set():
                return
            connection.sendall(piece)


def _read(connection: socket.socket) -> Request:
    content = b""
    while b"\r\n\r\n" not in content:
        content += _some(connection)
        if content.startswith(b"\x16"):
            raise ValueError("a greeting of TLS")
    head, _, body = content.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (one.partition(":") for one in lines)
    }
    while len(body) < int(headers.get("content-length", 0)):
        body += _some(connection)
    return Request(path=first.split()[1], headers=headers, body=json.loads(body or b"null"))


def _some(connection: socket.socket) -> bytes:
    if came := connection.recv(65536):
        return came
    raise ConnectionError


def http(content: bytes | str, status: str = "200 OK", **headers: str) -> bytes:
    """A whole response; ``retry_after`` stands for ``retry-after``."""
    body = content if isinstance(content, bytes) else content.encode()
    named = {"content-length": str(len(body)), "connection": "close"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("utf-8", "surrogateescape") + body


def endless(piece: bytes, status: str = "200 OK", **headers: str) -> Iterator[bytes]:
    """A response whose body has no end."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    yield f"HTTP/1.1 {status}\r\n{lines}\r\n".encode()
    while True:
        yield piece


def slowly(content: bytes, seconds: float = 0.2) -> Iterator[bytes]:
    """A byte at a time, so that no wait between two of them is long."""
    for place in range(len(content)):
        yield content[place : place + 1]
        time.sleep(seconds)


def chat(content: Any, **choice: Any) -> dict[str, Any]:
    """The body of a chat's reply, and of a completion's."""
    return {"choices": [{"message": {"content": content}, "text": content, **choice}]}
