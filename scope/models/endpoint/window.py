"""How many requests a server is given at once: as many as it answers as quickly as a few."""

from __future__ import annotations

import math
import statistics

FIRST_AT_ONCE = 8
MOST_AT_ONCE = 256

SLOWER = 2.0
"""Latency of a server that is full, as a multiple of its latency with few requests."""

_LESS = 0.9
_FORGETTING = 1.25


class Window:
    """The number of requests that may be under way.

    It doubles while the server answers as quickly as before, then grows by one a round; it shrinks
    by a tenth where answers take twice as long or the server refuses requests for being too many;
    at the first refusal, which follows a doubling, by half. A round is as many answers as the
    window is wide. Slow answers alone never make
    it smaller than it began; where they stay slow even then, other questions are asked than before,
    and what counts as quick is forgotten bit by bit.

    Parameters
    ----------
    most
        Where the user bounds it; it then begins there, or with 8.

    Examples
    --------
    >>> window = Window()
    >>> for _ in range(8):
    ...     window.answered(0.05)
    >>> window.size
    16
    >>> window.refused(window.rounds)
    >>> window.size
    8
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = MOST_AT_ONCE if most is None else most
        self._least = min(FIRST_AT_ONCE, self._most)
        self.size = self._least
        self.rounds = 0
        self._doubles = True
        self._quick = math.inf
        self._latencies: list[float] = []

    def answered(self, seconds: float) -> None:
        """Count an answer that took so long."""
        self._latencies.append(seconds)
        if len(self._latencies) < self.size:
            return
        typical = statistics.median(self._latencies)
        self._quick = min(self._quick, typical)
        if typical <= SLOWER * self._quick:
            self._to(2 * self.size if self._doubles else self.size + 1)
            return
        self._doubles = False
        if self.size <= self._least:
            self._quick *= _FORGETTING
        self._to(min(self.size, max(self._least, self._smaller())))

    def refused(self, sent_in: int) -> None:
        """Make it smaller, once for all requests that were sent in the same round."""
        if sent_in == self.rounds:
            self._to(self.size // 2 if self._doubles else self._smaller())
            self._doubles = False

    def _smaller(self) -> int:
        return math.floor(_LESS * self.size)

    def _to(self, size: int) -> None:
        self.size = max(1, min(size, self._most))
        self.rounds += 1
        self._latencies.clear()
