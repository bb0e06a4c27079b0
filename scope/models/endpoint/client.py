"""Many requests at once, each given again after a failure that may pass."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from scope.models.endpoint.address import Address
from scope.models.endpoint.background import in_background
from scope.models.endpoint.dialect import Dialect
from scope.models.endpoint.exchange import exchange, open_client
from scope.models.endpoint.failures import OK, EndpointError, Failure, refusal
from scope.models.endpoint.key import Key
from scope.models.endpoint.replies import EndpointRequest, MalformedReplyError, Reply, read_reply
from scope.models.endpoint.waits import Pause, WaitClock, delay
from scope.models.options import ModelOptions

if TYPE_CHECKING:
    import httpx

Give = Callable[[tuple[EndpointRequest, Reply]], None]


class Endpoint:
    """A server that is asked many things at once; nothing that leaves here holds its key."""

    def __init__(self, address: Address, key: Key, options: ModelOptions, clock: WaitClock) -> None:
        self._address = address
        self._options = options
        self._clock = clock
        self._key = key
        self._dialect = Dialect(address.model)

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
        session = _Session(
            list(places),
            base_url=self._address.base_url,
            key=self._key,
            dialect=self._dialect,
            clock=self._clock,
            timeout=self._options.timeout,
            retries=self._options.retries if retries is None else retries,
        )
        serve = partial(session.serve, self._options.requests)
        answered = 0
        with closing(in_background(serve)) as replies:
            for one, reply in replies:
                answered += len(places[one])
                yield from ((place, reply) for place in places[one])
        if session.failure:
            raise EndpointError(
                f"`{self._address.spec}` answered {answered} of {len(asks)} questions and failed "
                f"in {session.tries} {'tries' if session.tries > 1 else 'try'} at the next",
                session.failure,
                key=self._key,
            )


class _Session:
    """Requests that are under way together, until all have a reply or one fails for good."""

    def __init__(
        self,
        asks: Sequence[EndpointRequest],
        *,
        base_url: str,
        key: Key,
        dialect: Dialect,
        clock: WaitClock,
        timeout: float,
        retries: int,
    ) -> None:
        self._left = deque(asks)
        self._base_url, self._key = base_url, key
        self._dialect, self._clock = dialect, clock
        self._timeout, self._retries = timeout, retries
        self._stop = asyncio.Event()
        self._pause = Pause(clock, self._stop)
        self.failure: Failure | None = None
        self.tries = 0

    async def serve(self, requests: int, give: Give) -> None:
        """Give every request and its reply, so many at once.

        After a failure for good no request is begun, but those on their way may still arrive.
        """
        client = open_client(self._key, self._base_url)
        async with client, asyncio.TaskGroup() as group:
            for _ in range(min(requests, len(self._left))):
                group.create_task(self._work(client, give))

    async def _work(self, client: httpx.AsyncClient, give: Give) -> None:
        while self._left and not self._stop.is_set():
            ask = self._left.popleft()
            if (reply := await self._insist(client, ask)) is not None:
                give((ask, reply))

    async def _insist(self, client: httpx.AsyncClient, ask: EndpointRequest) -> Reply | None:
        """The reply, after as many tries as it takes; None if there is to be none."""
        for failures in range(1, self._retries + 2):
            await self._pause.over()
            if self._stop.is_set():
                return None
            outcome = (await self._try(client, ask)).without(self._key)
            if isinstance(outcome, Reply):
                return outcome
            if not outcome.may_pass or failures > self._retries:
                self._give_up(outcome, failures)
                return None
            await self._back_off(outcome, failures)
        return None

    def _give_up(self, failure: Failure, tries: int) -> None:
        if not self._stop.is_set():
            self.failure, self.tries = failure, tries
        self._stop.set()

    async def _back_off(self, failure: Failure, failures: int) -> None:
        """Wait; where the server says that requests are too many, all of them do."""
        seconds = failure.wait
        if seconds is None:
            seconds = delay(failures) * self._clock.spread()
        if failure.status == 429 or failure.wait is not None:
            self._pause.hold(seconds)
        else:
            await self._clock.wait(self._stop, seconds)

    async def _try(self, client: httpx.AsyncClient, ask: EndpointRequest) -> Reply | Failure:
        """One try, put as often as the server teaches how to put it."""
        while True:
            body = self._dialect.body(ask)
            try:
                async with asyncio.timeout(self._timeout):
                    response = await exchange(client, self._base_url, ask, body)
                if isinstance(response, Failure):
                    return response
                if response.status < 300:
                    return read_reply(ask, response.content)
            except MalformedReplyError as error:
                return Failure(said=str(error), status=OK)
            except TimeoutError:
                return Failure(said=f"no reply within {self._timeout:g} seconds")
            failure = refusal(response.status, response.headers, response.content)
            if failure.is_too_long:
                return Reply(too_long=True)
            if not self._dialect.learn(failure, body):
                return failure
