"""A comparison's measurements in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scope.printing import printable
from scope.records import GOLD, AnswerShares, Estimate, Measurement, TaskShares, marked
from scope.tables.task_answers import answers_to, remarks

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

ALL_TEXTS = "(originals)"

LEADING = (
    "accuracy",
    "capa",
    "capa_discrete",
    "sem_score",
    "word_f1",
    "agreement",
    "error_consistency",
    "exact_match",
)
"""The metrics shown where there is room for few, in this order; the first orders the pairs."""

MOST_COLUMNS = 3
MOST_ROWS = 40
PAIRS_AT_EITHER_END = 5


def measured(comparison: Any) -> RenderableType:
    """The main estimates, each with its n and, below, its interval; fits into 80 columns."""
    from rich.console import Group
    from rich.text import Text

    main = [one for one in comparison.measurements if one.subset is None]
    if not comparison.tasks:
        shares = comparison.answer_shares
        return Group(
            *(_degenerate(one) for one in shares if one.degenerate is not None),
            _against_reference(comparison, main),
            *([_of_answers(shares)] if shares else []),
        )
    tables: list[RenderableType] = [*remarks(comparison.task_shares)]
    for task in (one.task for one in comparison.tasks):
        rows = [one for one in main if one.capability == task]
        of_gold, of_pairs = (
            [one for one in rows if (one.against == GOLD) == against_gold]
            for against_gold in (True, False)
        )
        tables += answers_to(task, comparison.task_shares)
        shares_here = [one for one in comparison.task_shares if one.task == task]
        tables.append(_of_equals(f"{task}: against gold", of_gold, shares_here))
        tables.append(_of_equals(f"{task}: between models", of_pairs, shares_here))
    if probe := comparison.manifest.settings.get("semscore"):
        tables.append(Text(printable(f"sem_score: by {probe}")))
    return Group(*tables)


def _against_reference(comparison: Any, main: Sequence[Measurement]) -> Table:
    """One row per metric, one column per target."""
    manifest = comparison.manifest
    shown = _titled(f"{manifest.job}: against {manifest.reference.name}", "capability", "metric")
    for card in manifest.targets:
        _add_column(shown, marked(card.name, comparison.answer_shares))
    for capability, metric in dict.fromkeys((one.capability, one.metric) for one in main):
        cells = [_cell(one) for one in main if (one.capability, one.metric) == (capability, metric)]
        _add_row(shown, capability or ALL_TEXTS, metric, *cells)
    return shown


def _degenerate(shares: AnswerShares) -> RenderableType:
    """The remark on a degenerate model."""
    from rich.text import Text

    remark = f"degenerate: {shares.model}: {shares.degenerate}; its numbers are no evidence"
    return Text(printable(remark), style="bold red")


def _of_answers(shares: Sequence[AnswerShares]) -> RenderableType:
    """One row per model: how many originals it answers correctly, and with which answers."""
    shown = _titled("answers to the originals", "model")
    for heading in ("accuracy", "answers"):
        shown.add_column(heading, overflow="fold")
    for one in shares:
        accuracy = one.accuracy
        right = f"{accuracy}  n={accuracy.n}" if isinstance(accuracy, Estimate) else str(accuracy)
        _add_row(shown, one.model, right, one.in_words())
    return shown


def _of_equals(title: str, measured: Sequence[Measurement], shares: Sequence[TaskShares]) -> Table:
    """A few models or pairs as columns, or many as rows with the leading metrics alone.

    A metric that is undefined throughout has a note in the place of its cells.
    """
    from rich.text import Text

    pairings = {_pairing(one): _heading(one, shares) for one in measured}
    defined = [one for one in measured if isinstance(one.estimate, Estimate)]
    metrics = list(dict.fromkeys(one.metric for one in defined))
    cells = {(_pairing(one), one.metric): _cell(one) for one in measured}
    undefined = {one.metric: str(one.estimate) for one in reversed(measured)}
    notes = [f"{metric}: {undefined[metric]}" for metric in undefined if metric not in metrics]
    if len(pairings) <= MOST_COLUMNS:
        shown = _titled(title, "metric")
        for heading in pairings.values():
            _add_column(shown, heading)
        for metric in metrics:
            _add_row(shown, metric, *(cells.get((pairing, metric), "") for pairing in pairings))
    else:
        shown = _titled(title, "models")
        leading = [metric for metric in LEADING if metric in metrics][:MOST_COLUMNS]
        for metric in leading:
            _add_column(shown, metric)
        ends = _ends(list(pairings), defined, leading)
        for pairing in ends:
            _add_row(
                shown, pairings[pairing], *(cells.get((pairing, metric), "") for metric in leading)
            )
        if left_out := len(pairings) - len(ends):
            notes.append(f"{left_out} between these are in the report and in --json")
        if len(metrics) > len(leading):
            others = ", ".join(metric for metric in metrics if metric not in leading)
            notes.append(f"also measured: {others}")
    shown.caption = Text(printable("\n".join(notes))) if notes else None
    return shown


def _pairing(measured: Measurement) -> str:
    """The model, and the other one where it is not compared with gold."""
    if measured.against in (None, GOLD):
        return measured.target
    return f"{measured.target} ~ {measured.against}"


def _heading(measured: Measurement, shares: Sequence[TaskShares]) -> str:
    """The same with a remark after each degenerate model."""
    if measured.against in (None, GOLD):
        return marked(measured.target, shares)
    return f"{marked(measured.target, shares)} ~ {marked(str(measured.against), shares)}"


def _ends(
    pairings: Sequence[str], defined: Sequence[Measurement], leading: Sequence[str]
) -> Sequence[str]:
    """All pairs in their order; of very many, those at either end of the leading metric."""
    if len(pairings) <= MOST_ROWS:
        return pairings
    values = {
        _pairing(one): one.estimate.value
        for one in defined
        if one.metric == leading[0] and isinstance(one.estimate, Estimate)
    }
    ordered = sorted(values, key=lambda pairing: -values[pairing])
    return ordered[:PAIRS_AT_EITHER_END] + ordered[-PAIRS_AT_EITHER_END:]


def _titled(title: str, *headings: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(printable(title)), title_justify="left", caption_justify="left")
    for heading in headings:
        width = len("soft_scope(tolerance=0.1,") if heading == "metric" else None
        shown.add_column(heading, overflow="fold", min_width=width)
    return shown


def _add_column(shown: Table, name: str) -> None:
    from rich.text import Text

    shown.add_column(Text(printable(name)), overflow="fold", min_width=len("[0.000, 0.000]"))


def _add_row(shown: Table, *cells: str) -> None:
    from rich.text import Text

    shown.add_row(*(Text(printable(cell)) for cell in cells))


def _cell(measurement: Measurement) -> str:
    estimate = measurement.estimate
    if not isinstance(estimate, Estimate):
        return str(estimate)
    return f"{estimate.value:.3f}  n={estimate.n}\n[{estimate.low:.3f}, {estimate.high:.3f}]"
