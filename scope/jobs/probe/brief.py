"""What a terminal shows of a probe: the steps first, then models and layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from reports.blocks import Block, Paragraph, Table, Terms, paragraph
from reports.builders.outcomes import model_lines
from reports.builders.reproduce import run_lines
from reports.prose import Text, joined, prose, written
from reports.wording import number
from scope.jobs.probe.layer_similarity import most_similar
from scope.jobs.probe.layers_section import LayerBullets
from scope.jobs.probe.step_tables import (
    RAW,
    lowered,
    most_seeds,
    scores_by_model,
    some_read_apart,
    some_seen,
)
from scope.records import DataCard, ProbedModel, ProbeFindings, ProbeResult, StepScore

MOST_RULES = 5
"""The most of the applied rules in a terminal."""

_PLACES: Mapping[str, str] = MappingProxyType(
    {
        "last": "at a text’s last token",
        "mean": "as the mean of a text’s tokens",
        "prompt": "at the last token of a prompt around each text",
    }
)


def brief_blocks(
    result: ProbeResult,
    tables: Mapping[str, Table],
    differences: Table | None,
    bullets: LayerBullets,
) -> tuple[Block, ...]:
    """The main results of a probe; the tables, by model, are those of the page."""
    manifest, found = result.manifest, result.findings
    return (
        _head(found),
        Terms(tuple((written(one.name), _read(one)) for one in found.models), facts=True),
        *_steps(found, tables),
        *_legend(found),
        *([] if differences is None else [differences]),
        *_titled("best single layers, counted from 0", bullets.best),
        *_titled("decrease of Pearson when one layer is removed", bullets.decreases),
        *_caveats(found),
        *most_similar(found),
        *_foot(found),
        Terms(
            (*((prose("data"), _data(card)) for card in manifest.data), *model_lines(manifest)),
            facts=True,
        ),
        *run_lines(result.clock),
    )


def _head(found: ProbeFindings) -> Paragraph:
    pairs = (
        prose(
            "{train} training pairs, {development} development pairs",
            train=found.train,
            development=found.development,
        )
        if found.train
        else prose("a saved probe")
    )
    unlabelled = (
        prose(", {n} sentences without scores", n=found.unlabelled) if found.unlabelled else ()
    )
    return paragraph(
        f"probe: {{models}} model{_plural(len(found.models))}; {{pairs}}, {{test}} test pairs"
        "{unlabelled}",
        models=len(found.models),
        pairs=pairs,
        test=found.test,
        unlabelled=unlabelled,
    )


def _read(model: ProbedModel) -> Text:
    return prose(
        f"{{layers}} layer{_plural(model.layers)} of width {{width}}, read {{place}}, in {{dtype}}",
        layers=model.layers,
        width=model.width,
        place=_PLACES.get(model.readout, model.readout),
        dtype=model.dtype,
    )


def _steps(found: ProbeFindings, tables: Mapping[str, Table]) -> Iterator[Block]:
    for name, scores in scores_by_model(found):
        yield tables[name]
        yield from _below(found, scores)


def _below(found: ProbeFindings, scores: Sequence[StepScore]) -> Iterator[Paragraph]:
    """What the table of a model's steps leaves out where there is little room."""
    last = scores[-1]
    if some_seen(found):
        yield paragraph(
            "Pearson on {n} unseen test pairs, without sentences of other pairs: {step} {unseen}",
            n=found.unseen,
            step=last.step,
            unseen=last.unseen,
        )
    if values := lowered(scores):
        raw, after = values
        yield paragraph(
            "training is not shown to help here: {step} {last} is lower than raw {raw}",
            step=last.step,
            last=number(after.value),
            raw=number(raw.value),
        )
    trained = joined(prose("{step} {n}", step=one.step, n=one.parameters) for one in scores)
    yield paragraph("trained parameters: {trained}", trained=trained)
    errors = joined(prose("{step} {error}", step=one.step, error=one.error) for one in scores)
    yield paragraph("mean error: {errors}", errors=errors)


def _legend(found: ProbeFindings) -> Iterator[Paragraph]:
    if any(score.step == RAW for score in found.scores):
        yield paragraph("raw: the best raw layer on the development pairs")
    if found.scores:
        yield paragraph(
            "error: mean absolute difference from human scores, which range from {low} to {high}",
            low=f"{found.low:g}",
            high=f"{found.high:g}",
        )
    if most_seeds(found.scores) > 1:
        yield paragraph(
            "seeds: numbers and intervals are those of the first seed, with mean ± standard "
            "deviation over all seeds below them"
        )


def _titled(title: str, blocks: tuple[Block, ...]) -> Iterator[Block]:
    if blocks:
        yield paragraph(f"{title}:")
        yield from blocks


def _caveats(found: ProbeFindings) -> Iterator[Paragraph]:
    if some_read_apart(found):
        yield paragraph(
            "the models are not all read at the same position with the same prompt, which may "
            "cause differences"
        )


def _foot(found: ProbeFindings) -> Iterator[Paragraph]:
    more = (
        "layer curves" if found.layers else "",
        "CKA maps" if found.alignments else "",
        "misjudged pairs" if found.misjudged else "",
    )
    if any(more):
        yield paragraph(f"in the report: {', '.join(filter(None, more))}")
    if found.groups < found.test:
        yield paragraph(
            "intervals: jackknife over groups of test pairs that share sentences, {groups} "
            f"group{_plural(found.groups)}",
            groups=found.groups,
        )
    for rule in found.notes[:MOST_RULES]:
        yield paragraph("note: {rule}", rule=rule)
    if len(found.notes) > MOST_RULES:
        yield paragraph("note: {n} more in the report", n=len(found.notes) - MOST_RULES)
    if found.files:
        yield paragraph("saved: {files}", files=joined(found.files))


def _data(card: DataCard) -> Text:
    """The pairs that were read, or the sentences without scores, which have no task.

    Repeated pairs are kept: the human scores of both count.
    """
    what = "pairs" if card.capability else "sentences"
    repeated = () if card.capability else prose("{n} repeated, ", n=card.duplicates)
    return prose(
        f"{{spec}}: {{used}} of {{rows}} {what}; left out: {{repeated}}{{empty}} empty",
        spec=card.spec,
        used=card.used,
        rows=card.rows,
        repeated=repeated,
        empty=card.empty,
    )


def _plural(count: int) -> str:
    return "" if count == 1 else "s"
