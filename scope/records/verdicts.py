"""Verdicts: is a model derived from another one, and may it replace it? With what they rest on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from scope.records.estimates import Estimate, Undefined
from scope.records.examples import SPARSE_FIELD

Decision = Literal["related", "not related", "undecided"]
"""*Related* is a claim with an error rate, *not related* one without; *undecided* is none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelScore:
    """The similarity of one model to the reference, on the common scale of all models of a test."""

    model: str
    value: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """One kind of evidence of similarity: the values of the suspect and of the controls.

    ``kind`` is its spelling, such as ``shared_mistakes`` or ``hard_scope``; ``capability`` names
    the perturbations that it was measured on, where there are any. ``p_value`` is the share of
    models at least as like the reference by this kind alone, the suspect counted among them. It is
    not corrected for the number of kinds, and no verdict rests on it: kinds that ``decides`` enter
    the joint statistic, whose p-value is the verdict's. ``p_adjusted`` is None; earlier releases
    wrote one. ``controls`` holds those that have a value.
    """

    kind: str
    capability: str | None = None
    suspect: Estimate | Undefined
    controls: tuple[ModelScore, ...]
    p_value: float | None = None
    p_adjusted: float | None = None
    decides: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class ControlCheck:
    """What there is to say of one control: its skill, and why it may serve badly, if it may.

    ``skill`` is its accuracy, or where no right answers are known its agreement with what most
    models answer; ``given`` is the share of questions that it answered. ``comparable`` says that it
    can be compared with the suspect: it answers, does not guess unless the suspect does, has about
    its skill and answers otherwise than the controls before it.
    """

    model: str
    skill: Estimate | Undefined
    given: float
    flags: tuple[str, ...] = ()
    comparable: bool = True


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
class PairedTest:
    """The suspect against one control, question by question.

    ``difference`` is how much more similar to the reference the suspect is, on the joint scale.
    ``p_more`` is the probability of such a difference, or a greater one, were the two equally
    alike; ``p_less`` the same for one as small.
    """

    control: str
    difference: Estimate
    p_more: float
    p_less: float


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
class Look:
    """A look at the evidence after some questions to the suspect, with its p-value."""

    asked: int
    p_value: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Is the suspect derived from this reference? The answer, and all that it rests on.

    ``sentence`` says it for a reader who reads nothing else; ``reasons`` say why it is no clearer,
    ``changes`` what could change it, ``warnings`` what to look at first. ``p_value`` is the one
    that decides, the greater of ``p_rank``, the conformal p-value of the joint statistic, and that
    of the ``agreement``; ``p_adjusted`` is the same after Holm's correction over the references.
    ``standings`` are the joint statistic of the suspect, first, and of every ranked control:
    controls that guess, or whose answers are not usable for another reason, have no rank.
    ``controls_needed`` is the least number of controls with which the error rate ``alpha`` can be
    kept. ``detectable`` is the smallest share of answers taken from the reference with which the
    suspect's rank would have been significant. ``shared`` counts the questions that reference and
    suspect both answered, ``queries`` what the suspect was asked for, and ``probes`` is the hash of
    the questions, fixed before it was asked. ``looks`` are those of a sequential test.
    ``comparable_needed`` is the least number of comparable controls, and
    ``assume_no_label_training`` says that the user assumed that the suspect was
    not trained on answers of the reference.
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
    paired: PairedTest | None = None
    controls: tuple[ControlCheck, ...]
    controls_needed: int
    skill: Estimate | Undefined
    detectable: float | None = None
    items: tuple[InformativeItem, ...] = ()
    reasons: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    shared: int
    queries: int
    probes: str
    looks: tuple[Look, ...] = ()
    p_rank: float | None = None
    agreement: Agreement | None = None
    comparable_needed: int = 0
    assume_no_label_training: bool = False

    @property
    def comparable(self) -> int:
        """How many controls can be compared with the suspect."""
        return sum(control.comparable for control in self.controls)

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
