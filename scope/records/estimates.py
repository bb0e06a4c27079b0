"""Numbers and what rests on them: estimates, or the reason why there is none, and verdicts.

The verdicts: is a model derived from another one, and may it replace it?
"""

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


@dataclass(frozen=True, kw_only=True, slots=True)
class SliceTest:
    """Whether one metric of a target differs between the slices of a grouping of the texts.

    ``worst`` is the slice with the least mean, without its values: of g slices it has an interval
    at the level 1 - .05 / g. ``p_adjusted`` is corrected for the other groupings, capabilities and
    targets by Benjamini and Hochberg's method.
    """

    grouping: str
    worst: Measurement
    p_value: float
    p_adjusted: float = 1.0


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


Decision = Literal["related", "not related", "of neither kind", "undecided"]
"""Each but *undecided* is a claim with an error rate: more similar to the reference than unrelated
models are, less than its known derivatives, both. *Related* is derived, or of a common source."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelScore:
    """The similarity of one model to the reference, on the common scale of all models of a test."""

    model: str
    value: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """One kind of evidence of similarity: the values of the suspect and of the controls.

    ``kind`` is its spelling, such as ``shared_mistakes`` or ``hard_scope``; ``capability`` names
    the perturbations that it was measured on, where there are any. Kinds that ``decides`` enter the
    joint statistic. ``controls`` holds those that have a value.
    """

    kind: str
    capability: str | None = None
    suspect: Estimate | Undefined
    controls: tuple[ModelScore, ...]
    decides: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlCheck:
    """What there is to say of one control: its skill, and why it may serve badly, if it may.

    ``skill`` is its accuracy, or where no right answers are known its agreement with what most
    models answer; ``given`` is the share of questions that it answered.
    """

    model: str
    skill: Estimate | Undefined
    given: float
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class CandidateControl:
    """A stored model that may serve as a control; ``left_out`` says why it does not, if so.

    ``skill`` is the share of right answers among its answers, as of a `ControlCheck`.
    """

    model: str
    skill: Estimate | Undefined
    left_out: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Agreement:
    """How much suspect and reference agree beyond their accuracy, beside the controls.

    The values are on Fisher's scale: 0 for none, 0.55 for 0.5, 1.47 for 0.9.
    ``p_value`` is that of an agreement this high in a model of the suspect's skill, where
    ``controls`` that answer alike count as ``independent`` ones, which are fewer.
    """

    suspect: float
    controls: tuple[ModelScore, ...]
    independent: float
    p_value: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Derivative:
    """A known derivative of the reference, which suspects of its kind are like.

    ``unlike`` says that it is at most as similar to the reference as the suspect is; ``same`` is
    the share of questions that it answers as the reference does. A copy is not ``counted``.
    ``value`` is its joint statistic in the suspect's place; None if it has other evidence.
    """

    model: str
    same: float
    unlike: bool
    counted: bool = True
    value: float | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class InformativeItem:
    """A question on which the suspect's answer speaks for reuse, or against it.

    ``expected`` is the probability with which a model of the suspect's skill, unrelated to the
    reference, was expected to answer as the reference did; ``weight`` is 1 where it did, or 0, less
    what was expected: positive where the answer speaks for reuse.
    """

    id: str
    text: str
    gold: str | None
    reference: str
    suspect: str
    expected: float
    weight: float


@dataclass(frozen=True, kw_only=True, slots=True)
class MistakeCount:
    """The reference's wrong answers, or its unusual ones where no right answer is known.

    ``n`` counts those to questions that the suspect answered, too. ``same`` is the share that it
    shares, ``expected`` the share expected of an unrelated model of its skill.
    """

    n: int
    same: float
    expected: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Is the suspect related to this reference? The answer, and all that it rests on.

    ``sentence`` says it for a reader who reads nothing else; ``reasons`` say why it is no clearer,
    ``changes`` what could change it, ``warnings`` what to look at first. ``p_value`` is that of
    *related*, the greater of ``p_rank``, the rank of the pair of suspect and reference among all
    ``pairs``, and that of the ``agreement``; ``p_adjusted`` is the same after Holm's correction
    over the references. ``p_derivative``, that of *not related*, is the suspect's rank among the
    ``derivatives`` that count, from the least similar; None without any. ``standings`` are the
    joint statistic with the reference of the suspect, first, and of every ranked control: controls
    that guess, or whose answers are not usable for another reason, have no rank. Beyond
    ``threshold`` the rank is significant. ``controls_needed`` and ``derivatives_needed`` are the
    least numbers with which the error rate ``alpha`` can be kept. ``shared`` counts the questions
    that reference and suspect both answered, ``queries`` what the suspect was asked for, and
    ``probes`` is the hash of the questions, fixed before it was asked. ``same`` is the share
    that the suspect answers as the reference does; ``rivals`` are the most similar of the other
    pairs that are at least as similar as suspect and reference. ``mistakes`` are the reference's
    wrong answers, None without any; ``excluded`` the controls that were left out by name.
    """

    suspect: str
    reference: str
    decision: Decision
    sentence: str
    alpha: float
    p_value: float | None
    p_adjusted: float | None = None
    standings: tuple[ModelScore, ...]
    evidence: tuple[Evidence, ...]
    controls: tuple[ControlCheck, ...]
    controls_needed: int
    skill: Estimate | Undefined
    items: tuple[InformativeItem, ...] = ()
    reasons: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    shared: int
    queries: int
    probes: str
    p_rank: float | None = None
    pairs: int = 0
    threshold: float | None = None
    agreement: Agreement | None = None
    derivatives: tuple[Derivative, ...] = ()
    derivatives_needed: int = 0
    p_derivative: float | None = None
    same: float | None = None
    rivals: tuple[tuple[str, str], ...] = ()
    mistakes: MistakeCount | None = None
    excluded: tuple[str, ...] = ()

    @property
    def counted(self) -> tuple[Derivative, ...]:
        """The derivatives that are no copies of the reference."""
        return tuple(each for each in self.derivatives if each.counted)

    def written(self, p_value: float) -> str:
        """A p-value with as many decimals as show on which side of alpha it lies, at least three.

        With an alpha of 0.05, 0.04 is written 0.040 and 0.0503 in full.
        """
        if p_value < 0.001 <= self.alpha:
            return "< 0.001"
        small = p_value <= self.alpha
        digits = next((n for n in range(3, 6) if (round(p_value, n) <= self.alpha) == small), 6)
        return f"{p_value:.{digits}f}"


ERROR = 0.025
"""One-sided error rate of each claim, *within* and *beyond*: that of a two-sided 95 % interval."""

State = Literal["within", "beyond", "fails alone", "not shown", "not judged"]

ReplacementDecision = Literal["may replace", "may not", "not shown"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoint:
    """One number that a verdict rests on, and how surely it lies between its limits, or outside.

    ``limit`` is the least value, minus the margin for a difference; None where the number is shown
    but not judged. ``most`` is the greatest value, of the strength of reaction alone. ``p_within``
    is small where it lies between them, ``p_beyond`` where it lies outside; ``p_adjusted`` is the
    latter, corrected by Holm for all endpoints of the target. At one look of several, and on the
    texts of two runs, where a claim must err less than 2.5 %, both are greater by that ratio. One
    that is not ``needed``, such as one benchmark of several, need not be within, but must not fail
    alone.
    """

    name: str
    estimate: Estimate | Undefined
    limit: float | None = None
    most: float | None = None
    p_within: float = 1.0
    p_beyond: float = 1.0
    p_adjusted: float = 1.0
    needed: bool = field(default=True, metadata=SPARSE_FIELD)

    @property
    def measure(self) -> str:
        """What is measured, without capability or class: *keeps* of *keeps on typo*."""
        if self.name.startswith("recall of "):
            return "recall"
        return self.name.partition(" on ")[0]

    @property
    def state(self) -> State:
        """*Within* and *beyond* at a one-sided error of 2.5 %, *beyond* after correction.

        *Fails alone* is beyond by its own test, but not once it is corrected for the others. One
        that is not needed, and neither within nor outside, is *not judged*.
        """
        if self.limit is None:
            return "not judged"
        if self.p_within < ERROR:
            return "within"
        if self.p_adjusted < ERROR:
            return "beyond"
        if self.p_beyond < ERROR:
            return "fails alone"
        return "not shown" if self.needed else "not judged"


@dataclass(frozen=True, kw_only=True, slots=True)
class TextsNeeded:
    """How many unchanged and changed texts give each open endpoint a power of 0.8.

    None for a kind that needs no more, or that no number of texts decides. ``gold`` is on how many
    of the unchanged texts the models answer otherwise, so that a gold label matters.
    """

    unchanged: int | None = None
    changed: int | None = None
    gold: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """The verdict on one target.

    ``may_replace_in`` says in what the target may replace the reference: *accuracy*, *robustness*,
    *same answers*, *reaction*; empty unless it may. ``beyond`` names the endpoints that decide *may
    not*, ``open`` those that are not within, ``not_judged`` those that are shown alone. ``reason``
    says why a target is not shown to be fit although each of its endpoints is within; None
    otherwise. ``sentence`` says it all for a reader who reads nothing else. ``if_equal`` is how
    many texts decide an open verdict if the target is as good as the model it is compared with,
    ``if_as_seen`` how many if it differs as much as here.
    """

    target: str
    decision: ReplacementDecision
    endpoints: tuple[Endpoint, ...]
    may_replace_in: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()
    reason: str | None = None
    sentence: str = ""
    if_equal: TextsNeeded | None = None
    if_as_seen: TextsNeeded | None = None
