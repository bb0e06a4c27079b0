"""How long to wait before a request is given again, and for whom."""

from __future__ import annotations

import asyncio
import random
import time
from contextlib import suppress

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
