"""Sends requests to a server, a fixed number at a time, and retries temporary failures."""

from __future__ import annotations

import asyncio
import math
import queue
import random
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any, TypeVar

from scope.errors import ModelError
from scope.models.endpoint.address import Address, Connections, Key
from scope.models.endpoint.exchange import (
    OK,
    EndpointError,
    EndpointRequest,
    Failure,
    HttpResponse,
    MalformedReplyError,
    exchange,
    refusal,
)
from scope.models.endpoint.protocol import Dialect, Reply, read_reply
from scope.models.options import LETTER_TOKENS, THOUGHT_TOKENS, ModelOptions
from scope.printing import counted

TOO_MANY = (429, 503, 529)
"""Statuses of a server that has too many requests; 529 is Anthropic's."""

FIRST_DELAY = 0.5
"""Seconds to wait after a request's first failure; each further failure doubles them."""

LONGEST_DELAY = 60.0

_MOST_DOUBLINGS = 10

BUSY_FAILURES = 3
"""The delay of a request that is refused while others succeed grows up to this many failures."""

FAILED_IN_A_ROW = 4
"""Requests that fail for good, without a reply in between, after which no other is sent."""

PROBE = EndpointRequest(
    path="chat",
    prompt="How many days do two weeks have? Answer with the number alone.",
    most_tokens=LETTER_TOKENS + THOUGHT_TOKENS,
)
"""Shows whether a model thinks: the same question whatever else is asked, and in which order."""

Item = TypeVar("Item")
Give = Callable[[Item], None]


class WaitClock:
    """Time as it passes; tests replace it with a clock that never waits."""

    def now(self) -> float:
        """Seconds since an arbitrary moment."""
        return time.monotonic()

    async def wait(self, stop: asyncio.Event, seconds: float) -> None:
        """Return after this many seconds, or as soon as the event is set."""
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)

    def spread(self) -> float:
        """A random number from 0.5 to 1, so that requests do not come back all at once."""
        return random.uniform(0.5, 1)  # noqa: S311 - not used for security


def delay(failures: int) -> float:
    """Seconds to wait after this many failures of one request, before they are spread.

    Examples
    --------
    >>> [delay(failures) for failures in (1, 2, 3, 20)]
    [0.5, 1.0, 2.0, 60.0]
    """
    doublings = min(failures - 1, _MOST_DOUBLINGS)
    return float(min(FIRST_DELAY * 2**doublings, LONGEST_DELAY))


class Endpoint:
    """Sends many requests to a server at once; replies and errors never contain its key."""

    def __init__(self, address: Address, key: Key, options: ModelOptions, clock: WaitClock) -> None:
        self._server = _Server(address, key, options, clock)
        weakref.finalize(self, self._server.close)

    @property
    def sampled(self) -> bool:
        """Whether the model draws its answers, since it takes no temperature."""
        return self._server.dialect.sampled

    def ask(
        self, asks: Sequence[EndpointRequest], *, retries: int | None = None
    ) -> Generator[tuple[int, Reply]]:
        """The index of each request and its reply, as they arrive; equal requests are sent once.

        A request that fails for good while the server answers others has a reply that says so.
        Closing the iterator cancels the requests in flight.

        Raises
        ------
        EndpointError
            When all requests fail for good; all replies that arrived are yielded first.
        ModelError
            When `--max-requests` is reached.
        """
        places: dict[EndpointRequest, list[int]] = {}
        for place, ask in enumerate(asks):
            places.setdefault(ask, []).append(place)
        server = self._server
        tries = 1 + (server.options.retries if retries is None else retries)
        session = _Session(server, list(places), tries)
        answered = 0
        with closing(server.results(session.serve)) as replies:
            for ask, reply in replies:
                answered += len(places[ask])
                yield from ((place, reply) for place in places[ask])
        if session.exhausted:
            raise ModelError(
                f"{counted(server.sent, 'request')} to `{server.address.spec}` in this session, as "
                "many as --max-requests allows",
                expected="as many requests as the run needs",
                fix="run the same command again: it goes on from here, with as many requests "
                "again; what was answered is kept. A session that goes on first repeats "
                "stored questions: allow more than eight",
            )
        if session.failure:
            raise EndpointError(
                f"`{server.address.spec}` answered {answered} of {len(asks)} questions and failed "
                f"in {session.tries} {'tries' if session.tries > 1 else 'try'} at the next",
                session.failure,
                key=server.key,
            )


class _Server:
    """The state of a server, the connections to it, and the thread that uses them.

    A thread, since the caller may have its own event loop, as notebooks do.
    """

    def __init__(self, address: Address, key: Key, options: ModelOptions, clock: WaitClock) -> None:
        self.address, self.key, self.options, self.clock = address, key, options, clock
        self.dialect = Dialect(address.model, options.thinking)
        self.probe: Reply | None = None
        self.probing = asyncio.Lock()
        self.answered: set[str] = set()
        self.sent = 0
        self.connections = Connections(key, address.base_url)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._run, name="scope-endpoint", daemon=True).start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        self._loop.close()

    def results(self, work: Callable[[Give[Item]], Coroutine[Any, Any, None]]) -> Generator[Item]:
        """The values that the coroutine passes to its argument; then its exception, if any.

        Closing the iterator cancels the coroutine and waits until it has ended.
        """
        items: queue.SimpleQueue[tuple[Item, ...]] = queue.SimpleQueue()

        async def until_done() -> None:
            try:
                await work(lambda item: items.put((item,)))
            finally:
                items.put(())  # the last

        running = asyncio.run_coroutine_threadsafe(until_done(), self._loop)
        entry: tuple[Item, ...] | None = None
        try:
            while entry := items.get():
                yield entry[0]
        finally:
            if entry != ():
                running.cancel()
                while items.get():
                    pass
        running.result()

    def close(self) -> None:
        """Close the connections and end the thread; closing twice does nothing.

        It returns at once: waiting for the thread could deadlock, for example in an import that
        triggers the garbage collector.
        """
        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._end(), self._loop)

    async def _end(self) -> None:
        try:
            await self.connections.close()
            await self._loop.shutdown_asyncgens()
            await self._loop.shutdown_default_executor()
        finally:
            self._loop.stop()


class _Session:
    """Requests that are sent together, until all have a reply or the server fails for good."""

    def __init__(self, server: _Server, asks: Sequence[EndpointRequest], most_tries: int) -> None:
        self._server, self._clock, self._options = server, server.clock, server.options
        self._left, self._most_tries = deque(asks), most_tries
        self._stop = asyncio.Event()
        self._replies = 0
        self._failed: list[tuple[EndpointRequest, Failure]] = []
        self._held_until = -math.inf
        self.failure: Failure | None = None
        self.tries = 0
        self.exhausted = False

    async def serve(self, give: Give[tuple[EndpointRequest, Reply]]) -> None:
        """Pass on every request and its reply; the options bound the requests in flight.

        After a permanent failure no request is sent, but replies to earlier ones may still arrive.
        """
        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._options.requests, len(self._left))):
                group.create_task(self._work(give))
        if self._failed and not self._stop.is_set():
            # A session that goes on may ask for nothing but what failed before.
            if self._failed[0][0].path in self._server.answered:
                self._give_failed(give)
            else:
                self.failure = self._failed[0][1]

    async def _work(self, give: Give[tuple[EndpointRequest, Reply]]) -> None:
        while self._left and not self._stop.is_set():
            ask = self._left.popleft()
            match await self._ask(ask):
                case Reply() as reply:
                    self._replies += 1
                    self._server.answered.add(ask.path)
                    give((ask, reply))
                    if not self._stop.is_set():
                        self._give_failed(give)
                case Failure() as failure if not self._stop.is_set():
                    self._failed.append((ask, failure))
                    if failure.is_of_all or len(self._failed) >= FAILED_IN_A_ROW:
                        self.failure = failure
                        self._stop.set()

    def _give_failed(self, give: Give[tuple[EndpointRequest, Reply]]) -> None:
        """Give up the requests that failed: the server answers others."""
        while self._failed:
            give((self._failed.pop()[0], Reply(missing="server")))

    async def _ask(self, ask: EndpointRequest) -> Reply | Failure | None:
        """The reply, with room for a thought where the model thinks.

        It depends on no other request: a reply that is complete without the room is the same with
        it, and whether a model thinks is read from the reply itself or from that to `PROBE`.
        """
        thinking, shown = self._options.thinking, self._server.probe
        more = ask.most_tokens + THOUGHT_TOKENS
        with_room = replace(ask, most_tokens=more) if ask.path == "chat" else ask
        roomy = thinking == "on" or bool(thinking == "auto" and shown and shown.thinks)
        reply = await self._insist(with_room if roomy else ask)
        if roomy and isinstance(reply, Reply) and reply.missing == "cut off":
            # The question may fit into the context without the room.
            reply = await self._insist(ask)
        if not isinstance(reply, Reply) or not (reply.cut or reply.lacks_answer):
            return reply
        probe = await self._probe()
        if not isinstance(probe, Reply):
            return probe
        if thinking == "auto" and not roomy and (reply.thinks or probe.thinks):
            longer = await self._insist(with_room)
            fits = not isinstance(longer, Reply) or longer.missing != "cut off"
            reply = longer if fits else reply
        if isinstance(reply, Reply) and reply.cut and not reply.thinks and probe.opened:
            # The template begins the thought: a reply shows only where it ends.
            return replace(reply, text="", missing="thought not finished")
        return reply

    async def _probe(self) -> Reply | Failure | None:
        """The reply that shows whether the model thinks, asked for once."""
        server = self._server
        async with server.probing:
            if server.probe is None:
                probe = await self._insist(PROBE)
                if isinstance(probe, Reply) and probe.lacks_answer and not probe.cut:
                    server.dialect.leave_out_switches()
                    probe = await self._insist(PROBE)
                if not isinstance(probe, Reply):
                    return probe
                server.probe = probe
            return server.probe

    async def _insist(self, ask: EndpointRequest) -> Reply | Failure | None:
        """The reply, with retries, or the last failure; None where all requests end.

        A server that refuses requests as too many while it answers others is only busy: such a try
        does not count.
        """
        failures = tries = 0
        replies = self._replies
        while True:
            while (left := self._held_until - self._clock.now()) > 0 and not self._stop.is_set():
                await self._clock.wait(self._stop, left)
            if self._stop.is_set():
                return None
            outcome = await self._try(ask)
            if not isinstance(outcome, Failure):
                return outcome
            failures += 1
            is_busy = outcome.status in TOO_MANY and self._replies > replies
            replies = self._replies
            tries += not is_busy
            if not outcome.may_pass or tries >= self._most_tries:
                self.tries = failures
                return outcome
            if outcome.wait is not None:
                # The server names a delay: nothing is sent before it is over.
                self._held_until = max(self._held_until, self._clock.now() + outcome.wait)
            else:
                seconds = delay(min(failures, BUSY_FAILURES) if is_busy else failures)
                await self._clock.wait(self._stop, seconds * self._clock.spread())

    async def _try(self, ask: EndpointRequest) -> Reply | Failure | None:
        """One try, sent again in another form whenever the server rejects a parameter."""
        server = self._server
        most = self._options.max_requests or math.inf
        while server.sent < most:
            body = server.dialect.body(ask)
            server.sent += ask.path != "models"
            outcome = await self._send(ask, body)
            if isinstance(outcome, Reply) or not server.dialect.learn(outcome, body):
                return outcome.without(server.key)
        self.exhausted = True
        self._stop.set()
        return None

    async def _send(self, ask: EndpointRequest, body: dict[str, Any]) -> Reply | Failure:
        try:
            response = await self._response(ask, body)
            if isinstance(response, Failure):
                return response
            if response.status < 300:
                return read_reply(ask, response.content)
        except MalformedReplyError as error:
            return Failure(said=str(error), status=OK)
        failure = refusal(response.status, response.headers, response.content)
        if failure.is_filtered:
            return Reply(missing="refused")
        return Reply(missing="cut off") if failure.is_too_long else failure

    async def _response(self, ask: EndpointRequest, body: dict[str, Any]) -> HttpResponse | Failure:
        """The server's response; a failure if it answers no request within the timeout.

        A slow server may answer one request after another: each answer extends the wait.
        """
        request = asyncio.ensure_future(exchange(self._server.connections, ask, body))
        try:
            while True:
                replies = self._replies
                if (await asyncio.wait([request], timeout=self._options.timeout))[0]:
                    return request.result()
                if self._replies == replies:
                    return Failure(said=f"no reply within {self._options.timeout:g} seconds")
        finally:
            request.cancel()
