"""The first section of a report on probes: how far each model's layers follow people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from reports.view import wording
from reports.view.probe_words import RAW, beyond_chance, last_scores, of_model
from scope.records import (
    Comparison,
    Estimate,
    ProbeDifference,
    ProbeFindings,
    StepScore,
    Undefined,
)

MOST_NAMED, MOST_DIFFERENCES = 3, 10
"""Of more models the title says how many there are; of more differences the table tells."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """What the layers hold as they are, and what training added to it.

    ``added`` has an interval where the last step follows ``raw`` immediately; else ``total`` is
    what all steps together added. ``beyond`` says whether ``added`` may be chance.
    """

    raw: wording.Cell
    added: wording.Cell | None
    beyond: str | None
    total: str | None


@dataclass(frozen=True, kw_only=True)
class BestLayer:
    """The layer whose own cosines follow people best, of so many ``layers``."""

    layer: int
    layers: int
    cell: wording.Cell


@dataclass(frozen=True, kw_only=True)
class ModelAnswer:
    """How far the last step of one model's probe follows people, and where that comes from."""

    model: str
    step: str
    pearson: wording.Cell
    spearman: wording.Cell
    training: Training | None
    best: BestLayer | None


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """Whose layers follow people better: ``first`` is ahead, by ``cell``."""

    first: str
    second: str
    cell: wording.Cell
    beyond: str | None


@dataclass(frozen=True, kw_only=True)
class ProbeHeadline:
    """What a reader who stops here should have read; ``more`` counts differences left out.

    ``saved`` says that a probe from an earlier run was put to the test.
    """

    title: str
    answers: tuple[ModelAnswer, ...]
    ahead: tuple[Ahead, ...]
    more: int
    saved: bool
    findings: ProbeFindings


def probe_headline(comparison: Comparison, findings: ProbeFindings) -> ProbeHeadline:
    """The first section of the report."""
    names = [model.name for model in findings.models]
    told = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names):,} models"
    last = last_scores(findings)
    between = [one for one in findings.differences if last and one.step == last[0].step]
    return ProbeHeadline(
        title=f"SCoPE {comparison.manifest.job}: {told}",
        answers=tuple(_answer(findings, score) for score in last),
        ahead=tuple(map(_ahead, between[:MOST_DIFFERENCES])),
        more=max(0, len(between) - MOST_DIFFERENCES),
        saved=findings.train == 0,
        findings=findings,
    )


def _answer(findings: ProbeFindings, last: StepScore) -> ModelAnswer:
    return ModelAnswer(
        model=last.model,
        step=last.step,
        pearson=wording.cell(last.pearson),
        spearman=wording.cell(last.spearman),
        training=_training(of_model(findings, last.model)),
        best=_best(findings, last.model),
    )


def _training(scores: Sequence[StepScore]) -> Training | None:
    """None where nothing was trained, or the layers were not tried as they are."""
    steps = [score.step for score in scores]
    if RAW not in steps[:-1]:
        return None
    raw, last = scores[steps.index(RAW)], scores[-1]
    gain = last.gain if steps[-2] == RAW else None
    return Training(
        raw=wording.cell(raw.pearson),
        added=None if gain is None else wording.cell(gain, signed=True),
        beyond=beyond_chance(gain),
        total=_total(raw.pearson, last.pearson) if gain is None else None,
    )


def _total(raw: Estimate | Undefined, last: Estimate | Undefined) -> str | None:
    if not (isinstance(raw, Estimate) and isinstance(last, Estimate)):
        return None
    return wording.number(last.value - raw.value, signed=True)


def _best(findings: ProbeFindings, model: str) -> BestLayer | None:
    layers = [one for one in findings.layers if one.model == model]
    known = list(_known(findings, model))
    if len(layers) < 2 or not known:
        return None
    layer, estimate = max(known, key=lambda one: one[1].value)
    return BestLayer(layer=layer, layers=len(layers), cell=wording.cell(estimate))


def _known(findings: ProbeFindings, model: str) -> Iterator[tuple[int, Estimate]]:
    for one in findings.layers:
        if one.model == model and isinstance(one.raw, Estimate):
            yield one.layer, one.raw


def _ahead(difference: ProbeDifference) -> Ahead:
    """The difference the way round in which it is not below 0."""
    found, names = difference.pearson, (difference.first, difference.second)
    if isinstance(found, Estimate) and found.value < 0:
        found = replace(found, value=-found.value, low=-found.high, high=-found.low)
        names = names[::-1]
    return Ahead(
        first=names[0],
        second=names[1],
        cell=wording.cell(found),
        beyond=beyond_chance(found),
    )
