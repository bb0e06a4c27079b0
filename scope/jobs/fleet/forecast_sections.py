"""Forecasts on a page: their accuracy, by category too, their calibration, expected accuracies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from reports.blocks import (
    Block,
    Column,
    Figure,
    Row,
    Section,
    Table,
    folded,
    heading,
    note,
    paragraph,
)
from reports.builders.asked import code
from reports.charts import ScatterChart, ScatterDot
from reports.prose import prose
from reports.wording import Cell, percent
from scope.jobs.fleet.score_words import (
    MOST_BRIEF_ROWS,
    OPEN_TALL_ROWS,
    by_category,
    first_rows,
    from_greatest,
    gain_cell,
    overall,
)
from scope.records import Estimate, ExpectedAccuracy, ForecastScore, ReliabilityBin, Undefined

_NUMBERS = (
    Column("Accuracy", "estimate"),
    Column("Gain over the mean", "estimate"),
    Column("Brier score", "estimate"),
)


def forecasts_section(
    scores: Sequence[ForecastScore],
    table: Table | None,
    reliability: Sequence[ReliabilityBin] = (),
) -> Iterator[Section]:
    """The section on forecasts, with the table of the overall scores; none without content."""
    blocks = (
        *(_overall(table) if table else ()),
        *_categories(by_category(scores)),
        *_calibration(reliability),
    )
    if blocks:
        yield Section(anchor="forecasts", title="Forecasts", blocks=blocks)


def scores_table(scores: Iterable[ForecastScore]) -> Table | None:
    """The scores on all questions by forecaster; None if there are none."""
    rows = tuple(
        Row(
            cells=(
                prose("{name} (in use)" if one.chosen else "{name}", name=code(one.forecaster)),
                *_cells(one),
            ),
            chosen=one.chosen,
        )
        for one in overall(scores)
    )
    if not rows:
        return None
    return Table(
        columns=(Column("Forecaster", "name"), *_NUMBERS),
        rows=rows,
        caption=prose("Forecasts of answers to unseen questions"),
        most=MOST_BRIEF_ROWS,
    )


def _cells(score: ForecastScore) -> tuple[Cell, Cell | None, Cell]:
    return Cell.share(score.accuracy), gain_cell(score.gain), Cell.of(score.brier)


def _overall(table: Table) -> Iterator[Block]:
    yield paragraph(
        "The accuracy is the share of answers whose correctness is predicted, on questions that "
        "the forecaster was not fitted on. The gain is the paired difference from predicting each "
        "model’s mean. The Brier score is the mean squared error of the probabilities: lower is "
        "better."
    )
    yield table


def _categories(scores: Sequence[ForecastScore]) -> Iterator[Block]:
    if not scores:
        return
    yield heading("By category")
    table = Table(
        columns=(Column("Category", "name"), Column("Forecaster"), *_NUMBERS),
        rows=tuple(Row(cells=(one.category, code(one.forecaster), *_cells(one))) for one in scores),
    )
    yield from folded(prose("The numbers"), (table,), when=len(scores) > OPEN_TALL_ROWS)


def _calibration(bins: Sequence[ReliabilityBin]) -> Iterator[Block]:
    if not bins:
        return
    yield heading("Calibration of the probabilities")
    yield paragraph(
        "The share of correct answers among forecasts with about the same probability. Below the "
        "dashed line the forecaster is overconfident, above it underconfident."
    )
    curve = calibration_curve(bins)
    if curve is not None:
        yield Figure(curve)
    yield Table(
        columns=(
            Column("Predicted probability", "name"),
            Column("Mean prediction", "number"),
            Column("Correct", "estimate"),
        ),
        rows=tuple(
            Row(
                cells=(
                    prose(f"{one.low:.2f} to {one.high:.2f}"),
                    prose(f"{percent(one.predicted)}\u00a0%"),
                    Cell.share(one.observed),
                )
            )
            for one in bins
        ),
    )


def calibration_curve(bins: Iterable[ReliabilityBin]) -> ScatterChart | None:
    """The calibration curve; a perfectly calibrated forecaster follows the diagonal."""
    dots = tuple(
        ScatterDot(
            title=_dot_title(one, Cell.share(one.observed)),
            x=one.predicted,
            y=one.observed.value,
            interval=(one.observed.low, one.observed.high),
        )
        for one in bins
        if isinstance(one.observed, Estimate)
    )
    if not dots:
        return None
    return ScatterChart(
        label="Share of correct answers by predicted probability; the numbers are in the table",
        x_title="predicted probability of a correct answer",
        y_title="share of correct answers",
        dots=dots,
        diagonal=True,
        joined=True,
    )


def _dot_title(one: ReliabilityBin, observed: Cell) -> str:
    return (
        f"predicted {percent(one.predicted)} %: {observed.value} correct, {observed.interval}, "
        f"n = {observed.n:,}"
    )


def expected_table(expected: Sequence[ExpectedAccuracy]) -> Table | None:
    """The models by expected accuracy, the highest first; None if there are none."""
    if not expected:
        return None
    ordered = sorted(expected, key=lambda one: from_greatest(one.accuracy))
    titles = ("Expected", "Observed", "Observed − expected")
    shown = titles if expected[0].observed is not None else titles[:1]
    return Table(
        columns=(Column("Model", "name"), *(Column(title, "estimate") for title in shown)),
        rows=tuple(Row(cells=(one.model, *_accuracies(one)[: len(shown)])) for one in ordered),
        caption=prose("Expected accuracy on the unseen questions"),
        tall=True,
        ends=True,
    )


def _accuracies(one: ExpectedAccuracy) -> tuple[Cell | None, ...]:
    observed = None if one.observed is None else Cell.share(one.observed)
    return Cell.share(one.accuracy), observed, gain_cell(one.shift)


def expected_section(
    table: Table, shift: Estimate | Undefined | None = None, *, most: int
) -> Section:
    """The expected accuracies of at most so many models, and the mean shift of all."""
    overall = Table(
        columns=(Column("Models", "name"), Column("Observed − expected", "estimate")),
        rows=(Row(cells=(prose("mean of all"), gain_cell(shift))),),
    )
    shown = first_rows(table, most)
    cut = [
        note(
            "The table lists the first {shown} of {total} models; all are in ``result.json``.",
            shown=len(shown.rows),
            total=len(table.rows),
        )
    ]
    return Section(
        anchor="expected",
        title="Expected accuracy",
        blocks=(
            paragraph(
                "The expected accuracy of each model is the mean of its predicted probabilities on "
                "the questions that the fleet was not fitted on. The interval is over questions; "
                "it does not include errors of the probabilities themselves. Where answers are "
                "known, observed minus expected is paired on the same questions."
            ),
            *(cut if shown is not table else ()),
            shown,
            *(() if shift is None else (overall,)),
        ),
    )
