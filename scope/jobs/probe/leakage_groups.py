"""Test pairs that share sentences with each other or with the training pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.jobs.probe.pairs import GivenPairs, Pairs, connected, sentences_of
from scope.printing import counted

Groups = NDArray[np.int64]
"""Shape (pairs,) or (sentences,): pairs that share sentences have the same number."""


class LeakageGroups(NamedTuple):
    """Groups of test pairs that share sentences, and pairs without sentences of training.

    ``groups`` has one number per pair. ``unseen`` is a mask of the pairs of which no sentence is in
    a training or development pair; None for a saved probe, whose training pairs are unknown.
    """

    groups: Groups
    unseen: NDArray[np.bool_] | None

    @property
    def group_count(self) -> int:
        """The number of groups."""
        return len(set(self.groups.tolist()))

    @property
    def unseen_count(self) -> int:
        """The number of pairs that are known to be unseen."""
        return 0 if self.unseen is None else int(self.unseen.sum())


def leakage_groups(pairs: GivenPairs) -> LeakageGroups:
    """The leakage groups of the test pairs.

    Examples
    --------
    >>> from scope.records import ScoredPair
    >>> def pair(first, second):
    ...     return ScoredPair(id=first, first=first, second=second, score=1.0)
    >>> test = (pair("a", "b"), pair("c", "d"), pair("e", "b"))
    >>> leakage_groups(GivenPairs(train=(pair("x", "a"),), test=test, cards=()))
    LeakageGroups(groups=array([0, 1, 0]), unseen=array([False,  True,  True]))
    """
    groups = np.array(connected(pairs.test), dtype=np.int64)
    known = _known(pairs)
    if not known:
        return LeakageGroups(groups, None)
    unseen = [pair.first not in known and pair.second not in known for pair in pairs.test]
    return LeakageGroups(groups, np.array(unseen, dtype=np.bool_))


def groups_of_sentences(pairs: Pairs, sentences: Sequence[str]) -> Groups:
    """The group number of each sentence of the pairs."""
    numbers: dict[str, int] = {}
    for pair, group in zip(pairs, connected(pairs), strict=True):
        numbers[pair.first] = numbers[pair.second] = group
    return np.array([numbers[text] for text in sentences], dtype=np.int64)


def notes_on_overlap(pairs: GivenPairs, unlabelled: Sequence[str] = ()) -> tuple[str, ...]:
    """Notes on the test pairs that share sentences with the training data."""
    if not _known(pairs):
        return (
            "a saved probe does not contain its training pairs: overlap with the test pairs is "
            "unknown",
        )
    both = (*pairs.train, *pairs.development)
    repeated = {frozenset((pair.first, pair.second)) for pair in both}
    same = sum(frozenset((pair.first, pair.second)) in repeated for pair in pairs.test)
    found = (
        (_sharing(pairs.test, pairs.train), "share a sentence with the training pairs"),
        (_sharing(pairs.test, pairs.development), "share one with the development pairs"),
        (_sharing_any(pairs.test, unlabelled), "share one with the sentences without scores"),
        (same, "are identical to a training or development pair"),
    )
    told = [f"{count} {what}" for count, what in found if count]
    if not told:
        return ()
    return (f"of {counted(len(pairs.test), 'test pair')}, {'; '.join(told)}",)


def _known(pairs: GivenPairs) -> frozenset[str]:
    return frozenset(sentences_of((*pairs.train, *pairs.development)))


def _sharing(test: Pairs, others: Pairs) -> int:
    return _sharing_any(test, sentences_of(others))


def _sharing_any(test: Pairs, sentences: Sequence[str]) -> int:
    known = frozenset(sentences)
    return sum(pair.first in known or pair.second in known for pair in test)
