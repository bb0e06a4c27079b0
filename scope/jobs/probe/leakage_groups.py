"""Which test pairs share sentences, with each other and with what a probe has learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.jobs.probe.pairs import GivenPairs, Pairs, sentences_of
from scope.jobs.probe.splitting import connected
from scope.printing import counted

Groups = NDArray[np.int64]
"""Shape (pairs,) or (sentences,): equal numbers hang together by common sentences."""


class LeakageGroups(NamedTuple):
    """What leakage test pairs to each other and to the pairs that a probe has learned from.

    ``groups`` has a number a pair, ``unseen`` says of each whether neither of its sentences stands
    in a training or development pair. A saved probe does not know its pairs: there it is None.
    """

    groups: Groups
    unseen: NDArray[np.bool_] | None

    @property
    def group_count(self) -> int:
        """How many groups there are."""
        return len(set(self.groups.tolist()))

    @property
    def unseen_count(self) -> int:
        """How many pairs are known to be unseen."""
        return 0 if self.unseen is None else int(self.unseen.sum())


def leakage_groups(pairs: GivenPairs) -> LeakageGroups:
    """What leakage the test pairs.

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
    """For each sentence of the pairs the number of the group that its pairs belong to."""
    numbers: dict[str, int] = {}
    for pair, group in zip(pairs, connected(pairs), strict=True):
        numbers[pair.first] = numbers[pair.second] = group
    return np.array([numbers[text] for text in sentences], dtype=np.int64)


def notes_on_overlap(pairs: GivenPairs, unlabelled: Sequence[str] = ()) -> tuple[str, ...]:
    """In words, how many test pairs hold what a probe has learned from; nothing where none do."""
    if not _known(pairs):
        return (
            "a saved probe does not keep its training pairs: whether sentences of the test pairs "
            "stood among them cannot be told",
        )
    both = (*pairs.train, *pairs.development)
    repeated = {frozenset((pair.first, pair.second)) for pair in both}
    same = sum(frozenset((pair.first, pair.second)) in repeated for pair in pairs.test)
    found = (
        (_sharing(pairs.test, pairs.train), "a sentence in common with the training pairs"),
        (_sharing(pairs.test, pairs.development), "one in common with the development pairs"),
        (_sharing_any(pairs.test, unlabelled), "one that stands among those without scores"),
        (same, "the very sentences of a training or development pair"),
    )
    told = [f"{count} {what}" for count, what in found if count]
    if not told:
        return ()
    return (f"of {counted(len(pairs.test), 'test pair')} have {'; '.join(told)}",)


def _known(pairs: GivenPairs) -> frozenset[str]:
    return frozenset(sentences_of((*pairs.train, *pairs.development)))


def _sharing(test: Pairs, others: Pairs) -> int:
    return _sharing_any(test, sentences_of(others))


def _sharing_any(test: Pairs, sentences: Sequence[str]) -> int:
    known = frozenset(sentences)
    return sum(pair.first in known or pair.second in known for pair in test)
