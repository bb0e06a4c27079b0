"""How much of what a server allows does SCoPE use, and is any request lost or sent twice?

A server in a process of its own answers in 50 ms. One has 8 and one 32 places, and lets further
requests wait; one has 32 places and one takes 100 requests a second, and both refuse others with
status 429. Each is asked with the usual settings, and with 8 requests at once all the time.

    python benchmarks/endpoint_speed.py [--json]

Keys of --json, for each server (`places_8`, `places_32`, `strict_32`, `rate_100`): `_share`
(answers a second, of those that the server's limit allows), `_share_of_8` (the same with
`--requests 8`), `_lost` and `_twice` (questions without an answer, and answered more than once),
`_refused` (requests that the server refused); `python`, `processor`, `cores`.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import re
import time
from collections import Counter
from typing import Any, NamedTuple

from surroundings import command, show, surroundings

from scope.models.endpoint import EndpointModel, load
from scope.models.options import ModelOptions
from scope.records import Question

LATENCY = 0.05
SECONDS = 15
"""That the server needs at least for all questions."""


class Limits(NamedTuple):
    """What a server takes: requests at once, of which a strict one refuses more, or a second."""

    places: int | None = None
    strict: bool = False
    rate: float | None = None

    @property
    def a_second(self) -> float:
        """Answers a second at most."""
        return self.rate if self.places is None else self.places / LATENCY  # type: ignore[return-value]


SERVERS = {
    "places_8": Limits(places=8),
    "places_32": Limits(places=32),
    "strict_32": Limits(places=32, strict=True),
    "rate_100": Limits(rate=100.0),
}


def main() -> None:
    """Ask every server and print a table, or JSON."""
    parser = command(__doc__)
    arguments = parser.parse_args()
    figures: dict[str, Any] = {}
    for name, limits in SERVERS.items():
        for ending, options in (("", ModelOptions()), ("_of_8", ModelOptions(requests=8))):
            with Server(limits) as server:
                some = questions(limits.a_second if ending else SECONDS * limits.a_second)
                seconds, answered = asked(server.model(options), some)
                figures[f"{name}_share{ending}"] = round(
                    len(answered) / seconds / limits.a_second, 3
                )
            if not ending:
                figures |= {f"{name}_{key}": one for key, one in checked(server, answered).items()}
    figures |= surroundings()
    show(figures, as_json=arguments.json)


def questions(count: float) -> list[Question]:
    """Questions that all differ."""
    return [Question(id=str(one), text=f"question {one}") for one in range(round(count))]


def asked(model: EndpointModel, some: list[Question]) -> tuple[float, list[Question]]:
    """Wall seconds, and the questions that were answered."""
    began = time.perf_counter()
    answers = list(model.answer(some))
    return time.perf_counter() - began, [one for one, _ in zip(some, answers, strict=True)]


def checked(server: Server, some: list[Question]) -> dict[str, int]:
    """Questions that the server has not answered, and those that it has answered twice."""
    counts = Counter(server.answered)
    return {
        "lost": sum(not counts[one.text] for one in some),
        "twice": sum(count > 1 for count in counts.values()),
        "refused": server.refused,
    }


class Server:
    """A server in a process of its own, while the context is open."""

    def __init__(self, limits: Limits) -> None:
        self._pipe, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=serve, args=(limits, theirs))
        self.answered: list[str] = []
        self.refused = 0

    def __enter__(self) -> Server:
        self._process.start()
        self._port = self._pipe.recv()
        return self

    def __exit__(self, *failure: object) -> None:
        self._pipe.send("end")
        self.answered, self.refused = self._pipe.recv()
        self._process.join()

    def model(self, options: ModelOptions) -> EndpointModel:
        """The model that the server has."""
        return load(f"http://127.0.0.1:{self._port}/v1#stub", options)


def serve(limits: Limits, pipe: Any) -> None:
    """Answer until the other side says that it is enough; then say what was answered."""
    asyncio.run(_serve(limits, pipe))


async def _serve(limits: Limits, pipe: Any) -> None:
    places = asyncio.Semaphore(limits.places or 10_000)
    answered: list[str] = []
    refused, allowed, since = 0, float(limits.rate or 0) / 10, time.monotonic()

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal refused, allowed, since
        while head := await reader.readline():
            length = 0
            while (line := await reader.readline()).strip():
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            body = json.loads(await reader.readexactly(length)) if length else {}
            if head.startswith(b"GET"):
                _send(writer, 200, {"data": [{"id": "stub"}]})
                continue
            now = time.monotonic()
            if limits.rate:
                allowed = min(limits.rate / 10, allowed + (now - since) * limits.rate)
                since = now
                if allowed < 1:
                    refused += 1
                    _send(writer, 429, {"error": {"message": "too many"}})
                    continue
                allowed -= 1
            if limits.strict and places.locked():
                refused += 1
                _send(writer, 429, {"error": {"message": "too many at once"}})
                continue
            async with places:
                await asyncio.sleep(LATENCY)
            prompt = body["messages"][-1]["content"]
            answered.extend(re.findall(r"question \d+", prompt)[-1:])
            _send(writer, 200, {"choices": [{"message": {"content": "yes"}}]})
        writer.close()

    server = await asyncio.start_server(reply, "127.0.0.1", 0)
    pipe.send(server.sockets[0].getsockname()[1])
    await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
    pipe.send((answered, refused))
    # Connections that clients have left open are cut.
    asyncio.get_running_loop().set_exception_handler(lambda *_: None)
    server.close()


def _send(writer: asyncio.StreamWriter, status: int, body: object) -> None:
    content = json.dumps(body).encode()
    writer.write(
        f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n".encode()
        + content
    )


if __name__ == "__main__":
    main()
