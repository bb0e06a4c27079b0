"""The first section of a probe's page: the correlation with human scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from reports.blocks import Bullets, Paragraph, Section
from reports.prose import Text, prose, together
from reports.wording import Cell, count_rivals
from scope.jobs.probe.step_tables import (
    POSITIONS,
    RAW,
    last_scores,
    lowered,
    most_seeds,
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
    StepScore,
    Undefined,
)

CLEAR = 0.01
"""The smallest difference at which the correlation on unseen pairs is shown, too."""

MOST_IN_HEADLINE = 10
"""The most differences between models that are listed."""


class BestLayer(NamedTuple):
    """The single layer with the highest correlation, of ``layers`` layers.

    ``rivals`` counts the layers whose interval overlaps with its own.
    """

    layer: int
    layers: int
    estimate: Estimate
    rivals: int


def headline_section(findings: ProbeFindings) -> Section:
    """What each model's probe reaches, whose is better, and what that rests on."""
    answers = [_answer(findings, last) for last in last_scores(findings)]
    items = (
        *(answers or [prose("No probe is scored.")]),
        *_between_models(findings),
        _basis(findings, probes=len(answers)),
    )
    return Section(
        anchor="answer",
        title="Answer",
        blocks=(Bullets(items, findings=True), Paragraph(_reading(findings))),
    )


def _answer(findings: ProbeFindings, last: StepScore) -> Text:
    subject = (
        "**{model}**: the scores of its best raw layer on the development pairs (step ``{step}``)"
        if last.step == RAW
        else "**{model}**: the scores of the probe of its frozen layers (step ``{step}``)"
    )
    return together(
        prose(subject, model=last.model, step=last.step),
        _correlations(last),
        _on_unseen(findings, last),
        *(_training(findings, last) or [_raw_layer(findings, last.model)]),
        _better_layer(findings, last),
    )


def _correlations(last: StepScore) -> Text:
    match last.pearson, last.spearman:
        case Undefined(reason=first), Undefined(reason=second) if first == second:
            return prose(
                "have **no correlation** with human scores, neither Pearson’s nor Spearman’s: "
                "{reason}.",
                reason=first,
            )
        case Undefined(reason=first), Undefined(reason=second):
            return prose(
                "have **no Pearson correlation** with human scores ({first}) and **no Spearman "
                "correlation** ({second}).",
                first=first,
                second=second,
            )
        case Undefined(reason=first), spearman:
            return prose(
                "have a Spearman correlation of {spearman} with human scores, and **no Pearson "
                "correlation**: {reason}.",
                spearman=spearman,
                reason=first,
            )
        case pearson, Undefined(reason=second):
            return prose(
                "have a Pearson correlation of {pearson} with human scores, and **no Spearman "
                "correlation**: {reason}.",
                pearson=pearson,
                reason=second,
            )
    return prose(
        "have a Pearson correlation of {pearson} and a Spearman correlation of {spearman} with "
        "human scores.",
        pearson=last.pearson,
        spearman=last.spearman,
    )


def _on_unseen(findings: ProbeFindings, last: StepScore) -> Text:
    """The correlation on unseen pairs; nothing if it differs little from that on all pairs."""
    whole, unseen = last.pearson, last.unseen
    if not some_seen(findings):
        return ()
    which = "On unseen pairs, which share no sentence with the training or development pairs,"
    if isinstance(unseen, Undefined):
        return prose(f"{which} there is no Pearson correlation: {{reason}}.", reason=unseen.reason)
    if isinstance(whole, Estimate) and abs(unseen.value - whole.value) < CLEAR:
        return ()
    return prose(f"{which} the Pearson correlation is {{unseen}}.", unseen=unseen)


def _training(findings: ProbeFindings, last: StepScore) -> list[Text]:
    """The gain by training; nothing if nothing was trained or there is no step ``raw``."""
    scores = of_model(findings, last.model)
    steps = [score.step for score in scores]
    if RAW not in steps[:-1]:
        return []
    raw = scores[steps.index(RAW)].pearson
    # The sum of several gains has no interval.
    gain = last.gain if steps[-2] == RAW else None
    worse = _worse(findings, scores, gain) if lowered(scores) else ()
    return [_raw_step(raw, gain), worse]


def _raw_step(raw: Estimate | Undefined, gain: Estimate | Undefined | None) -> Text:
    about = "The best raw layer on the development pairs (step ``raw``) has"
    if isinstance(raw, Undefined):
        known = prose(f"{about} no Pearson correlation: {{reason}}", reason=raw.reason)
    else:
        known = prose(f"{about} a Pearson correlation of {{raw}}", raw=raw)
    if gain is None:
        return prose("{known}; the gain of each step is shown [[steps|below]].", known=known)
    if isinstance(gain, Undefined):
        return prose(
            "{known}. The gain by training is unknown: {reason}.", known=known, reason=gain.reason
        )
    remark = {
        "more": " The interval excludes 0.",
        "unclear": " The interval includes 0: the gain may be chance.",
    }
    return prose(
        f"{{known}}; the gain by training is {{gain}}.{remark.get(gain.side, '')}",
        known=known,
        gain=Cell.of(gain, signed=True),
    )


def _worse(
    findings: ProbeFindings, scores: Sequence[StepScore], gain: Estimate | Undefined | None
) -> Text:
    sure = side_of_chance(gain) == "less"
    claim = "Training did not help here" if sure else "Training is not shown to help here"
    lower = "significantly lower" if sure else "lower"
    few = (
        prose("; {train} pairs may be too few for training", train=findings.train)
        if findings.train
        else ()
    )
    return prose(
        f"**{claim}**: the correlation of the step ``{{step}}`` is {lower} than that of "
        "``raw``{few}.",
        step=scores[-1].step,
        few=few,
    )


def _raw_layer(findings: ProbeFindings, model: str) -> Text:
    best = best_layer(findings, model, lambda one: one.raw)
    if best is None:
        return ()
    few = best.rivals == 1
    overlap = (
        prose(
            f"; the interval{'' if few else 's'} of {{n}} other{'' if few else 's'} "
            f"overlap{'s' if few else ''} with it",
            n=best.rivals,
        )
        if best.rivals
        else ()
    )
    return prose(
        "Of its {layers} raw layers, layer {layer} has the highest correlation: {estimate}, "
        "slightly optimistic because the layer is selected on the test pairs{overlap}.",
        layers=best.layers,
        layer=best.layer,
        estimate=best.estimate,
        overlap=overlap,
    )


def _better_layer(findings: ProbeFindings, last: StepScore) -> Text:
    """The best encoded layer if its interval does not overlap: it is selected on the test pairs."""
    best, whole = best_layer(findings, last.model, lambda one: one.encoded), last.pearson
    if best is None or not isinstance(whole, Estimate) or best.estimate.low <= whole.high:
        return ()
    return prose(
        "**Combining all layers did not help here**: layer {layer}, as encoded by the probe, has a "
        "Pearson correlation of {estimate}, higher than all layers together, without overlap of "
        "the intervals; it is slightly optimistic because the layer is selected on the test pairs.",
        layer=best.layer,
        estimate=best.estimate,
    )


def best_layer(
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
    rivals = count_rivals(estimate, (found for _, found in known))
    return BestLayer(layer, len(layers), estimate, rivals)


def _between_models(findings: ProbeFindings) -> Iterator[Text]:
    """The first differences of the last step, and how many more there are."""
    last = last_scores(findings)
    found = [one for one in findings.differences if last and one.step == last[0].step]
    for one in found[:MOST_IN_HEADLINE]:
        yield _difference(findings, one, alone=len(found) == 1)
    if len(found) > 1:
        yield prose("These differences are not corrected for multiple comparisons.")
    if more := len(found) - min(len(found), MOST_IN_HEADLINE):
        words = "difference between models is" if more == 1 else "differences between models are"
        yield prose(f"{{more}} more {words} listed below the [[steps|steps]].", more=more)


def _difference(findings: ProbeFindings, one: ProbeDifference, *, alone: bool) -> Text:
    """The difference with the sign that makes it non-negative."""
    found, first, second = one.pearson, one.first, one.second
    if isinstance(found, Undefined):
        return prose(
            "The difference between **{first}** and **{second}** is **undefined**: {reason}.",
            first=first,
            second=second,
            reason=found.reason,
        )
    if found.value < 0:
        found = replace(found, value=-found.value, low=-found.high, high=-found.low)
        first, second = second, first
    claim = (
        "The Pearson correlation of **{first}** is higher than that of **{second}** by {found}. "
        "The interval includes 0: the difference may be chance."
        if found.side == "unclear"
        else "The layers of **{first}** predict human scores better than those of **{second}**: "
        "the Pearson correlation on the same pairs is higher by {found}, "
        f"{'a significant difference' if alone else 'and the interval is above 0'}."
    )
    return together(
        prose(claim, first=first, second=second, found=found), _readouts(findings, first, second)
    )


def _readouts(findings: ProbeFindings, first: str, second: str) -> Text:
    if not read_apart(findings, first, second):
        return ()
    places = {one.name: POSITIONS.get(one.readout, one.readout) for one in findings.models}
    if places[first] == places[second]:
        return prose(
            "The two are read with different [[asked|prompts]], which may also cause a difference."
        )
    return prose(
        "The two are read at different positions (**{first}** {here}, **{second}** {there}), which "
        "may also cause a difference.",
        first=first,
        here=places[first],
        second=second,
        there=places[second],
    )


def _basis(findings: ProbeFindings, *, probes: int) -> Text:
    if not findings.train:
        return prose(
            "A saved probe is evaluated on {test} pairs; whether it was trained on some of these "
            "pairs is unknown.",
            test=findings.test,
        )
    seen = some_seen(findings)
    pretraining = (
        prose("; {n} sentences without scores are used for pretraining", n=findings.unlabelled)
        if findings.unlabelled
        else ()
    )
    trained = prose(
        "The results are based on {test} test pairs. "
        f"The probe{'s are' if probes > 1 else ' is'} trained on {{train}}"
        f"{'' if seen else ' other'} pairs and selected on {{development}}{{pretraining}}.",
        test=findings.test,
        train=findings.train,
        development=findings.development,
        pretraining=pretraining,
    )
    return together(
        trained,
        _shared_sentences(findings)
        if seen
        else prose("No test pair shares a sentence with those."),
    )


def _shared_sentences(findings: ProbeFindings) -> Text:
    if not findings.unseen:
        return prose(
            "Every test pair shares a sentence with those pairs, so there is no result for new "
            "sentences."
        )
    shared = findings.test - findings.unseen
    return prose(
        f"{{shared}} of the test pairs share{'s' if shared == 1 else ''} a sentence with those "
        f"pairs; results on the {{unseen}} unseen pair{'' if findings.unseen == 1 else 's'} are "
        "shown [[steps|below]].",
        shared=shared,
        unseen=findings.unseen,
    )


def _reading(findings: ProbeFindings) -> Text:
    """What the correlations mean, and what their intervals rest on."""
    return together(
        prose(
            "Pearson’s correlation measures a linear relation of the scores with human scores, "
            "Spearman’s the same ranking: 1 is perfect, 0 is none. Brackets are confidence "
            "intervals for pairs like these test pairs; other kinds of sentences may give other "
            "results."
        ),
        _intervals(findings),
        prose("For steps with several seeds, the results are those of the first seed.")
        if most_seeds(last_scores(findings)) > 1
        else (),
        prose("Layers are counted from 0."),
    )


def _intervals(findings: ProbeFindings) -> Text:
    if findings.groups < findings.test:
        return prose(
            "Test pairs that share a sentence are not independent. They form {groups} "
            f"group{'' if findings.groups == 1 else 's'}, and the intervals are from a jackknife "
            "over groups.",
            groups=findings.groups,
        )
    if findings.test:
        return prose(
            "No two test pairs share a sentence; the intervals are from a jackknife over pairs."
        )
    return ()
