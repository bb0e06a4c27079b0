"""The task of a probe, its pairs with human scores, and sentences that parts share.

Everything is checked before any model is loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from scope.errors import DataError, SpecError, counted
from scope.jobs.answering_models import find_task, task_names
from scope.jobs.probe.latents import Scores
from scope.jobs.probe.request import ProbeRequest
from scope.protocols import PairData, PairTask, Part
from scope.records import CapabilityCard, DataCard, ScoredPair, Setting
from scope.registry import piece_card, refuse_unused_settings, settings_of, with_settings

Pairs = tuple[ScoredPair, ...]


@dataclass(frozen=True, kw_only=True)
class ChosenPairTask:
    """A task of pairs, and its origin."""

    task: PairTask
    origin: str

    @classmethod
    def of(
        cls,
        task: str | object,
        low: float | None = None,
        high: float | None = None,
        settings: Mapping[str, Setting] = MappingProxyType({}),
    ) -> ChosenPairTask:
        """The task by name or as an object, with its range if given.

        Parameters
        ----------
        low, high
            The lowest and the highest score; None: as in the task.
        settings
            Settings of a task given by name.

        Raises
        ------
        SpecError
            If the name is unknown, the task is not one of pairs, it does not accept the range, or
            the range is invalid.

        Examples
        --------
        >>> ChosenPairTask.of("similarity", high=1.0).ends
        (0.0, 1.0)
        """
        chosen, origin = find_task(task, settings)
        if not isinstance(chosen, PairTask):
            raise SpecError(
                f"the task `{chosen.name}`, which has no pairs with human scores",
                expected=f"a task of scored pairs: {', '.join(task_names(pairs=True))}",
                fix="use --task similarity; a task of questions is for `scope compare`",
            )
        refuse_unused_settings(settings, {chosen.name: settings_of(chosen)})
        ends = {name: end for name, end in (("low", low), ("high", high)) if end is not None}
        if not ends.keys() <= settings_of(chosen):
            spelled = " ".join(f"--{name} {value:g}" for name, value in ends.items())
            raise SpecError(
                f"the range {spelled} for the task `{chosen.name}`, whose scores are from "
                f"{chosen.low:g} to {chosen.high:g}",
                expected="a task with the settings low and high, such as similarity",
                fix="omit --low and --high",
            )
        return cls(task=with_settings(chosen, ends) if ends else chosen, origin=origin)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return self.task.low, self.task.high

    def card(self) -> CapabilityCard:
        """The task in the manifest."""
        return piece_card(self.task, self.origin)


@dataclass(frozen=True, kw_only=True)
class GivenPairs:
    """The pairs of each part, their data cards, and notes; a saved probe has only test pairs."""

    train: Pairs = ()
    development: Pairs = ()
    test: Pairs
    cards: tuple[DataCard, ...]
    notes: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """The distinct sentences of all parts."""
        return sentences_of((*self.train, *self.development, *self.test))


def sentences_of(pairs: Sequence[ScoredPair]) -> tuple[str, ...]:
    """The distinct sentences of the pairs, in their order.

    Examples
    --------
    >>> sentences_of([ScoredPair(id="0", first="b", second="a", score=1.0)] * 2)
    ('b', 'a')
    """
    return tuple(dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second)))


def human_scores(pairs: Sequence[ScoredPair]) -> Scores:
    """The human scores, in the order of the pairs."""
    return np.array([pair.score for pair in pairs], dtype=np.float64)


def read_all_parts(task: PairTask, request: ProbeRequest) -> GivenPairs:
    """The training, development and test pairs that a request names.

    If there are no development pairs, they are split from the training pairs.

    Raises
    ------
    SpecError
        If a part is missing, or both a table and single parts are given.
    DataError
        If data cannot be read, all pairs of a part have the same score, or the range does not
        match the scores.
    """
    apart = (request.train, request.development, request.test)
    as_table = request.data is not None and not any(apart)
    in_parts = request.data is None and request.train is not None and request.test is not None
    if not (as_table or in_parts):
        raise SpecError(
            _options(request),
            expected="one table with a column `split`, or training pairs and test pairs",
            fix="write --data TABLE, or --train PAIRS --test PAIRS and optionally "
            "--development PAIRS",
        )
    train = _read(task, request, "train")
    development = _development(task, request)
    test = _read(task, request, "test")
    maximum = max(pair.score for pair in train.pairs)
    if maximum < (task.low + task.high) / 2:
        raise DataError(
            f"the highest score of the training pairs is {maximum:g} in a range of "
            f"{task.low:g} to {task.high:g}",
            expected="training pairs with scores in the upper half of the range, whose maximum is "
            "the score of equal meaning",
            fix=f"set the highest possible score: --high {maximum:g}, or more",
        )
    notes: tuple[str, ...] = ()
    if development is None:
        learned, chosen = split_development(train.pairs, request.seed)
        notes = (
            f"{counted(len(chosen), 'development pair')} split from the training pairs (seed "
            f"{request.seed}), without shared sentences",
        )
    else:
        learned, chosen = train.pairs, development.pairs
    for name, pairs in (("training", learned), ("development", chosen), ("test", test.pairs)):
        _require_variety(pairs, name)
    cards = tuple(part.card for part in (train, development, test) if part is not None)
    return GivenPairs(train=learned, development=chosen, test=test.pairs, cards=cards, notes=notes)


def read_test_alone(task: PairTask, request: ProbeRequest) -> GivenPairs:
    """The test pairs of a saved probe.

    Raises
    ------
    SpecError
        If there are none, or both a table and test pairs.
    DataError
        If data cannot be read, or all pairs have the same score.
    """
    if (request.data is None) == (request.test is None):
        raise SpecError(
            "a saved probe and no test pairs" if request.data is None else _options(request),
            expected="new pairs: a table of test pairs, or one with a column `split`",
            fix="write for example --probe FOLDER --test test.csv",
        )
    test = _read(task, request, "test")
    _require_variety(test.pairs, "test")
    return GivenPairs(test=test.pairs, cards=(test.card,))


def _options(request: ProbeRequest) -> str:
    names = ("data", "train", "development", "test")
    options = [f"--{name} {spec}" for name in names if (spec := getattr(request, name)) is not None]
    alone = " alone" if len(options) == 1 else ""
    return f"{' with '.join(options) or 'no pairs'}{alone}"


def _read(task: PairTask, request: ProbeRequest, part: Part) -> PairData:
    spec = getattr(request, part)
    if spec is not None:
        return task.load_pairs(spec, part=None, n=request.n, seed=request.seed)
    read = task.load_pairs(request.data or "", part=part, n=request.n, seed=request.seed)
    # Distinguishes the cards of one table.
    return replace(read, card=replace(read.card, spec=f"{read.card.spec} ({part})"))


def _development(task: PairTask, request: ProbeRequest) -> PairData | None:
    if request.data is None and request.development is None:
        return None
    try:
        return _read(task, request, "development")
    except DataError:
        if request.data is None:
            raise
        # If the whole table is readable, only the rows of this part are missing.
        task.load_pairs(request.data, part=None, n=None, seed=request.seed)
        return None


def _require_variety(pairs: Pairs, name: str) -> None:
    scores = {pair.score for pair in pairs}
    if len(scores) < 2:
        raise DataError(
            f"{counted(len(pairs), f'{name} pair')}, and no two different scores"
            + "".join(f" but {score:g}" for score in scores),
            expected="pairs of different scores: nothing correlates with a constant",
            fix="add pairs of similar and of dissimilar meaning"
            + (", or give separate development pairs" if name == "development" else ""),
        )


SHARE = 0.1
"""Share of the training pairs for development if no development pairs are given."""


def split_development(pairs: Pairs, seed: int) -> tuple[Pairs, Pairs]:
    """Training pairs and a random tenth of them for development, in their original order.

    Pairs that share a sentence stay together. A group that exceeds the remaining number is
    skipped, so there may be fewer pairs, or none if all pairs are in one group.

    Examples
    --------
    >>> pairs = tuple(
    ...     ScoredPair(id=str(place), first=f"a{place // 2}", second=f"b{place}", score=1.0)
    ...     for place in range(20)
    ... )
    >>> train, development = split_development(pairs, seed=0)
    >>> len(train), len({pair.first for pair in development})
    (18, 1)
    """
    groups = sentence_groups(pairs)
    members: dict[int, list[int]] = {}
    for place, pair in enumerate(pairs):
        members.setdefault(groups[pair.first], []).append(place)
    wanted = max(2, round(SHARE * len(pairs)))
    drawn: set[int] = set()
    for group in np.random.default_rng(seed).permutation(len(members)):
        if len(drawn) + len(members[group]) <= wanted:
            drawn.update(members[group])
    return (
        tuple(pair for place, pair in enumerate(pairs) if place not in drawn),
        tuple(pair for place, pair in enumerate(pairs) if place in drawn),
    )


def sentence_groups(pairs: Sequence[ScoredPair]) -> dict[str, int]:
    """The group number of each sentence; the sentences of one pair are in the same group.

    Examples
    --------
    >>> sides = [("a", "b"), ("c", "d"), ("d", "e")]
    >>> sentence_groups([ScoredPair(id=x, first=x, second=y, score=0.0) for x, y in sides])
    {'a': 0, 'b': 0, 'c': 1, 'd': 1, 'e': 1}
    """
    if not pairs:
        return {}
    numbers = {text: number for number, text in enumerate(sentences_of(pairs))}
    ends = [[numbers[pair.first] for pair in pairs], [numbers[pair.second] for pair in pairs]]
    graph = coo_array((np.ones(len(pairs)), ends), shape=(len(numbers), len(numbers)))
    groups = connected_components(graph, directed=False)[1]
    return dict(zip(numbers, groups.tolist(), strict=True))


class LeakageGroups(NamedTuple):
    """Groups of test pairs that share sentences, and pairs without sentences of training.

    ``groups`` has one number per pair. ``unseen`` is a mask of the pairs of which no sentence is in
    a training or development pair; None for a saved probe, whose training pairs are unknown.
    """

    groups: NDArray[np.int64]
    unseen: NDArray[np.bool_] | None


def leakage_groups(pairs: GivenPairs) -> LeakageGroups:
    """The leakage groups of the test pairs.

    Examples
    --------
    >>> def pair(first, second):
    ...     return ScoredPair(id=first, first=first, second=second, score=1.0)
    >>> test = (pair("a", "b"), pair("c", "d"), pair("e", "b"))
    >>> leakage_groups(GivenPairs(train=(pair("x", "a"),), test=test, cards=()))
    LeakageGroups(groups=array([0, 1, 0]), unseen=array([False,  True,  True]))
    """
    of_sentences = sentence_groups(pairs.test)
    groups = np.array([of_sentences[pair.first] for pair in pairs.test], dtype=np.int64)
    known = sentences_of((*pairs.train, *pairs.development))
    return LeakageGroups(groups, ~_sharing(pairs.test, known) if known else None)


def notes_on_overlap(pairs: GivenPairs, unlabelled: Sequence[str] = ()) -> tuple[str, ...]:
    """Notes on the test pairs that share sentences with the training data."""
    known = (*pairs.train, *pairs.development)
    if not known:
        return (
            "a saved probe does not contain its training pairs: overlap with the test pairs is "
            "unknown",
        )
    repeated = {frozenset((pair.first, pair.second)) for pair in known}
    same = [frozenset((pair.first, pair.second)) in repeated for pair in pairs.test]
    of_train, of_development = sentences_of(pairs.train), sentences_of(pairs.development)
    counts = (
        (_sharing(pairs.test, of_train), "share a sentence with the training pairs"),
        (_sharing(pairs.test, of_development), "share one with the development pairs"),
        (_sharing(pairs.test, unlabelled), "share one with the sentences without scores"),
        (same, "are identical to a training or development pair"),
    )
    parts = [f"{sum(mask)} {overlap}" for mask, overlap in counts if any(mask)]
    return (f"of {counted(len(pairs.test), 'test pair')}, {'; '.join(parts)}",) if parts else ()


def _sharing(test: Pairs, sentences: Sequence[str]) -> NDArray[np.bool_]:
    """A mask of the pairs with at least one of the sentences."""
    known = frozenset(sentences)
    return np.array([pair.first in known or pair.second in known for pair in test], dtype=np.bool_)
