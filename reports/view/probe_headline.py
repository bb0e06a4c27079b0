"""The first section of a report on probes: the correlation with human scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reports.view import wording
from reports.view.probe_words import (
    RAW,
    READOUTS,
    last_scores,
    of_model,
    read_apart,
    side_of_chance,
    some_seen,
)
from scope.records import (
    Estimate,
    LayerScore,
    ProbeDifference,
    ProbeFindings,
    ProbeResult,
    StepScore,
    Undefined,
)

CLEAR = 0.01
"""The smallest difference at which the correlation on unseen pairs is shown, too."""

MOST_NAMED, MOST_DIFFERENCES = 3, 10
"""The most models named in the title, and the most differences listed."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """The correlation of the best raw layer, and the gain by training.

    ``added`` is known if the last step follows ``raw`` immediately; the sum of several gains has
    no interval. ``beyond`` is the side of 0 of its interval, ``worse`` whether the last step's
    correlation is lower than that of ``raw``.
    """

    raw: wording.Cell
    added: wording.Cell | None
    beyond: str | None
    worse: bool


@dataclass(frozen=True, kw_only=True)
class BestLayer:
    """The single layer with the highest correlation, of ``layers`` layers.

    ``rivals`` counts the layers whose interval overlaps with its own.
    """

    layer: int
    layers: int
    cell: wording.Cell
    rivals: int
    low: float


@dataclass(frozen=True, kw_only=True)
class ModelAnswer:
    """The correlation of the last step of one model's probe with human scores.

    ``unseen`` is Pearson's correlation on unseen pairs, None if it is about the same. ``better``
    is the best encoded layer if its correlation is clearly higher than that of all layers.
    """

    model: str
    step: str
    pearson: wording.Cell
    spearman: wording.Cell
    unseen: wording.Cell | None
    training: Training | None
    best: BestLayer | None
    better: BestLayer | None


@dataclass(frozen=True, kw_only=True)
class Ahead:
    """A difference between models: the correlation of ``first`` is higher by ``cell``.

    ``read`` are the positions of both if these differ, or the same twice if the prompts differ.
    """

    first: str
    second: str
    cell: wording.Cell
    beyond: str | None
    read: tuple[str, str] | None


@dataclass(frozen=True, kw_only=True)
class ProbeHeadline:
    """The main results; ``more`` counts differences that are not listed.

    ``saved`` is whether a saved probe is evaluated, ``unseen`` whether some test pairs share a
    sentence with the training pairs. ``seeds`` is the largest number of seeds.
    """

    title: str
    answers: tuple[ModelAnswer, ...]
    ahead: tuple[Ahead, ...]
    more: int
    saved: bool
    unseen: bool
    seeds: int
    findings: ProbeFindings


def probe_headline(comparison: ProbeResult, findings: ProbeFindings) -> ProbeHeadline:
    """The first section of the report."""
    names = [model.name for model in findings.models]
    told = ", ".join(names) if len(names) <= MOST_NAMED else f"{len(names):,} models"
    last = last_scores(findings)
    between = [one for one in findings.differences if last and one.step == last[0].step]
    return ProbeHeadline(
        title=f"SCoPE {comparison.manifest.job}: {told}",
        answers=tuple(_answer(findings, score) for score in last),
        ahead=tuple(_ahead(findings, one) for one in between[:MOST_DIFFERENCES]),
        more=max(0, len(between) - MOST_DIFFERENCES),
        saved=findings.train == 0,
        unseen=some_seen(findings),
        seeds=max((len(score.pearsons) for score in last), default=0),
        findings=findings,
    )


def _answer(findings: ProbeFindings, last: StepScore) -> ModelAnswer:
    return ModelAnswer(
        model=last.model,
        step=last.step,
        pearson=wording.cell(last.pearson),
        spearman=wording.cell(last.spearman),
        unseen=_unseen(last) if some_seen(findings) else None,
        training=_training(of_model(findings, last.model)),
        best=_best(findings, last.model, lambda one: one.raw),
        better=_better(findings, last),
    )


def _unseen(last: StepScore) -> wording.Cell | None:
    """The correlation on unseen pairs; None if it differs little from that on all pairs."""
    whole, unseen = last.pearson, last.unseen
    if (
        isinstance(whole, Estimate)
        and isinstance(unseen, Estimate)
        and abs(unseen.value - whole.value) < CLEAR
    ):
        return None
    return wording.cell(unseen)


def _training(scores: Sequence[StepScore]) -> Training | None:
    """The gain by training; None if nothing was trained or there is no step ``raw``."""
    steps = [score.step for score in scores]
    if RAW not in steps[:-1]:
        return None
    raw, last = scores[steps.index(RAW)], scores[-1]
    gain = last.gain if steps[-2] == RAW else None
    return Training(
        raw=wording.cell(raw.pearson),
        added=None if gain is None else wording.cell(gain, signed=True),
        beyond=side_of_chance(gain),
        worse=isinstance(raw.pearson, Estimate)
        and isinstance(last.pearson, Estimate)
        and last.pearson.value < raw.pearson.value,
    )


def _best(
    findings: ProbeFindings,
    model: str,
    of: Callable[[LayerScore], Estimate | Undefined | None],
) -> BestLayer | None:
    """The best single layer; None if there is only one layer."""
    layers = [one for one in findings.layers if one.model == model]
    known = [(one.layer, found) for one in layers if isinstance(found := of(one), Estimate)]
    if len(layers) < 2 or not known:
        return None
    layer, estimate = max(known, key=lambda one: one[1].value)
    return BestLayer(
        layer=layer,
        layers=len(layers),
        cell=wording.cell(estimate),
        rivals=wording.count_rivals(estimate, (found for _, found in known)),
        low=estimate.low,
    )


def _better(findings: ProbeFindings, last: StepScore) -> BestLayer | None:
    """The best encoded layer if its interval does not overlap: it is selected on the test pairs."""
    best = _best(findings, last.model, lambda one: one.encoded)
    if best is None or not isinstance(last.pearson, Estimate) or best.low <= last.pearson.high:
        return None
    return best


def _ahead(findings: ProbeFindings, difference: ProbeDifference) -> Ahead:
    """The difference with the sign that makes it non-negative."""
    found, names = difference.pearson, (difference.first, difference.second)
    if isinstance(found, Estimate) and found.value < 0:
        found = replace(found, value=-found.value, low=-found.high, high=-found.low)
        names = names[::-1]
    first, second = names
    places = {one.name: READOUTS.get(one.readout, one.readout) for one in findings.models}
    apart = read_apart(findings, first, second)
    return Ahead(
        first=first,
        second=second,
        cell=wording.cell(found),
        beyond=side_of_chance(found),
        read=(places[first], places[second]) if apart else None,
    )
