"""A folder of pages on several runs: their answers, the models' matrix, and how pairs change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from reports.blocks import Block, Column, Page, Row, Section, Table, note
from reports.builders.estimates import compared_with
from reports.builders.model_card import OF_TWO_MODELS
from reports.charts import grid
from reports.prose import Span, Text, prose
from reports.wording import Cell
from scope.jobs.pages import headline_of, html_of, save
from scope.metrics import in_both, means_by_example
from scope.paths import expanded, without_home
from scope.printing import counted
from scope.records import (
    GOLD,
    DataCard,
    Estimate,
    EstimatedResult,
    Measurement,
    PairResult,
    Result,
    Undefined,
)
from scope.registry import find
from scope.statistics import paired_difference

_METRICS = ("accuracy", "iid_agreement", "agreement", "concordance")
"""What is followed from run to run."""


class _Point(NamedTuple):
    """A number of a run: what it is, of which two models, when, and a link to the report."""

    what: str
    pair: tuple[str, str]
    finished: str
    link: Text
    data: DataCard
    measured: Measurement


def write_site(results: Sequence[Result], folder: Path) -> Path:
    """Write the report of each run and an index of all; the path of the index.

    A run that is given twice is shown once.
    """
    folder = expanded(folder)
    distinct = {one.folder.resolve() if one.folder else id(one): one for one in results}
    results = sorted(distinct.values(), key=lambda one: one.clock.finished if one.clock else "")
    files = [f"{place}-{_name(one)}.html" for place, one in enumerate(results, start=1)]
    for file, result in zip(files, results, strict=True):
        save(folder / file, html_of(result))
    index = folder / "index.html"
    save(index, str(find("parts", "html").target(site_page(results, files))))
    return index


def site_page(results: Sequence[Result], files: Sequence[str]) -> Page:
    """The index of runs, the earliest first, whose reports lie in these files beside it."""
    links = [
        (Span(_name(result), foreign=True, link=f"./{quote(file)}"),)
        for result, file in zip(results, files, strict=True)
    ]
    runs = [
        (
            *(link, headline_of(result), _finished(result), result.manifest.job),
            ", ".join(card.spec for card in result.manifest.data),
        )
        for result, link in zip(results, links, strict=True)
    ]
    columns = ("Answer", "Finished", "Job", "Data")
    last_first = Table.with_columns((Column("Run", "name"), *map(Column, columns)), reversed(runs))
    points = [point for of_run in map(_points, results, links) for point in of_run]
    parts = {
        ("answer", "Runs"): (last_first,),
        ("matrix", "Models"): tuple(_matrices(points)),
        ("history", "Changes"): tuple(_histories(points)),
    }
    return Page(
        title=f"SCoPE: {counted(len(results), 'run')}",
        sections=tuple(
            Section(anchor=anchor, title=title, blocks=blocks)
            for (anchor, title), blocks in parts.items()
            if blocks
        ),
    )


def _name(result: Result) -> str:
    return result.manifest.job if result.folder is None else result.folder.name


def _finished(result: Result) -> str:
    return result.clock.finished[:16].replace("T", " ") if result.clock else ""


def _points(result: Result, link: Text) -> Iterator[_Point]:
    """The numbers on all texts of a run, and of each part of a report on a pair."""
    parts = result.parts if isinstance(result, PairResult) else [result]
    for part in (each for one in parts for each in (getattr(one, "audits", ()) or (one,))):
        if not isinstance(part, EstimatedResult):
            continue
        data = {card.capability: card for card in part.manifest.data}
        references = [model.name for model in part.manifest.models if model.role == "reference"]
        for measured in part.measurements:
            card = data.get(measured.capability) or next(iter(data.values()), None)
            if measured.subset is None and measured.metric in _METRICS and card is not None:
                label = OF_TWO_MODELS.get(measured.metric, "Accuracy")
                on = f" on {measured.capability}" if measured.capability else ""
                against = measured.against or next(iter(references), "")
                yield _Point(
                    what=without_home(f"{label}{on}, {card.spec}"),
                    pair=(measured.target, against),
                    finished=_finished(result),
                    link=link,
                    data=card,
                    measured=measured,
                )


def _matrices(points: Sequence[_Point]) -> Iterator[Block]:
    """A matrix a metric and data, of the last run of each two models; at least three models."""
    groups: dict[tuple[str, str], dict[tuple[str, str], Estimate | Undefined]] = {}
    for point in points:
        if all(point.pair) and GOLD not in point.pair:
            same = (f"{point.what}, the same {point.data.used:,} texts", point.data.fingerprint)
            groups.setdefault(same, {})[point.pair] = point.measured.estimate
    for (title, _), cells in groups.items():
        rows, columns = (sorted({pair[place] for pair in cells}) for place in (0, 1))
        made = grid(title, cells, rows=rows, columns=columns)
        if made and len({*rows, *columns}) > 2:
            yield made


def _histories(points: Sequence[_Point]) -> Iterator[Block]:
    """Every number that two runs or more have, and how it changed from one to the next."""
    rows: list[Row] = []
    for _, group in groupby(sorted(points, key=_number), key=_number):
        runs = list(group)
        if len(runs) > 1:
            rows += map(_row, [None, *runs], runs)
    if rows:
        yield Table(
            columns=(
                Column("Measured", "name"),
                Column("Run"),
                Column("Finished"),
                Column("Value", "estimate"),
                Column("Change since the run above", "estimate"),
            ),
            rows=tuple(rows),
        )
        yield note(
            "A change is the mean paired difference between two runs on the same texts, where runs "
            "keep the values of each. "
            "Bold: its interval excludes 0, without a correction for the number of rows."
        )


def _number(point: _Point) -> tuple[tuple[str, str], str]:
    """What runs have in common: two models, and what is measured."""
    return point.pair, point.what


def _row(before: _Point | None, point: _Point) -> Row:
    change = None if before is None else _change(before, point)
    what = prose("{what}: {model} against ", what=point.what, model=point.pair[0])
    return Row(
        cells=(
            (*what, *compared_with(point.pair[1])) if before is None else None,
            *(point.link, point.finished, Cell.of(point.measured.estimate)),
            None if change is None else Cell.of(change, signed=True),
        ),
        chosen=isinstance(change, Estimate) and change.side != "unclear",
    )


def _change(before: _Point, after: _Point) -> Estimate | Undefined | None:
    """Later minus earlier on the same texts; None where the runs have none in common."""
    first, second = (_by_text(one.measured) for one in (before, after))
    later, earlier, common = in_both(second, first)
    if before.data.fingerprint != after.data.fingerprint or not common:
        return None
    return paired_difference(later, earlier, common)


def _by_text(measurement: Measurement) -> dict[str, float]:
    """The mean of each text's values."""
    means, ids = means_by_example(measurement.values, measurement.example_ids)
    return dict(zip(ids, means.tolist(), strict=True))
