"""The steps of each model's probe, and the differences between models."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from reports.blocks import (
    Block,
    Column,
    Figure,
    Paragraph,
    Row,
    Section,
    Table,
    Terms,
    heading,
)
from reports.builders.asked import code
from reports.charts import estimate_chart
from reports.prose import Text, prose, together
from reports.wording import Cell, number
from scope.records import Estimate, ProbeFindings, StepScore, Undefined

RAW = "raw"
"""The step that only selects a layer."""

STEP_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        RAW: "no training: the cosine similarity of the best layer on the development pairs",
        "mlp": "a trained linear layer on the cosine similarities of all layers",
        "siamese": "a siamese network: one encoder per layer before the cosine similarity, trained "
        "on the scored pairs from a random initialization",
        "autoencoder": "the same encoders, initialized from autoencoders trained on sentences "
        "without scores",
        "final": "encoders initialized from whitened principal components; the loss is the "
        "variance of the errors, log Var(ŷ − y)",
    }
)

POSITIONS: Mapping[str, str] = MappingProxyType(
    {
        "last": "at the last token",
        "mean": "as the mean of the tokens",
        "prompt": "at the last token of a prompt",
    }
)
"""The readouts in words."""


def of_model(findings: ProbeFindings, model: str) -> tuple[StepScore, ...]:
    """A model's scores in the order of the steps."""
    return tuple(score for score in findings.scores if score.model == model)


def scores_by_model(findings: ProbeFindings) -> Iterator[tuple[str, tuple[StepScore, ...]]]:
    """The scores of each model that has any, in the order of the findings."""
    for name in dict.fromkeys(score.model for score in findings.scores):
        yield name, of_model(findings, name)


def last_scores(findings: ProbeFindings) -> tuple[StepScore, ...]:
    """The score of each model's last step, in the order of the models."""
    found = (of_model(findings, model.name) for model in findings.models)
    return tuple(scores[-1] for scores in found if scores)


def read_apart(findings: ProbeFindings, first: str, second: str) -> bool:
    """Whether two models are read at different positions of a text or with different prompts."""
    read = {model.name: (model.readout, model.prompt) for model in findings.models}
    return first in read and second in read and read[first] != read[second]


def some_read_apart(findings: ProbeFindings) -> bool:
    """Whether some models that are compared are not read in the same way."""
    return any(read_apart(findings, one.first, one.second) for one in findings.differences)


def some_seen(findings: ProbeFindings) -> bool:
    """Whether some test pairs share a sentence with the training pairs; False for a saved probe."""
    return findings.train > 0 and findings.unseen < findings.test


def lowered(scores: Sequence[StepScore]) -> tuple[Estimate, Estimate] | None:
    """The correlations of a model's step ``raw`` and of its last step if that is lower."""
    raw = next((score.pearson for score in scores[:-1] if score.step == RAW), None)
    last = scores[-1].pearson
    if isinstance(raw, Estimate) and isinstance(last, Estimate) and last.value < raw.value:
        return raw, last
    return None


def side_of_chance(difference: Estimate | Undefined | None) -> str | None:
    """The side of 0 of an interval: ``more``, ``less`` or ``unclear``; None without an interval.

    >>> side_of_chance(Estimate(value=0.1, low=0.05, high=0.2, n=90, method="Zou"))
    'more'
    >>> side_of_chance(Estimate(value=0.1, low=-0.05, high=0.2, n=90, method="Zou"))
    'unclear'
    """
    return difference.side if isinstance(difference, Estimate) else None


def most_seeds(scores: Sequence[StepScore]) -> int:
    """The largest number of seeds of a step."""
    return max((len(score.pearsons) for score in scores), default=0)


def spread(values: Sequence[float | None]) -> str:
    """Mean and standard deviation over several seeds; empty for fewer than two seeds.

    Undefined values are counted separately.

    >>> spread([0.75, 0.78, 0.81]), spread([0.75])
    ('3 seeds: 0.780\xa0±\xa00.030', '')
    >>> spread([0.75, None, 0.81])
    '2 of 3 seeds: 0.780\xa0±\xa00.042; 1 undefined'
    >>> spread([0.75, None]), spread([None, None])
    ('1 of 2 seeds: 0.750; 1 undefined', '2 seeds: undefined')
    """
    known = [value for value in values if value is not None]
    if len(values) < 2:
        return ""
    if not known:
        return f"{len(values)} seeds: undefined"
    words = number(statistics.mean(known))
    if len(known) > 1:
        words += f"\xa0±\xa0{number(statistics.stdev(known))}"
    lacking = len(values) - len(known)
    if not lacking:
        return f"{len(values)} seeds: {words}"
    return f"{len(known)} of {len(values)} seeds: {words}; {lacking} undefined"


def ranges(numbers: Sequence[int]) -> str:
    """Ascending whole numbers, consecutive ones as a range.

    >>> ranges([3, 4, 5, 9]), ranges([0, 1]), ranges([])
    ('3–5, 9', '0, 1', '')
    """
    runs: list[list[int]] = []
    for one in numbers:
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    words = (f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
    return ", ".join(words)


MOST_DIFFERENCES = 12
"""The most differences in a terminal."""

MAY_BE_CHANCE = "may be chance"


def step_tables(findings: ProbeFindings) -> tuple[tuple[str, Table], ...]:
    """The table of each model's steps."""
    return tuple(
        (name, _step_table(findings, name, scores)) for name, scores in scores_by_model(findings)
    )


def _step_table(findings: ProbeFindings, name: str, scores: Sequence[StepScore]) -> Table:
    unseen, gains = some_seen(findings), any_gains(findings)
    return Table(
        caption=prose("{name}: correlation with human scores", name=name),
        columns=(
            Column("Step", "name"),
            Column("Trained parameters", "number", spacious=True),
            Column("Pearson", "estimate"),
            *([Column("Unseen", "estimate", spacious=True)] if unseen else []),
            Column("Spearman", "estimate"),
            Column("Mean error", "estimate", spacious=True),
            *([Column("Gain over previous step", "estimate")] if gains else []),
        ),
        rows=tuple(
            Row(
                cells=(
                    code(score.step),
                    score.parameters,
                    replace(Cell.of(score.pearson), remark=spread(score.pearsons)),
                    *([Cell.of(score.unseen)] if unseen else []),
                    replace(Cell.of(score.spearman), remark=spread(score.spearmans)),
                    Cell.of(score.error),
                    *([_against_chance(score.gain)] if gains else []),
                )
            )
            for score in scores
        ),
    )


def any_gains(findings: ProbeFindings) -> bool:
    """Whether a step has a gain over the one before."""
    return any(score.gain is not None for score in findings.scores)


def _against_chance(difference: Estimate | Undefined | None) -> Cell | None:
    """A difference, with a remark if it may be chance."""
    if difference is None:
        return None
    remark = MAY_BE_CHANCE if side_of_chance(difference) == "unclear" else ""
    return replace(Cell.of(difference, signed=True), remark=remark)


def difference_table(findings: ProbeFindings) -> Table | None:
    """Differences between models, those of the last step first; None without any."""
    if not findings.differences:
        return None
    return Table(
        caption=prose("Pearson, first model minus second"),
        columns=(
            Column("Step", "name"),
            Column("First"),
            Column("Second"),
            Column("Difference", "estimate"),
        ),
        rows=tuple(
            Row(cells=(code(one.step), one.first, one.second, _against_chance(one.pearson)))
            for one in reversed(findings.differences)
        ),
        most=MOST_DIFFERENCES,
    )


def steps_section(
    findings: ProbeFindings, tables: Sequence[Table], differences: Table | None
) -> Section | None:
    """The steps of all models; None if no probe is scored."""
    if not findings.scores:
        return None
    return Section(
        anchor="steps",
        title="Steps",
        blocks=(
            Paragraph(_about(findings)),
            *([Paragraph(_about_unseen(findings))] if some_seen(findings) else []),
            *_chart(findings),
            *tables,
            Terms(
                tuple(
                    (code(step), prose(STEP_MEANINGS[step]))
                    for step in dict.fromkeys(score.step for score in findings.scores)
                    if step in STEP_MEANINGS
                ),
                facts=True,
            ),
            *_differences(findings, differences),
        ),
    )


def _about(findings: ProbeFindings) -> Text:
    gains = any_gains(findings)
    return together(
        prose(
            "Each step extends the previous one; the gain is the difference of their Pearson "
            "correlations on the same pairs. If its interval includes 0, it may be chance; the "
            "intervals are not corrected for multiple comparisons."
        )
        if gains
        else (),
        prose(
            "The error is the mean absolute difference from human scores, which range from {low} "
            "to {high}.",
            low=f"{findings.low:g}",
            high=f"{findings.high:g}",
        ),
        _about_seeds(most_seeds(findings.scores), gains=gains),
    )


def _about_seeds(seeds: int, *, gains: bool) -> Text:
    if seeds < 2:
        return ()
    numbers = ", errors and gains" if gains else " and errors"
    remark = f", and so is “{MAY_BE_CHANCE}”" if gains else ""
    return prose(
        f"Random steps are fitted with {{seeds}} seeds: estimates, intervals{numbers} are those of "
        f"the first seed{remark}. Mean and standard deviation over the seeds are below the "
        "correlations; seeds without a correlation are counted as undefined. The interval is the "
        "uncertainty over pairs, the standard deviation that over seeds.",
        seeds=seeds,
    )


def _about_unseen(findings: ProbeFindings) -> Text:
    shared = prose(
        "{shared} of the {test} test pairs share a sentence with the training or development "
        "pairs, which may inflate their correlation.",
        shared=findings.test - findings.unseen,
        test=findings.test,
    )
    if not findings.unseen:
        none = "No pair is unseen, so there is no estimate for new sentences."
        return together(shared, prose(none))
    compare = (
        "; compare the step ``raw``, which only selects a layer"
        if any(score.step == RAW for score in findings.scores)
        else ""
    )
    return together(
        shared,
        prose(
            "__Unseen__ is Pearson’s correlation on the {unseen} "
            f"other{'' if findings.unseen == 1 else 's'}: the estimate for new sentences. These "
            f"pairs may also be harder or easier{compare}.",
            unseen=findings.unseen,
        ),
    )


def _chart(findings: ProbeFindings) -> Iterator[Figure]:
    """The chart of the steps; none for a single value."""
    if len(findings.scores) < 2:
        return
    chart = estimate_chart(
        "Pearson’s correlation with human scores by step; the numbers are in the tables",
        ((score.step, score.model, score.pearson) for score in findings.scores),
        tuple(name for name, _ in scores_by_model(findings)),
        close=True,
    )
    if chart is not None:
        yield Figure(chart, wide=True)


def _differences(findings: ProbeFindings, table: Table | None) -> Iterator[Block]:
    if table is None:
        return
    first_seed = ", for the first seed" if most_seeds(findings.scores) > 1 else ""
    yield heading("Differences between models")
    yield Paragraph(
        together(
            prose(
                "Pearson’s correlation of the first model’s probe minus the second’s, at the same "
                f"step, on the same pairs{first_seed}. If the interval includes 0, the difference "
                "may be chance. The intervals are not corrected for multiple comparisons: about 1 "
                "of 20 excludes 0 by chance."
            ),
            prose(
                "Some of these models are read at different positions of a text or with different "
                "[[asked|prompts]], which may also cause a difference."
            )
            if some_read_apart(findings)
            else (),
        )
    )
    yield table
