"""The result of each job, one record a job, and the verdicts that it holds.

The verdicts: is a model derived from another one, and may it replace it? The result of a pair holds
those of several jobs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from scope.records.estimates import (
    FEWEST_TEXTS,
    GOLD,
    AnswerShares,
    AuditMatrix,
    Curve,
    Difference,
    Estimate,
    FourCells,
    Measurement,
    Region,
    TaskShares,
    Undefined,
)
from scope.records.examples import (
    SPARSE_FIELD,
    Answer,
    Example,
    Item,
    Long,
    Perturbation,
    Prediction,
    answer_probabilities,
    shift_distance,
)
from scope.records.fleet import LayerAlignment
from scope.records.result import FrameRow, Manifest, Result, VerdictLine
from scope.records.text_parts import parts_of

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """The outcome of one capability or task: measured, or why it was not.

    ``reason`` of one that was measured says what of the texts was left as it is, if anything.

    ``searched`` counts (example, trial) pairs, ``found`` those with a perturbation;
    ``failures`` counts the others by reason. ``not_applicable`` counts by reason the pairs whose
    text the capability cannot change; they are not among those searched. For a task they count
    (item, model) pairs that were asked and that were answered. ``queries`` and
    ``queries_saved`` are those of all searches, ``compared`` the words that an encoder compared
    in context, each counted once for a text. ``trace`` is a failed capability's traceback.
    """

    capability: str
    status: Literal["measured", "not applicable", "skipped", "failed"]
    reason: str | None = None
    searched: int = 0
    found: int = 0
    queries: int = 0
    queries_saved: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    not_applicable: Mapping[str, int] = field(default_factory=dict, metadata=SPARSE_FIELD)
    compared: int = field(default=0, metadata=SPARSE_FIELD)
    trace: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredExample:
    """A clean example with the predictions of the reference and of each target, in order."""

    example: Example
    reference: Prediction
    targets: tuple[Prediction, ...]

    def as_pair(self) -> ScoredPerturbation:
        """The text in the form of a pair."""
        same = Perturbation(example_id=self.example.id, trial=0, text=self.example.text)
        return ScoredPerturbation(
            capability="", perturbation=same, reference=self.reference, targets=self.targets
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ScoredPerturbation:
    """A perturbation with the predictions on it; none where the search failed.

    ``similarity`` is the cosine, from -1 to 1, of its vector and the original's by the audit's
    sentence encoder; None without one.
    """

    capability: str
    perturbation: Perturbation
    reference: Prediction | None = None
    targets: tuple[Prediction, ...] = ()
    similarity: float | None = field(default=None, metadata=SPARSE_FIELD)


@dataclass(frozen=True, kw_only=True, slots=True)
class TaskAnswers:
    """A task's items, with one row of answers per model, in the manifest's order of models."""

    task: str
    items: Annotated[tuple[Item, ...], Long("questions")]
    answers: tuple[Annotated[tuple[Answer, ...], Long("answers")], ...]

    def __post_init__(self) -> None:
        if any(len(row) != len(self.items) for row in self.answers):
            raise ValueError(f"{self.task}: not every model has one answer per item")


@dataclass(frozen=True, kw_only=True, repr=False)
class EstimatedResult(Result):
    """What audits, comparisons and tests of reuse have in common: parts, and their estimates."""

    outcomes: tuple[Outcome, ...]
    measurements: tuple[Measurement, ...]

    part: ClassVar[str] = "capability"

    def failed_parts(self) -> Sequence[str]:
        """A line for each capability or task that failed."""
        return [
            f"{self.part} {outcome.capability} failed: {outcome.reason}"
            for outcome in self.outcomes
            if outcome.status == "failed"
        ]

    def rows(self) -> Iterator[FrameRow]:
        """Every measurement."""
        return map(FrameRow.measured, self.measurements)


@dataclass(frozen=True, kw_only=True, repr=False)
class MeasuredResult(EstimatedResult, ABC):
    """What audits and comparisons have in common: estimates that gates can judge.

    ``drift`` is how far language models follow the first one's answers otherwise than it does, or
    the sentences of a cloze. ``regions`` are the texts on which a model differs most from the
    reference, or from the first model.
    """

    differences: tuple[Difference, ...]
    drift: tuple[Measurement, ...] = field(default=(), metadata=SPARSE_FIELD)
    regions: tuple[Region, ...] = field(default=(), metadata=SPARSE_FIELD)

    measured_in: ClassVar[Literal["audits", "tasks"]]

    def rows(self) -> Iterator[FrameRow]:
        """Every measurement, then the drift."""
        return map(FrameRow.measured, (*self.measurements, *self.drift))

    @property
    def judged(self) -> Sequence[Measurement]:
        """The numbers that gates judge."""
        return self.measurements

    @abstractmethod
    def degenerate(self, measurement: Measurement) -> str | None:
        """Why a number carries no evidence: the answers of a model behind it are degenerate."""

    def untested(self, measurement: Measurement) -> str | None:
        """Why too few answers are behind a number to tell whether its models are degenerate."""
        return None


@dataclass(frozen=True, kw_only=True, repr=False)
class AuditResult(MeasuredResult):
    """Which of the reference's invariances each target keeps, with every text.

    ``perturbations`` are those that leave the reference's answer alone, ``candidates`` are drawn at
    random; the paper's audit is without these. ``verdicts`` says of each target whether it may
    replace the reference. A difference of
    concordance on ``typo minus synonym`` is that of the two capabilities, of one target minus the
    baseline's or, where the second is the reference, the target's own. ``earlier_looks`` names runs
    with another plan on the same texts that had finished before: the verdicts are exploratory.
    ``combined_with`` names the run, of the same plan, on whose texts they rest, too. ``look`` is
    the look of several at which all targets were decided, or the last one, on some of the
    ``planned_texts``; both are 0 where there is a single look.

    With several references ``audits`` holds the audit against each, ``matrix`` what they show
    together, and ``measurements`` the numbers of all, where ``against`` names the reference; the
    texts stand in the audits alone.
    """

    curves: tuple[Curve, ...]
    examples: Annotated[tuple[ScoredExample, ...], Long("examples")]
    perturbations: Annotated[tuple[ScoredPerturbation, ...], Long("perturbations")]
    answer_shares: tuple[AnswerShares, ...]
    candidates: Annotated[tuple[ScoredPerturbation, ...], Long("candidates")] = ()
    candidate_outcomes: tuple[Outcome, ...] = ()
    verdicts: tuple[Replacement, ...] = field(default=(), metadata=SPARSE_FIELD)
    earlier_looks: tuple[str, ...] = field(default=(), metadata=SPARSE_FIELD)
    combined_with: tuple[str, ...] = field(default=(), metadata=SPARSE_FIELD)
    look: int = field(default=0, metadata=SPARSE_FIELD)
    planned_texts: int = field(default=0, metadata=SPARSE_FIELD)
    audits: tuple[AuditResult, ...] = field(default=(), metadata=SPARSE_FIELD)
    matrix: AuditMatrix | None = field(default=None, metadata=SPARSE_FIELD)

    measured_in = "audits"

    def failed_parts(self) -> Sequence[str]:
        """A line for each search that failed."""
        drawn = [
            f"random changes of {outcome.capability} failed: {outcome.reason}"
            for outcome in self.candidate_outcomes
            if outcome.status == "failed"
        ]
        return [*super().failed_parts(), *drawn]

    @property
    def score(self) -> str:
        """By what written answers are right, ``exact_match`` or ``f1``; empty of labels."""
        return str(self.manifest.settings.get("score", ""))

    def verdict_lines(self) -> Sequence[VerdictLine]:
        """May each target replace the reference, or each of several?"""
        if self.audits:
            return [line for audit in self.audits for line in audit.verdict_lines()]
        after = ", ".join(self.earlier_looks)
        looked = f" Exploratory: {after} used these texts with another plan." if after else ""
        return [
            VerdictLine(
                f"{verdict.target} in place of {self.manifest.reference.name}",
                verdict.decision,
                f"{verdict.sentence}{looked}",
            )
            for verdict in self.verdicts
        ]

    def degenerate(self, measurement: Measurement) -> str | None:
        """Why a number carries no evidence: the target's answers are degenerate."""
        reasons = {shares.model: shares.degenerate for shares in self.answer_shares}
        reason = reasons.get(measurement.target)
        return None if reason is None else f"{measurement.target} is degenerate: {reason}"

    def untested(self, measurement: Measurement) -> str | None:
        """The first of target and reference that gave one answer to fewer than five texts."""
        behind = (measurement.target, measurement.against or self.manifest.reference.name)
        for shares in self.answer_shares:
            if shares.model in behind and len(shares.counts) == 1 and shares.n < FEWEST_TEXTS:
                return (
                    f"{shares.model} gives a single answer (n = {shares.n}); whether its answers "
                    f"depend on the text takes at least {FEWEST_TEXTS} texts to tell"
                )
        return None

    def rows(self) -> Iterator[FrameRow]:
        """Every measurement, with a remark on degenerate models, then their accuracies."""
        dead = {share.model: share.degenerate for share in self.answer_shares if share.degenerate}
        for row in super().rows():
            remark = "" if row.reason else dead.get(row.target, "")
            yield row._replace(reason=f"degenerate: {remark}") if remark else row
        for shares in self.answer_shares:
            yield FrameRow.of("", "accuracy", shares.model, shares.accuracy, against=GOLD)

    def example_rows(self) -> Iterator[Mapping[str, object]]:
        """Every pair of texts and every model: its answers to both, and whether they agree.

        Where answers are written an unchanged text is a row, too: ``before`` is the reference's
        answer to it, ``after`` the model's own, and ``kept`` whether they are the same.

        With several references each row names the one whose pair it is.
        """
        for audit in self.audits:
            for row in audit.example_rows():
                yield {"reference": audit.manifest.reference.name, **row}
        if self.audits:
            return
        originals = {example.example.id: example for example in self.examples}
        labels = self.manifest.reference.labels
        names = [self.manifest.reference.name, *(card.name for card in self.manifest.targets)]
        kinds = [("kept", perturbation) for perturbation in self.perturbations]
        kinds += [("random", candidate) for candidate in self.candidates]
        if self.score:
            kinds += [("unchanged", text.as_pair()) for text in self.examples]
        for kind, pair in kinds:
            if pair.reference is None:
                continue
            original, changed = originals[pair.perturbation.example_id], pair.perturbation
            after = (pair.reference, *pair.targets)
            before = (original.reference, *original.targets)
            before = (original.reference,) * len(names) if kind == "unchanged" else before
            reference = answer_probabilities(
                "reference_probability", original.reference, pair.reference
            )
            for name, first, second in zip(names, before, after, strict=True):
                yield {
                    "capability": pair.capability or None,
                    "pair": kind,
                    "example": changed.example_id,
                    "trial": changed.trial,
                    **_texts(original.example.text, changed.text or "", self.manifest),
                    "similarity": changed.similarity,
                    "sentence_similarity": pair.similarity,
                    "label": original.example.label,
                    "model": name,
                    "before": label_of(first, labels),
                    "after": label_of(second, labels),
                    "kept": first.choice == second.choice,
                    **answer_probabilities("probability", first, second),
                    **reference,
                    "distance": shift_distance((before[0], after[0]), (first, second)),
                }


def _texts(original: str, changed: str, manifest: Manifest) -> dict[str, str]:
    """The text before and after; of several parts that which changes, and each by its name."""
    names, before, after = manifest.data[0].parts, parts_of(original), parts_of(changed)
    place = names.index(str(manifest.settings["change"])) if names else 0
    parts = {f"text_{name}": part for name, part in zip(names, before, strict=False)}
    return {"text": before[place], "perturbed": after[place], **parts}


def label_of(prediction: Prediction, labels: Sequence[str]) -> str:
    """The label, the token or the written answer, or why there is no answer."""
    if not prediction.given:
        return f"no answer ({prediction.missing or 'no reason is known'})"
    if prediction.reply:
        return prediction.reply
    return (prediction.tokens or labels)[prediction.label]


def score_of(prediction: Prediction, gold: str | None, labels: Sequence[str]) -> float:
    """How right an answer is, from 0 to 1: a label by its name, a written answer by its score."""
    if prediction.score is not None:
        return prediction.score
    return float(prediction.given and label_of(prediction, labels) == gold)


MOST_WITH_CELLS = 10
"""Models up to which pairs have cells, differences and verdicts: more pairs fill no table."""


@dataclass(frozen=True, kw_only=True, repr=False)
class CompareResult(MeasuredResult):
    """How similar the models' answers to tasks are, with every answer.

    ``cells`` are those of each two models, of at most ten. ``verdicts`` say whether each later
    model may replace the first one, by its accuracy.
    """

    tasks: tuple[TaskAnswers, ...]
    task_shares: tuple[TaskShares, ...]
    cells: tuple[FourCells, ...] = field(default=(), metadata=SPARSE_FIELD)
    verdicts: tuple[Replacement, ...] = field(default=(), metadata=SPARSE_FIELD)

    measured_in = "tasks"
    part = "task"

    @property
    def judged(self) -> Sequence[Measurement]:
        """The numbers that gates judge: also drift, recovery and flips of each later model."""
        first, *others = (card.name for card in self.manifest.models)
        cells = {(pair.task, pair.second): pair for pair in self.cells if pair.first == first}
        reason = "no question with a known right answer was put to both models"
        if len(others) >= MOST_WITH_CELLS:
            reason = f"not measured for more than {MOST_WITH_CELLS} models"
        of_runs = []
        for task in (answers.task for answers in self.tasks):
            for model in others:
                pair = cells.get((task, model))
                numbers = (None, None) if pair is None else (pair.recovery, pair.flips)
                of_runs += [
                    Measurement(
                        metric=metric,
                        target=model,
                        against=first,
                        capability=task,
                        estimate=number or Undefined(reason=reason),
                    )
                    for metric, number in zip(("recovery", "flips"), numbers, strict=True)
                ]
        return (*self.measurements, *self.drift, *of_runs)

    def verdict_lines(self) -> Sequence[VerdictLine]:
        """May each later model replace the first one?"""
        reference = self.manifest.models[0].name
        return [
            VerdictLine(
                f"{verdict.target} in place of {reference}", verdict.decision, verdict.sentence
            )
            for verdict in self.verdicts
        ]

    def example_rows(self) -> Iterator[Mapping[str, object]]:
        """Every question and every model: its answer, and the right one where it is known."""
        for task in self.tasks:
            for card, answers in zip(self.manifest.models, task.answers, strict=True):
                for item, answer in zip(task.items, answers, strict=True):
                    options = item.question.options
                    chosen = None if answer.choice is None else options[answer.choice]
                    yield {
                        "task": task.task,
                        "question": item.question.id,
                        "text": item.question.text,
                        "gold": item.gold[0] if item.gold else None,
                        "model": card.name,
                        "answer": answer.text if chosen is None else chosen,
                    }

    def degenerate(self, measurement: Measurement) -> str | None:
        """Why a number carries no evidence: answers of one of the two models are degenerate."""
        for shares in self.task_shares:
            concerned = shares.model in (measurement.target, measurement.against)
            if (
                concerned
                and shares.task == measurement.capability
                and shares.degenerate is not None
            ):
                return f"{shares.model} is degenerate: {shares.degenerate}"
        return None


@dataclass(frozen=True, kw_only=True, repr=False)
class ReuseResult(EstimatedResult):
    """Whether the suspect is derived from each reference, and the evidence.

    ``candidate_controls`` are the stored models from which controls were chosen, in the order in
    which they were considered.
    """

    verdicts: tuple[Verdict, ...]
    candidate_controls: tuple[CandidateControl, ...] = field(default=(), metadata=SPARSE_FIELD)

    def verdict_lines(self) -> Sequence[VerdictLine]:
        """Is each suspect derived from each reference?"""
        return [
            VerdictLine(
                f"{verdict.suspect} against {verdict.reference}", verdict.decision, verdict.sentence
            )
            for verdict in self.verdicts
        ]


@dataclass(frozen=True, kw_only=True, slots=True)
class NotRun:
    """A part that does not fit the models or the data, and why; ``job`` is its command."""

    job: str
    part: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelFacts:
    """How large and how fast a model is; None is unknown, and ``reason`` says why.

    ``stored`` and ``memory`` count bytes: of the files of weights, and of the parameters as they
    are loaded in the precision ``dtype``. ``seconds`` is the mean time of an answer, over the
    ``timed`` texts or questions that were asked for it on the machine of the run.
    """

    model: str
    parameters: int | None = None
    stored: int | None = None
    dtype: str | None = None
    memory: int | None = None
    seconds: float | None = None
    timed: int = 0
    reason: str = ""


@dataclass(frozen=True, kw_only=True, repr=False)
class PairResult(Result):
    """What the jobs on two or more models found, each as its own command finds it.

    ``audits`` holds one result a direction, ``comparisons`` one a task, ``reuses`` one a pair of
    models; they have neither clock nor folder. ``similarities`` are CAPA and error consistency of
    each two models on the labels of unchanged texts, ``alignments`` of their layers on them.
    """

    audits: tuple[AuditResult, ...] = ()
    comparisons: tuple[CompareResult, ...] = ()
    reuses: tuple[ReuseResult, ...] = ()
    similarities: tuple[Measurement, ...] = ()
    facts: tuple[ModelFacts, ...] = ()
    alignments: tuple[LayerAlignment, ...] = ()
    not_run: tuple[NotRun, ...] = ()

    @property
    def parts(self) -> tuple[EstimatedResult, ...]:
        """All results, in the order of the page."""
        return (*self.audits, *self.comparisons, *self.reuses)

    def failed_parts(self) -> Sequence[str]:
        """A line for each capability or task of a part that failed."""
        return [line for part in self.parts for line in part.failed_parts()]

    def verdict_lines(self) -> Sequence[VerdictLine]:
        """The verdicts of every part."""
        return [line for part in self.parts for line in part.verdict_lines()]

    def rows(self) -> Iterator[FrameRow]:
        """Every measurement; ``against`` names the reference of an audit."""
        for audit in self.audits:
            for row in audit.rows():
                yield row._replace(against=row.against or audit.manifest.reference.name)
        yield from map(FrameRow.measured, self.similarities)
        for part in (*self.comparisons, *self.reuses):
            yield from part.rows()

    def example_rows(self) -> Iterator[Mapping[str, object]]:
        """Every answer of every part; of an audit each row names the reference."""
        for audit in self.audits:
            for row in audit.example_rows():
                yield {"reference": audit.manifest.reference.name, **row}
        for part in self.comparisons:
            yield from part.example_rows()
