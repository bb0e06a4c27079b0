"""The training, development and test pairs, checked before any model is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from scope.errors import DataError, SpecError
from scope.printing import counted
from scope.probes.checks import Scores
from scope.protocols import PairData, PairTask, Part
from scope.records import DataCard, ScoredPair

Pairs = tuple[ScoredPair, ...]


class PairSpecs(NamedTuple):
    """Sources of pairs: one table with a column ``split``, or a spec for each part."""

    data: str | None = None
    train: str | None = None
    development: str | None = None
    test: str | None = None


@dataclass(frozen=True, kw_only=True)
class GivenPairs:
    """The pairs of each part, their data cards, and notes.

    A saved probe has only test pairs.
    """

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


def read_all_parts(task: PairTask, specs: PairSpecs, *, n: int | None, seed: int) -> GivenPairs:
    """The training, development and test pairs.

    If there are no development pairs, they are split from the training pairs.

    Raises
    ------
    SpecError
        If a part is missing, or both a table and single parts are given.
    DataError
        If data cannot be read, all pairs of a part have the same score, or the range does not
        match the scores.
    """
    _require_form(specs)
    train = _read(task, specs, "train", n, seed)
    development = _development(task, specs, n, seed)
    test = _read(task, specs, "test", n, seed)
    _require_range(train.pairs, task)
    cards = [one.card for one in (train, development, test) if one is not None]
    notes = _note_on_range(test.pairs, task)
    if development is None:
        split = split_development(train.pairs, seed)
        learned, chosen = split.train, split.development
        _require_some_apart(train.pairs, chosen)
        notes = (
            *notes,
            f"{counted(len(chosen), 'development pair')} split from the training pairs (seed "
            f"{seed}), without shared sentences",
        )
    else:
        learned, chosen = train.pairs, development.pairs
    for name, pairs in (("training", learned), ("development", chosen), ("test", test.pairs)):
        _require_variety(pairs, name)
    return GivenPairs(
        train=learned, development=chosen, test=test.pairs, cards=tuple(cards), notes=notes
    )


def read_test_alone(task: PairTask, specs: PairSpecs, *, n: int | None, seed: int) -> GivenPairs:
    """The test pairs of a saved probe.

    Raises
    ------
    SpecError
        If there are none, or both a table and test pairs.
    DataError
        If data cannot be read, or all pairs have the same score.
    """
    if (specs.data is None) == (specs.test is None):
        raise SpecError(
            "a saved probe and no test pairs" if specs.data is None else _told(specs),
            expected="new pairs: a table of test pairs, or one with a column `split`",
            fix="write for example --probe FOLDER --test test.csv",
        )
    test = _read(task, specs, "test", n, seed)
    _require_variety(test.pairs, "test")
    return GivenPairs(test=test.pairs, cards=(test.card,), notes=_note_on_range(test.pairs, task))


def _require_form(specs: PairSpecs) -> None:
    apart = (specs.train, specs.development, specs.test)
    as_table = specs.data is not None and not any(apart)
    in_parts = specs.data is None and specs.train is not None and specs.test is not None
    if not (as_table or in_parts):
        raise SpecError(
            _told(specs),
            expected="one table with a column `split`, or training pairs and test pairs",
            fix="write --data TABLE, or --train PAIRS --test PAIRS and optionally "
            "--development PAIRS",
        )


def _told(specs: PairSpecs) -> str:
    given = [f"--{name} {value}" for name, value in specs._asdict().items() if value is not None]
    return f"{' and '.join(given)} alone" if len(given) == 1 else " with ".join(given) or "no pairs"


def _read(task: PairTask, specs: PairSpecs, part: Part, n: int | None, seed: int) -> PairData:
    own = {"train": specs.train, "development": specs.development, "test": specs.test}[part]
    if own is not None:
        return task.load_pairs(own, part=None, n=n, seed=seed)
    read = task.load_pairs(specs.data or "", part=part, n=n, seed=seed)
    # Distinguishes the cards of one table.
    return replace(read, card=replace(read.card, spec=f"{read.card.spec} ({part})"))


def _development(task: PairTask, specs: PairSpecs, n: int | None, seed: int) -> PairData | None:
    if specs.data is None and specs.development is None:
        return None
    try:
        return _read(task, specs, "development", n, seed)
    except DataError:
        # If the table is readable, only the rows of this part are missing.
        if specs.data is None or not _is_readable(task, specs.data, seed):
            raise
        return None


def _is_readable(task: PairTask, spec: str, seed: int) -> bool:
    try:
        task.load_pairs(spec, part=None, n=None, seed=seed)
    except DataError:
        return False
    return True


def _require_some_apart(pairs: Pairs, drawn: Pairs) -> None:
    if len(drawn) < 2:
        raise DataError(
            f"{counted(len(pairs), 'training pair')} of which {len(drawn)} can be split for "
            "development",
            expected=f"pairs of which a share of {SHARE:g}, and at least 2, share no sentence with "
            "the others",
            fix="give separate development pairs: --development PAIRS",
        )


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


def _low_greatest(pairs: Pairs, task: PairTask) -> float | None:
    """The highest score if none is in the upper half, which suggests another range."""
    greatest = max(pair.score for pair in pairs)
    return greatest if greatest < (task.low + task.high) / 2 else None


def _note_on_range(pairs: Pairs, task: PairTask) -> tuple[str, ...]:
    """A note instead of an error: few test pairs may all be low, and correlations stay valid."""
    greatest = _low_greatest(pairs, task)
    if greatest is None:
        return ()
    return (
        f"the highest score of the test pairs is {greatest:g} in a range of {task.low:g} to "
        f"{task.high:g}: if this is not the range of the annotation, the errors are invalid",
    )


def _require_range(pairs: Pairs, task: PairTask) -> None:
    """Check that the range matches the training pairs."""
    greatest = _low_greatest(pairs, task)
    if greatest is not None:
        raise DataError(
            f"the highest score of the training pairs is {greatest:g} in a range of "
            f"{task.low:g} to {task.high:g}",
            expected="training pairs with scores in the upper half of the range, whose maximum is "
            "the score of equal meaning",
            fix=f"set the highest possible score: --high {greatest:g}, or more",
        )


SHARE = 0.1
"""Share of the training pairs for development if no development pairs are given."""


class Split(NamedTuple):
    """Training and development pairs, in their original order."""

    train: tuple[ScoredPair, ...]
    development: tuple[ScoredPair, ...]


def split_development(pairs: Sequence[ScoredPair], seed: int) -> Split:
    """Split a random tenth of the pairs; pairs that share a sentence stay together.

    A group that exceeds the remaining number is skipped, so there may be fewer pairs, or none if
    all pairs are in one group.

    Examples
    --------
    >>> pairs = [
    ...     ScoredPair(id=str(place), first=f"a{place // 2}", second=f"b{place}", score=1.0)
    ...     for place in range(20)
    ... ]
    >>> split = split_development(pairs, seed=0)
    >>> len(split.train), len({pair.first for pair in split.development})
    (18, 1)
    """
    groups = connected(pairs)
    members: dict[int, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    ordered = list(members.values())
    wanted = max(2, round(SHARE * len(pairs)))
    drawn: set[int] = set()
    for number in np.random.default_rng(seed).permutation(len(ordered)):
        if len(drawn) + len(ordered[number]) <= wanted:
            drawn.update(ordered[number])
    return Split(
        tuple(pair for place, pair in enumerate(pairs) if place not in drawn),
        tuple(pair for place, pair in enumerate(pairs) if place in drawn),
    )


def connected(pairs: Sequence[ScoredPair]) -> list[int]:
    """The group number of each pair; pairs that share a sentence are in the same group.

    Examples
    --------
    >>> sides = [("a", "b"), ("c", "d"), ("d", "e"), ("e", "a")]
    >>> connected(
    ...     [ScoredPair(id=x, first=x, second=y, score=0.0) for x, y in sides[:3]]
    ... )
    [0, 1, 1]
    >>> connected([ScoredPair(id=x, first=x, second=y, score=0.0) for x, y in sides])
    [0, 0, 0, 0]
    """
    above: dict[str, str] = {}

    def top(sentence: str) -> str:
        while above.setdefault(sentence, sentence) != sentence:
            above[sentence] = above[above[sentence]]
            sentence = above[sentence]
        return sentence

    for pair in pairs:
        above[top(pair.first)] = top(pair.second)
    numbers: dict[str, int] = {}
    return [numbers.setdefault(top(pair.first), len(numbers)) for pair in pairs]
