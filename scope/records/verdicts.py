"""Verdicts: is a model derived from another one, and may it replace it? With what they rest on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scope.records.estimates import Estimate, Undefined
from scope.records.examples import SPARSE_FIELD

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
