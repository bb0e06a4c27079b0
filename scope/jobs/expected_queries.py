"""Counts the queries of a search as they are answered, and expects how many there are in all.

A query is a distinct text that the search asks its reference about, whether the model answers it
now or its answer is cached. Repeats are left out: they take no time, and a search of several
trials may ask mostly about the same texts.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

from scope.foreign import Failed, attempt
from scope.models.cached import CachedClassifier
from scope.protocols import Advance, Capability, EstimatesQueries, SearchOptions
from scope.records import Example, Prediction

SECONDS_TO_ESTIMATE = 1.0
"""Time for estimates before a search, after the first of them; the others follow from length."""


class ExpectedQueries:
    """Queries answered so far, and the number expected in all.

    The expected number is the sum of the estimates, or less where the finished examples show it:
    they took no more than all that was answered.

    Parameters
    ----------
    estimates
        Relative cost of each example, by its id.
    scale
        Queries for each unit of the estimates; infinite where no example has shown it yet.
    finished
        Queries of the examples that were searched before, by id.

    Examples
    --------
    >>> expected = ExpectedQueries({"a": 10, "b": 10, "c": 20}, scale=1)
    >>> expected.total()
    40
    >>> expected.answer(5)
    >>> expected.finish("a")
    >>> expected.answered, expected.total()
    (5, 20)
    """

    def __init__(
        self,
        estimates: Mapping[str, float],
        *,
        scale: float,
        finished: Mapping[str, float] = MappingProxyType({}),
    ) -> None:
        self.answered = round(sum(finished.values()))
        self._scale = scale
        self._whole = sum(estimates.values())
        self._unfinished = {key: each for key, each in estimates.items() if key not in finished}

    def answer(self, queries: int) -> None:
        """Count so many more as answered."""
        self.answered += queries

    def finish(self, example_id: str) -> None:
        """Count this example's search as finished."""
        self._unfinished.pop(example_id, None)

    def total(self) -> int | None:
        """Queries expected in all; None where nothing is known yet.

        It exceeds what was answered until every example is finished.
        """
        finished = self._whole - sum(self._unfinished.values())
        scale = min(self._scale, self.answered / finished) if finished else self._scale
        if math.isinf(scale):
            return None
        return max(round(scale * self._whole), self.answered + len(self._unfinished))


def expect_queries(
    capability: Capability,
    examples: Sequence[Example],
    options: SearchOptions,
    recorded: Mapping[str, int],
) -> ExpectedQueries:
    """The queries of a search, before any model is asked.

    Parameters
    ----------
    recorded
        Queries of the examples that were searched before, repeats included, by id.
    """
    waits = len(recorded) < len(examples)
    estimates = _estimates(capability, examples, options) if waits else None
    if estimates is None:
        alike = dict.fromkeys((one.id for one in examples), 1.0)
        return ExpectedQueries(alike, scale=math.inf, finished=recorded)
    # Repeats make the recorded number too great, most of it where every trial ranks all words.
    finished = {key: min(queries, estimates[key]) for key, queries in recorded.items()}
    return ExpectedQueries(estimates, scale=1.0, finished=finished)


def _estimates(
    capability: Capability, examples: Sequence[Example], options: SearchOptions
) -> dict[str, float] | None:
    """Estimated queries by example id; None where the capability gives no estimate."""
    if not isinstance(capability, EstimatesQueries):
        return None
    # A sample: in the order of the data, the first examples may be shorter than the others.
    sample = random.Random(0).sample(examples, len(examples))  # noqa: S311 - no secret
    known = attempt(partial(_estimated_in_time, capability, sample, options))
    if isinstance(known, Failed):
        # An estimate is for display only; the search may still work.
        return None
    letters = sum(len(one.text) for one in examples if one.id in known)
    each = sum(known.values()) / max(letters, 1)
    return {one.id: known.get(one.id, each * len(one.text)) for one in examples}


def _estimated_in_time(
    capability: EstimatesQueries, examples: Sequence[Example], options: SearchOptions
) -> dict[str, float]:
    known: dict[str, float] = {}
    end = math.inf
    for one in examples:
        known[one.id] = capability.estimate_queries(one, options)
        # The first one may also load TextAttack, which the search needs in any case.
        end = min(end, time.monotonic() + SECONDS_TO_ESTIMATE)
        if time.monotonic() >= end:
            break
    return known


class CountedClassifier:
    """The reference as one search sees it: each distinct text is counted once it is answered."""

    def __init__(
        self, reference: CachedClassifier, expected: ExpectedQueries, advance: Advance
    ) -> None:
        self._reference = reference
        self._expected = expected
        self._advance = advance
        self._counted: set[int] = set()
        self.spec = reference.spec
        self.fingerprint = reference.fingerprint
        self.labels = reference.labels

    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """The reference's answers; new ones are counted as they come, cached ones at the end."""
        new = {hash(text) for text in texts} - self._counted  # a hash takes less room than a text
        self._counted |= new
        cached = len(new)

        def advance(asked: int = 1, /) -> None:
            nonlocal cached
            cached -= asked
            self._count(asked)

        predictions = self._reference.classify(texts, advance)
        self._count(cached)
        return predictions

    def _count(self, queries: int) -> None:
        self._expected.answer(queries)
        self._advance(queries)
