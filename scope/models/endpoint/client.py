"""Sends requests to a server, a fixed number at a time, and retries temporary failures.

Nothing here trusts the server. Redirects are not followed, so that prompts and the key reach the
server that the user named and no other. A body is read as it comes, up to a bound that follows from
the request. Cookies are not kept.
"""

from __future__ import annotations

import asyncio
import json
import math
import queue
import random
import threading
import time
import weakref
import zlib
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import aclosing, closing, contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from scope.errors import ModelError, counted, first_line
from scope.models.endpoint.address import Address, Key
from scope.models.endpoint.protocol import (
    OK,
    REDIRECTS,
    Dialect,
    EndpointError,
    EndpointRequest,
    Failure,
    MalformedReplyError,
    clean,
    outcome_of,
    without_key,
)
from scope.models.options import LETTER_TOKENS, THOUGHT_TOKENS, ModelOptions
from scope.models.replies import Reply

if TYPE_CHECKING:
    import httpx

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
    """Sends many requests to a server at once; replies and errors never contain its key.

    A thread sends them, since the caller may have its own event loop, as notebooks do.
    """

    def __init__(
        self,
        address: Address,
        key: Key,
        options: ModelOptions,
        clock: WaitClock,
        transport: Transport | None = None,
    ) -> None:
        self.address, self.key, self.options, self.clock = address, key, options, clock
        self.dialect = Dialect(address.model, options.thinking)
        self.probe: Reply | None = None
        self.probing = asyncio.Lock()
        self.answered: set[tuple[str, bool]] = set()
        self.sent = 0
        self.transport = transport or Connections(key, address.base_url)
        runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = runner.get_loop()
        serve = self.transport.serve
        threading.Thread(target=serve, args=(runner,), name="scope-endpoint", daemon=True).start()
        # Not waited for: that could deadlock, in an import that triggers the garbage collector.
        weakref.finalize(self, self._loop.call_soon_threadsafe, self._loop.stop)

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
        tries = 1 + (self.options.retries if retries is None else retries)
        session = _Session(self, list(places), tries)
        answered = 0
        with closing(self._replies(session)) as replies:
            for ask, reply in replies:
                answered += len(places[ask])
                yield from ((place, reply) for place in places[ask])
        if session.exhausted:
            raise ModelError(
                f"{counted(self.sent, 'request')} to `{self.address.spec}` in this session, as "
                "many as --max-requests allows",
                expected="as many requests as the run needs",
                fix="run the same command again: it goes on from here, with as many requests "
                "again; what was answered is kept. A session that goes on first repeats "
                "stored questions: allow more than eight",
            )
        if session.failure:
            raise EndpointError(
                f"`{self.address.spec}` answered {answered} of {len(asks)} questions and failed "
                f"in {session.tries} {'tries' if session.tries > 1 else 'try'} at the next",
                session.failure,
                key=self.key,
            )

    def _replies(self, session: _Session) -> Generator[tuple[EndpointRequest, Reply]]:
        """The replies of a session as they arrive; then its exception, if any."""
        serving = asyncio.run_coroutine_threadsafe(session.serve(), self._loop)
        serving.add_done_callback(lambda _: session.replies.put(None))
        try:
            while entry := session.replies.get():
                yield entry
        finally:
            serving.cancel()
        serving.result()


class Transport(Protocol):
    """How requests reach a server."""

    async def exchange(self, ask: EndpointRequest, body: dict[str, Any]) -> Reply | Failure:
        """What the server replies to one request."""

    def serve(self, runner: asyncio.Runner) -> None:
        """Run the event loop until it is stopped, and then end what it holds."""


class Connections:
    """Connections to a server, each reused for one request at a time.

    Each is a client of its own: one with 32 connections searches all of them at each request, which
    takes three times as long.

    Raises
    ------
    ModelError
        When the environment names a proxy or certificates that cannot be used.
    """

    def __init__(self, key: Key, base_url: str) -> None:
        import httpx

        self._base_url = base_url
        self._headers = {
            "Authorization": f"Bearer {key.value}",
            "Accept": "application/json",
            # A compressed body may be a thousand times as long as it seems.
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": "scope-models",
        }
        try:
            # Read once: it takes longer than a request.
            self._certificates = httpx.create_ssl_context()
            self._idle = [self._open()]
        except (ValueError, ImportError, OSError, httpx.InvalidURL) as error:
            # Not shown in full: the URL of a proxy may hold a password.
            raise ModelError(
                f"a proxy or certificates in the environment that cannot be used to ask {base_url} "
                f"({type(error).__name__})",
                expected="in HTTP_PROXY, HTTPS_PROXY and ALL_PROXY an http or https URL or "
                "nothing, in SSL_CERT_FILE and SSL_CERT_DIR certificates that can be read or "
                "nothing",
                fix="correct these variables, or unset them",
            ) from None

    def _open(self) -> httpx.AsyncClient:
        """A client that goes by the proxies that the environment names."""
        import httpx

        return httpx.AsyncClient(
            verify=self._certificates,
            # The session bounds the time of a whole request.
            timeout=httpx.Timeout(None),
            limits=httpx.Limits(keepalive_expiry=60.0),
        )

    async def exchange(self, ask: EndpointRequest, body: dict[str, Any]) -> Reply | Failure:
        """What the server replies to one request."""
        import httpx

        method, content = ("GET", None) if ask.path == "models" else ("POST", json.dumps(body))
        url = self._base_url + PATHS[ask.path]
        try:
            # A request of its own has no cookies of earlier replies.
            request = httpx.Request(method, url, headers=self._headers, content=content)
            with self._one() as client:
                async with aclosing(await client.send(request, stream=True)) as response:
                    status = response.status_code
                    if status in REDIRECTS:
                        target = response.headers.get("location") or "nowhere"
                        return Failure(said=clean(f"a redirect to {target}"), status=status)
                    return outcome_of(ask, status, response.headers, await _read(response, ask))
        except MalformedReplyError as error:
            return Failure(said=str(error), status=OK)
        # Besides errors of httpx: host names that cannot be encoded, and sockets.
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError) as error:
            return Failure(said=clean(f"{type(error).__name__}: {error}"))

    @contextmanager
    def _one(self) -> Iterator[httpx.AsyncClient]:
        """A connection for exclusive use, if possible the one used last."""
        client = self._idle.pop() if self._idle else self._open()
        try:
            yield client
        finally:
            self._idle.append(client)

    def serve(self, runner: asyncio.Runner) -> None:
        """Run the event loop until it is stopped; then end what it holds, and close all."""
        with runner:
            runner.get_loop().run_forever()
            for client in self._idle:
                runner.run(client.aclose())


PATHS = {"chat": "/chat/completions", "completions": "/completions", "models": "/models"}


class _Session:
    """Requests that are sent together, until all have a reply or the server fails for good."""

    def __init__(
        self, endpoint: Endpoint, asks: Sequence[EndpointRequest], most_tries: int
    ) -> None:
        self._endpoint, self._clock, self._options = endpoint, endpoint.clock, endpoint.options
        self._left, self._most_tries = deque(asks), most_tries
        self._stop = asyncio.Event()
        self.replies: queue.SimpleQueue[tuple[EndpointRequest, Reply] | None] = queue.SimpleQueue()
        self._answered = 0
        self._failed: list[tuple[EndpointRequest, Failure]] = []
        self._held_until = -math.inf
        self.failure: Failure | None = None
        self.tries = 0
        self.exhausted = False

    async def serve(self) -> None:
        """Put every request with its reply into ``replies``; the options bound those in flight.

        After a permanent failure no request is sent, but replies to earlier ones may still arrive.
        """
        async with asyncio.TaskGroup() as group:
            for _ in range(min(self._options.requests, len(self._left))):
                group.create_task(self._work())
        if self._failed and not self._stop.is_set():
            # A session that goes on may ask for nothing but what failed before.
            failed = self._failed[0][0]
            if (failed.path, failed.of_prompt) in self._endpoint.answered:
                self._give_up_failed()
            else:
                self.failure = self._failed[0][1]

    async def _work(self) -> None:
        while self._left and not self._stop.is_set():
            ask = self._left.popleft()
            match await self._ask(ask):
                case Reply() as reply:
                    self._answered += 1
                    self._endpoint.answered.add((ask.path, ask.of_prompt))
                    self.replies.put((ask, reply))
                    if not self._stop.is_set():
                        self._give_up_failed()
                case Failure() as failure if not self._stop.is_set():
                    self._failed.append((ask, failure))
                    if failure.is_of_all or len(self._failed) >= FAILED_IN_A_ROW:
                        self.failure = failure
                        self._stop.set()

    def _give_up_failed(self) -> None:
        """Give up the requests that failed: the server answers others."""
        while self._failed:
            self.replies.put((self._failed.pop()[0], Reply(missing="server")))

    async def _ask(self, ask: EndpointRequest) -> Reply | Failure | None:
        """The reply, with room for a thought where the model thinks.

        It depends on no other request: a reply that is complete without the room is the same with
        it, and whether a model thinks is read from the reply itself or from that to `PROBE`.
        """
        if ask.path == "completions" or ask.of_prompt:
            return await self._insist(ask)
        thinking, shown = self._options.thinking, self._endpoint.probe
        more = ask.most_tokens + THOUGHT_TOKENS
        with_room = replace(ask, most_tokens=more)
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
        endpoint = self._endpoint
        async with endpoint.probing:
            if endpoint.probe is None:
                probe = await self._insist(PROBE)
                if isinstance(probe, Reply) and probe.lacks_answer and not probe.cut:
                    endpoint.dialect.leave_out_switches()
                    probe = await self._insist(PROBE)
                if not isinstance(probe, Reply):
                    return probe
                endpoint.probe = probe
            return endpoint.probe

    async def _insist(self, ask: EndpointRequest) -> Reply | Failure | None:
        """The reply, with retries, or the last failure; None where all requests end.

        A server that refuses requests as too many while it answers others is only busy: such a try
        does not count.
        """
        failures = tries = 0
        answered = self._answered
        while True:
            while (left := self._held_until - self._clock.now()) > 0 and not self._stop.is_set():
                await self._clock.wait(self._stop, left)
            if self._stop.is_set():
                return None
            outcome = await self._try(ask)
            if not isinstance(outcome, Failure):
                return outcome
            failures += 1
            is_busy = outcome.status in TOO_MANY and self._answered > answered
            answered = self._answered
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
        endpoint = self._endpoint
        most = self._options.max_requests or math.inf
        while endpoint.sent < most:
            body = endpoint.dialect.body(ask)
            endpoint.sent += ask.path != "models"
            outcome = await self._send(ask, body)
            if isinstance(outcome, Reply) or not endpoint.dialect.learn(outcome, body):
                return without_key(outcome, endpoint.key)
        self.exhausted = True
        self._stop.set()
        return None

    async def _send(self, ask: EndpointRequest, body: dict[str, Any]) -> Reply | Failure:
        """What the server replies; a failure if it answers no request within the timeout.

        A slow server may answer one request after another: each answer extends the wait.
        """
        request = asyncio.ensure_future(self._endpoint.transport.exchange(ask, body))
        try:
            while True:
                answered = self._answered
                if (await asyncio.wait([request], timeout=self._options.timeout))[0]:
                    return request.result()
                if self._answered == answered:
                    return Failure(said=f"no reply within {self._options.timeout:g} seconds")
        finally:
            request.cancel()


KIBIBYTE = 1024

ENVELOPE = 256 * KIBIBYTE
"""Bytes of a reply besides its tokens: identifiers, counts, and the reasoning of some models."""

BYTES_A_TOKEN = 2 * KIBIBYTE
"""Bytes of a token, and of each likely alternative, as JSON; usually about 100."""

MOST_BYTES = 8 * KIBIBYTE**2
"""Most bytes of any reply, for any number of tokens."""

MOST_LISTED_BYTES = 4 * KIBIBYTE**2
"""Bytes of a list of models: about ten thousand, with all that servers list about each."""

MOST_REFUSAL_BYTES = 64 * KIBIBYTE
"""Bytes of a reply with an error status."""


def most_bytes(ask: EndpointRequest, status: int) -> int:
    """The longest reply that is read.

    Examples
    --------
    >>> most_bytes(EndpointRequest(path="chat", most_tokens=32), 200)
    327680
    >>> most_bytes(EndpointRequest(path="chat"), 500)
    65536
    """
    if status >= 400:
        return MOST_REFUSAL_BYTES
    if ask.path == "models":
        return MOST_LISTED_BYTES
    if ask.of_prompt:
        return MOST_BYTES
    return min(ENVELOPE + ask.most_tokens * (1 + ask.likeliest) * BYTES_A_TOKEN, MOST_BYTES)


async def _read(response: httpx.Response, ask: EndpointRequest) -> bytes:
    """The body, decompressed within its bound; compression was not requested."""
    most = most_bytes(ask, response.status_code)
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise MalformedReplyError(
            f"a reply compressed as {clean(encoding)!r}, which was not requested"
        )
    # 32 more bits: gzip or zlib, by the first bytes.
    inflating = zlib.decompressobj(zlib.MAX_WBITS | 32)
    content, came = bytearray(), 0
    async for chunk in response.aiter_raw():
        came += len(chunk)
        try:
            packed = encoding not in ("", "identity")
            content += inflating.decompress(chunk, most + 1) if packed else chunk
        except zlib.error as error:
            raise MalformedReplyError(
                f"a reply that cannot be decompressed ({first_line(error)})"
            ) from error
        # The bytes that came count too: compressed, nothing at all can be endless.
        if max(came, len(content)) > most:
            if response.status_code >= 400:
                return f"an error in more than {most:,} bytes".encode()
            what = "the list of models" if ask.path == "models" else ask.tokens_in_words
            raise MalformedReplyError(
                f"a reply of more than {most:,} bytes to a request for {what}"
            )
    return bytes(content)
