"""The drift of language models from the first one: a table, and a line for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from reports.blocks import Section, note
from reports.builders.estimates import table_of
from reports.prose import Text, joined, prose
from reports.wording import Cell
from scope.metrics.catalog import DRIFT_METRICS, metric_name
from scope.records import Estimate, Measurement, Undefined

KEYS = tuple(metric.key for metric in DRIFT_METRICS)

ABOUT = (
    "Drift is measured in each place of the first model's answers behind their questions, of a "
    "cloze in each place of its sentences as they stand; intervals are over texts. Less KL "
    "divergence does not mean a better model (arXiv 2606.19558): read it beside the accuracy."
)


def drift_cell(metric: str, estimate: Estimate | Undefined) -> Cell:
    """A number of drift, in as many digits as count; a maximum has no interval."""
    if metric == "same_top_token":
        return Cell.share(estimate)
    cell = (Cell.small if metric.startswith("kl") else Cell.of)(estimate)
    return replace(cell, interval="") if metric == "kl_max" else cell


def _by_model(rows: Sequence[Measurement]) -> dict[tuple[str, str], dict[str, Cell]]:
    """The numbers by metric, of each model and task."""
    cells: dict[tuple[str, str], dict[str, Cell]] = {}
    for row in rows:
        of_model = cells.setdefault((row.target, row.capability or ""), {})
        of_model[row.metric] = drift_cell(row.metric, row.estimate)
    return cells


def drift_section(rows: Sequence[Measurement]) -> Iterator[Section]:
    """A row for each model and task; nothing without language models that run here."""
    heads = ("model", "task", *(metric_name(key).label for key in KEYS))
    lines = ((*name, *map(cells.get, KEYS)) for name, cells in _by_model(rows).items())
    if table := table_of("", heads, lines):
        yield Section(anchor="drift", title="Drift", blocks=(table, note(ABOUT)))


def drift_lines(rows: Sequence[Measurement]) -> Iterator[tuple[Text, Text]]:
    """The most important numbers of each model and task in a line, with its name."""
    for (model, task), cells in _by_model(rows).items():
        known = ((metric_name(key).label, cells[key]) for key in _SHORT if key in cells)
        numbers = (prose("{label} {cell}", label=label, cell=cell) for label, cell in known)
        name = prose("drift of {model} on {task}", model=model, task=task)
        yield name, joined(numbers, between="; ")


_SHORT = ("kl", "kl_99", "same_top_token", "perplexity_ratio", "byte_perplexity_ratio")
