"""Many requests at once, each given again after a failure that may pass.

The request parameters that a server accepts are learned from its refusals.
"""

from __future__ import annotations

import asyncio
import math
import random
import re
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from typing import Any

from scope.errors import ModelError
from scope.models.endpoint.address import Address, Key
from scope.models.endpoint.background import Background
from scope.models.endpoint.exchange import Connections, exchange
from scope.models.endpoint.failures import OK, EndpointError, Failure, refusal
from scope.models.endpoint.replies import EndpointRequest, MalformedReplyError, Reply, read_reply
from scope.models.endpoint.window import Window
from scope.models.options import ModelOptions
from scope.printing import counted

TOO_MANY = (429, 503, 529)
"""Statuses of servers that have too many requests; 529 is Anthropic's."""


FIRST_DELAY = 0.5
"""Seconds to wait after a request's first failure; each further failure doubles them."""

LONGEST_DELAY = 60.0

_MOST_DOUBLINGS = 10


class WaitClock:
    """Time as it passes; tests have one that passes at once."""

    def now(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    async def wait(self, stop: asyncio.Event, seconds: float) -> None:
        """Return after so many seconds, or as soon as the event is set."""
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), seconds)

    def spread(self) -> float:
        """A random number from 0.5 to 1, so that clients do not come back all at once."""
        return random.uniform(0.5, 1)  # noqa: S311 - no secret hangs on it


def delay(failures: int) -> float:
    """Seconds to wait after so many failures of one request, before they are spread.

    Examples
    --------
    >>> [delay(failures) for failures in (1, 2, 3, 20)]
    [0.5, 1.0, 2.0, 60.0]
    """
    doublings = min(failures - 1, _MOST_DOUBLINGS)
    return float(min(FIRST_DELAY * 2**doublings, LONGEST_DELAY))


class Pause:
    """Holds back all requests of one endpoint, when the server says that they are too many."""

    def __init__(self, clock: WaitClock, stop: asyncio.Event) -> None:
        self._clock = clock
        self._stop = stop
        self._until = clock.now()

    def hold(self, seconds: float) -> None:
        """Hold requests back for so many seconds from now, or as long as they are already."""
        self._until = max(self._until, self._clock.now() + seconds)

    async def over(self) -> None:
        """Return when requests may go."""
        while (left := self._until - self._clock.now()) > 0 and not self._stop.is_set():
            await self._clock.wait(self._stop, left)


FEWER_LIKELIEST = 5
"""Most log-probabilities that some servers give, where others give twenty."""


class Dialect:
    """The parameters that a server is found not to take are left out, or put otherwise."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._takes_seed = True
        self._limit = "max_tokens"
        self._most_likeliest: int | None = None

    def body(self, ask: EndpointRequest) -> dict[str, Any]:
        """The request as this server takes it: greedy, hence the same whenever it is asked."""
        body: dict[str, Any] = {"model": self._model, "temperature": 0}
        if self._takes_seed:
            body["seed"] = 0
        likeliest = ask.likeliest
        if ask.path == "completions":
            return body | {"prompt": ask.prompt, "max_tokens": ask.most_tokens} | _some(likeliest)
        if self._most_likeliest is not None:
            likeliest = min(likeliest, self._most_likeliest)
        if likeliest:
            body |= {"logprobs": True, "top_logprobs": likeliest}
        body[self._limit] = ask.most_tokens
        return body | {"messages": [{"role": "user", "content": ask.prompt}]}

    def learn(self, failure: Failure, sent: dict[str, Any]) -> bool:
        """Whether the request is now put otherwise than it was sent.

        Log-probabilities of a chat are left out only after fewer of them are refused too: without
        them a choice is still read from the text. Those of a completion are all that is asked.
        """
        if failure.status not in (400, 422):
            return False
        if "max_completion_tokens" in failure.said and "max_tokens" in sent and "messages" in sent:
            self._limit = "max_completion_tokens"
        elif "logprobs" in failure.said and (sent_likeliest := sent.get("top_logprobs")):
            self._most_likeliest = FEWER_LIKELIEST if sent_likeliest > FEWER_LIKELIEST else 0
        elif re.search(r"\bseed\b", failure.said) and "seed" in sent:
            self._takes_seed = False
        else:
            return False
        return True


def _some(likeliest: int) -> dict[str, int]:
    return {"logprobs": likeliest} if likeliest else {}


Give = Callable[[tuple[EndpointRequest, Reply]], None]


class Endpoint:
    """A server that is asked many things at once; nothing that leaves here holds its key."""

    def __init__(self, address: Address, key: Key, options: ModelOptions, clock: WaitClock) -> None:
        self._address = address
        self._options = options
        self._clock = clock
        self._key = key
        self._dialect = Dialect(address.model)
        self._window = Window(options.requests)
        self._sent = 0
        self._line: _Line | None = None

    def ask(
        self, asks: Sequence[EndpointRequest], *, retries: int | None = None
    ) -> Generator[tuple[int, Reply]]:
        """The place of each request and its reply, as they come; equal requests are given once.

        Closing the iterator ends what is under way.

        Raises
        ------
        EndpointError
            When one request fails for good; all replies that came are given first.
        """
        places: dict[EndpointRequest, list[int]] = {}
        for place, one in enumerate(asks):
            places.setdefault(one, []).append(place)
        line = self._line or _Line(self._key, self._address.base_url)
        if self._line is None:
            self._line = line
            weakref.finalize(self, line.close)
        most = self._options.max_requests
        session = _Session(
            list(places),
            connections=line.connections,
            key=self._key,
            dialect=self._dialect,
            window=self._window,
            clock=self._clock,
            timeout=self._options.timeout,
            retries=self._options.retries if retries is None else retries,
            budget=math.inf if most is None else most - self._sent,
        )
        answered = 0
        try:
            with closing(line.background.results(session.serve)) as replies:
                for one, reply in replies:
                    answered += len(places[one])
                    yield from ((place, reply) for place in places[one])
        finally:
            self._sent += session.sent
        if session.exhausted:
            raise ModelError(
                f"{counted(self._sent, 'request')} to `{self._address.spec}` in this session, as "
                "many as --max-requests allows",
                expected="as many requests as the run needs",
                fix="run the same command again: it goes on from here, with as many requests "
                "again; what was answered is kept. A session that goes on first repeats one "
                "stored question: allow more than it",
            )
        if session.failure:
            raise EndpointError(
                f"`{self._address.spec}` answered {answered} of {len(asks)} questions and failed "
                f"in {session.tries} {'tries' if session.tries > 1 else 'try'} at the next",
                session.failure,
                key=self._key,
            )


class _Line:
    """The connections to a server and the thread that they are used in, as long as it is asked."""

    def __init__(self, key: Key, base_url: str) -> None:
        self.connections = Connections(key, base_url)
        self.background = Background()

    def close(self) -> None:
        """Close the connections and end the thread."""
        self.background.close(self.connections.close)


class _Session:
    """Requests that are under way together, until all have a reply or one fails for good."""

    def __init__(
        self,
        asks: Sequence[EndpointRequest],
        *,
        connections: Connections,
        key: Key,
        dialect: Dialect,
        window: Window,
        clock: WaitClock,
        timeout: float,
        retries: int,
        budget: float,
    ) -> None:
        self._left = deque(asks)
        self._connections, self._key = connections, key
        self._dialect, self._window, self._clock = dialect, window, clock
        self._timeout, self._retries, self._budget = timeout, retries, budget
        self._stop = asyncio.Event()
        self._room = asyncio.Event()
        self._pause = Pause(clock, self._stop)
        self._under_way = 0
        self._refused_in_a_row = 0
        self.failure: Failure | None = None
        self.tries = 0
        self.sent = 0
        self.exhausted = False

    async def serve(self, give: Give) -> None:
        """Give every request and its reply, as many at once as the window has room for.

        After a failure for good no request is begun, but those on their way may still arrive.
        """
        async with asyncio.TaskGroup() as group:
            while self._left:
                await self._has_room()
                if self._stop.is_set():
                    return
                self._under_way += 1
                group.create_task(self._insist(self._left.popleft(), give))

    async def _has_room(self) -> None:
        """Return when one more request may be under way."""
        while self._under_way >= self._window.size and not self._stop.is_set():
            self._room.clear()
            await self._room.wait()

    async def _insist(self, ask: EndpointRequest, give: Give) -> None:
        """Give the reply, after as many tries as it takes."""
        try:
            for failures in range(1, self._retries + 2):
                await self._pause.over()
                outcome = await self._once(ask)
                if isinstance(outcome, Reply):
                    give((ask, outcome))
                if not isinstance(outcome, Failure):
                    return
                if not outcome.may_pass or failures > self._retries:
                    self._give_up(outcome, failures)
                    return
                await self._back_off(outcome, failures)
        finally:
            self._leave()

    def _leave(self) -> None:
        self._under_way -= 1
        self._room.set()

    async def _once(self, ask: EndpointRequest) -> Reply | Failure | None:
        """What one try brings, of which the window learns; None if nothing is to be sent."""
        if self._stop.is_set():
            return None
        began, sent_in = self._clock.now(), self._window.rounds
        tried = await self._try(ask)
        if tried is None:
            return None
        outcome = tried.without(self._key)
        if isinstance(outcome, Reply):
            self._window.answered(self._clock.now() - began)
            self._refused_in_a_row = 0
        elif outcome.status in TOO_MANY:
            self._window.refused(sent_in)
            self._refused_in_a_row += 1
        return outcome

    def _give_up(self, failure: Failure, tries: int) -> None:
        if not self._stop.is_set():
            self.failure, self.tries = failure, tries
        self._end()

    def _end(self) -> None:
        self._stop.set()
        self._room.set()

    async def _back_off(self, failure: Failure, failures: int) -> None:
        """Wait; where the server names a time or answers nothing any more, all requests do.

        While one waits that is refused among others that are answered, another takes its place.
        """
        seconds = failure.wait
        if seconds is None:
            seconds = delay(failures) * self._clock.spread()
        if failure.wait is not None or self._refused_in_a_row >= self._window.size:
            self._pause.hold(seconds)
        elif failure.status in TOO_MANY:
            self._leave()
            try:
                await self._clock.wait(self._stop, seconds)
                await self._has_room()
            finally:
                self._under_way += 1
        else:
            await self._clock.wait(self._stop, seconds)

    async def _try(self, ask: EndpointRequest) -> Reply | Failure | None:
        """One try, put as often as the server teaches how to put it, while requests are allowed."""
        while self.sent < self._budget:
            body = self._dialect.body(ask)
            outcome = await self._send(ask, body)
            if isinstance(outcome, Reply) or not self._dialect.learn(outcome, body):
                return outcome
        self.exhausted = True
        self._end()
        return None

    async def _send(self, ask: EndpointRequest, body: dict[str, Any]) -> Reply | Failure:
        self.sent += ask.path != "models"
        try:
            async with asyncio.timeout(self._timeout):
                response = await exchange(self._connections, ask, body)
            if isinstance(response, Failure):
                return response
            if response.status < 300:
                return read_reply(ask, response.content)
        except MalformedReplyError as error:
            return Failure(said=str(error), status=OK)
        except TimeoutError:
            return Failure(said=f"no reply within {self._timeout:g} seconds")
        failure = refusal(response.status, response.headers, response.content)
        return Reply(too_long=True) if failure.is_too_long else failure
