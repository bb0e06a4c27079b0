"""Numbers, each with its interval or the reason why there is none, and the records made of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Annotated, Literal

from scope.records.examples import SPARSE_FIELD, Long

GOLD = "(gold)"
"""The name of the right answers in place of a model's name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A number with its confidence interval and the count of examples behind it."""

    value: float
    low: float
    high: float
    n: int
    level: float = 0.95
    method: str

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (self.value, self.low, self.high))):
            raise ValueError(f"an estimate is finite, not {self.value} [{self.low}, {self.high}]")
        if not self.low <= self.value <= self.high:
            raise ValueError(f"{self.value} lies outside its interval [{self.low}, {self.high}]")

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"

    def side(self, decimals: int = 3) -> Literal["more", "less", "unclear"]:
        """On which side of 0 the interval lies, by the decimals that are shown.

        Examples
        --------
        >>> near = Estimate(value=0.1, low=0.004, high=0.2, n=90, method="bootstrap")
        >>> near.side(), near.side(decimals=2)
        ('more', 'unclear')
        """
        if round(self.low, decimals) > 0:
            return "more"
        return "less" if round(self.high, decimals) < 0 else "unclear"


@dataclass(frozen=True, kw_only=True, slots=True)
class Undefined:
    """A number that does not exist, and why; never 0 in its stead."""

    reason: str
    n: int = 0

    def __str__(self) -> str:
        return f"undefined ({self.reason})"

    def side(self, decimals: int = 3) -> Literal["unclear"]:
        """As of an estimate: nothing is shown."""
        del decimals
        return "unclear"


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """One metric of one target, with the values it is the mean of.

    ``metric`` is the metric's spelling, as in the command line. ``against`` is what the target
    is compared with: None for the reference, ``GOLD`` for the right answers, or another model.
    ``capability`` is the capability or task, and None where only clean examples count; ``subset``
    names a part of the examples, such as ``label = positive``, and is None for all.
    ``example_ids`` runs parallel to ``values``: each example once, with the mean of its pairs.
    Both are empty where the number is no mean, or its values can be read off the answers.
    """

    metric: str
    target: str
    against: str | None = None
    capability: str | None = None
    subset: str | None = None
    estimate: Estimate | Undefined
    example_ids: Annotated[tuple[str, ...], Long("value_ids")] = ()
    values: Annotated[tuple[float, ...], Long("values")] = ()

    def by_text(self) -> dict[str, float]:
        """The value of each example; earlier releases kept one a pair, here their mean."""
        values: dict[str, list[float]] = {}
        for example, value in zip(self.example_ids, self.values, strict=True):
            values.setdefault(example, []).append(value)
        return {example: fmean(row) for example, row in values.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class TextDrift:
    """How two language models follow one text, the reference and its target, place by place.

    ``reference`` and ``target`` are the natural-log probabilities of the text's tokens, each
    model's own. ``divergence`` is KL(reference ‖ target) of the next token in each place, in nats;
    empty where their vocabularies differ. ``same`` is whether the likeliest token is the same; of
    other vocabularies by its text, in the places that both have. ``size``, of other vocabularies
    alone, is the length of what both scored, in bytes of UTF-8. ``missing`` says why there are no
    numbers.
    """

    reference: tuple[float, ...] = ()
    target: tuple[float, ...] = ()
    divergence: tuple[float, ...] = ()
    same: tuple[bool, ...] = ()
    size: int = 0
    missing: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """First target minus second on the same examples, with its Holm-corrected p-value.

    A difference that is not tested, but describes, has no p-value.
    """

    metric: str
    first: str
    second: str
    capability: str | None = None
    estimate: Estimate | Undefined
    p_value: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """A metric along one of its parameters, such as Soft-SCoPE over its cutoff."""

    metric: str
    parameter: str
    target: str
    capability: str
    points: tuple[tuple[float, Estimate], ...]


LETTERS_SHOWN = 30

UNANSWERABLE = "(unanswerable)"
"""Represents the empty answer, which means that the question has none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskShares:
    """Which answers a model gives to a task, how often each, and how many are right.

    ``counts`` holds the number of questions an answer: texts, or for questions with options the
    options' texts where all questions have the same, else their letters; an answer that calls a
    question unanswerable is ``(unanswerable)``. ``asked`` counts the questions, with those that
    were not answered. ``accuracy`` is the exact match with gold where answers are texts.

    ``degenerate`` says why the answers carry no evidence, such as one answer to all questions: a
    gate on the model's numbers on this task fails. ``warning`` says which answer makes up more than
    a tenth. Both are None where there is nothing to say.
    """

    task: str
    model: str
    counts: Mapping[str, int]
    asked: int
    accuracy: Estimate | Undefined
    degenerate: str | None = None
    warning: str | None = None

    @property
    def given(self) -> int:
        """The number of questions that were answered."""
        return sum(self.counts.values())

    def in_words(self, most: int = 4) -> str:
        """The most frequent answers with their shares of all given, and how many others there are.

        Examples
        --------
        >>> counts = {"door": 3, "a": 1}
        >>> accuracy = Undefined(reason="no gold")
        >>> TaskShares(task="t", model="m", counts=counts, asked=5, accuracy=accuracy).in_words()
        'door 75 %, a 25 %; 1 of 5 without an answer'
        """
        # A file holds them in the order of their names.
        ordered = sorted(self.counts.items(), key=lambda pair: (-pair[1], pair[0]))
        listed = [
            f"{brief(answer)} {100 * count / self.given:.0f} %" for answer, count in ordered[:most]
        ]
        others = len(ordered) - len(listed)
        missing = self.asked - self.given
        return (
            (", ".join(listed) or "none")
            + (f", {others} others" if others else "")
            + (f"; {missing} of {self.asked} without an answer" if missing else "")
        )


def brief(answer: str) -> str:
    """The beginning of an answer in one line.

    Examples
    --------
    >>> brief("a" * 40) == "a" * 30 + "…", brief("in Paris")
    (True, 'in Paris')
    """
    line = " ".join(answer.split())
    return line if len(line) <= LETTERS_SHOWN else f"{line[:LETTERS_SHOWN]}…"


FEWEST_TEXTS = 5
"""With fewer texts no model is called degenerate, and one that gives one answer passes no gate."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerShares:
    """Which answers a model gives to the unchanged texts, and how many are right.

    ``counts`` holds the number of texts a label, or next token, the most frequent first.
    ``degenerate`` says why its answers carry no evidence, such as one answer to all texts, and is
    None where nothing is wrong with them: a gate on such a model fails.
    """

    model: str
    counts: Mapping[str, int]
    accuracy: Estimate | Undefined
    degenerate: str | None = None

    @property
    def n(self) -> int:
        """The number of texts."""
        return sum(self.counts.values())

    def in_words(self, most: int = 4) -> str:
        """The most frequent answers with their shares, and how many others there are.

        Examples
        --------
        >>> counts = {"bad": 1, "good": 3}
        >>> AnswerShares(model="m", counts=counts, accuracy=Undefined(reason="")).in_words()
        'good 75 %, bad 25 %'
        """
        # JSON has its keys in the order of the alphabet.
        ordered = sorted(self.counts.items(), key=lambda pair: -pair[1])
        listed = [f"{answer} {100 * count / self.n:.0f} %" for answer, count in ordered[:most]]
        others = len(self.counts) - len(listed)
        return ", ".join(listed) + (f", {others} others" if others else "")


def marked(model: str, shares: Sequence[AnswerShares | TaskShares]) -> str:
    """The model's name, with a remark where its answers carry no evidence.

    Examples
    --------
    >>> gone = AnswerShares(model="m", counts={}, accuracy=Undefined(reason=""), degenerate="why")
    >>> marked("m", [gone]), marked("other", [gone])
    ('m (degenerate)', 'other')
    """
    degenerate = any(share.model == model and share.degenerate is not None for share in shares)
    return f"{model} (degenerate)" if degenerate else model


@dataclass(frozen=True, kw_only=True, slots=True)
class FourCells:
    """Shares of a task's questions by which of two models is right; the four sum to 1.

    The questions are those that both models got and whose right answer is known. An answer that
    was not given is wrong; where answers are texts, right is an exact match. ``difference`` is the
    first model's accuracy minus the second's.

    With the first model as reference, ``only_first`` are the flips from right to wrong, and
    ``only_second`` those from wrong to right. ``flips`` is the share of both, and ``other_wrong``
    that of the questions to which both give wrong answers that differ, as a missing one differs
    from every other. ``recovery`` is the second model's accuracy as a share of the first's.
    ``p_value`` is that of McNemar's exact test, ``detectable`` the smallest difference of accuracy
    that this many questions show with power 0.8. These five are None in results of earlier
    releases.
    """

    task: str
    first: str
    second: str
    both: Estimate
    only_first: Estimate
    only_second: Estimate
    neither: Estimate
    difference: Estimate
    flips: Estimate | None = field(default=None, metadata=SPARSE_FIELD)
    other_wrong: Estimate | None = field(default=None, metadata=SPARSE_FIELD)
    recovery: Estimate | Undefined | None = field(default=None, metadata=SPARSE_FIELD)
    p_value: float | None = field(default=None, metadata=SPARSE_FIELD)
    detectable: Estimate | Undefined | None = field(default=None, metadata=SPARSE_FIELD)

    def count(self, share: Estimate) -> int:
        """The number of questions that a share of these cells stands for."""
        return round(share.value * share.n)


REGION_MARGIN = 0.05
"""By how much a target differs in a region beyond the yardstick, and beyond other texts."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """Texts on which a target differs more than the yardstick does and more than on other texts.

    ``name`` completes "texts ...", or of a comparison's ``task`` "questions ...". ``measure`` is
    what differs: ``answers``, ``accuracy`` (right less often; ``gain`` if more often),
    ``confidence``, or under random ``changes`` whether the answer is kept. ``inside`` and
    ``outside`` are the target's mean difference from the reference in the region and elsewhere,
    ``yardstick`` that of the yardstick in the region, all on the texts that did not propose the
    region; ``excess`` is the lesser of inside minus yardstick and inside minus outside, with an
    interval that is corrected for all regions proposed with it. ``needed`` is how many of those
    texts would confirm a region that is not ``confirmed``, if they differed as much; None if no
    number would. ``texts`` holds the ids of all sampled texts in the region, ``further`` counts the
    others that took part, and ``against`` names the reference where there are several.
    """

    target: str
    name: str
    measure: str
    inside: float
    outside: float
    excess: Estimate
    confirmed: bool
    task: str = field(default="", metadata=SPARSE_FIELD)
    against: str = field(default="", metadata=SPARSE_FIELD)
    yardstick: float | None = field(default=None, metadata=SPARSE_FIELD)
    needed: int | None = field(default=None, metadata=SPARSE_FIELD)
    further: int = field(default=0, metadata=SPARSE_FIELD)
    texts: tuple[str, ...] = field(default=(), metadata=SPARSE_FIELD)


@dataclass(frozen=True, kw_only=True, slots=True)
class Correlation:
    """Pearson's correlation of two metrics over all ordered pairs of models.

    ``n`` of the estimate counts pairs. The interval is a jackknife over models.
    """

    metric: str
    other: str
    capability: str
    estimate: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class GroupEstimate:
    """The mean of one metric over the models of a group, each compared with ``against``.

    A reference that is one of the group is left out of ``members``.
    """

    group: str
    members: tuple[str, ...]
    against: str
    metric: str
    capability: str | None = None
    estimate: Estimate | Undefined


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditMatrix:
    """Asymmetries, correlations and groups of audits against several references.

    An asymmetry is SCoPE(second | first) minus SCoPE(first | second): how much better the second
    keeps what the first ignores than the other way round, paired by example.
    """

    asymmetries: tuple[Difference, ...]
    correlations: tuple[Correlation, ...]
    groups: tuple[GroupEstimate, ...]
