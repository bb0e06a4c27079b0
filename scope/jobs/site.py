"""A folder of pages on several runs: their answers, the models' matrix, and how pairs change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from pathlib import Path
from statistics import fmean
from typing import NamedTuple
from urllib.parse import quote

from reports.blocks import Block, Column, Page, Row, Section, Table, note
from reports.builders.estimates import compared_with
from reports.builders.model_card import OF_TWO_MODELS
from reports.charts import grid
from reports.prose import Span, Text, prose
from reports.wording import Cell
from scope.jobs.pages import headline_of, html_of, save
from scope.paths import expanded, without_home
from scope.records import (
    GOLD,
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
    """A number of a run: of which models and texts, and a link to its report."""

    pair: tuple[str, str]
    what: tuple[str, str, str]
    finished: str
    link: Text
    texts: str
    used: int
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
    links = [_link(_name(one), file) for one, file in zip(results, files, strict=True)]
    points = [
        point
        for result, link in zip(results, links, strict=True)
        for point in _points(result, link)
    ]
    matrices, pairs = tuple(_matrices(points)), tuple(_histories(points))
    if matrices:
        matrices = (note("A matrix has the runs on the same number of the same texts."), *matrices)
    return Page(
        title=f"SCoPE: {len(results)} run{'s' * (len(results) != 1)}",
        sections=(
            Section(anchor="answer", title="Runs", blocks=(_runs(results, links),)),
            *([Section(anchor="matrix", title="Models", blocks=matrices)] if matrices else []),
            *([Section(anchor="history", title="Changes", blocks=pairs)] if pairs else []),
        ),
    )


def _name(result: Result) -> str:
    return result.manifest.job if result.folder is None else result.folder.name


def _link(words: str, file: str) -> Text:
    return (Span(words, foreign=True, link=f"./{quote(file)}"),)


def _runs(results: Sequence[Result], links: Sequence[Text]) -> Table:
    """A row a run, the last one first."""
    rows = [
        Row(
            cells=(
                link,
                headline_of(result),
                _date(result.clock.finished if result.clock else ""),
                result.manifest.job,
                ", ".join(card.spec for card in result.manifest.data),
            )
        )
        for result, link in zip(results, links, strict=True)
    ]
    columns = ("Answer", "Finished", "Job", "Data")
    return Table(columns=(Column("Run", "name"), *map(Column, columns)), rows=tuple(reversed(rows)))


def _date(finished: str) -> str:
    return finished[:16].replace("T", " ")


def _points(result: Result, link: Text) -> Iterator[_Point]:
    """The numbers on all texts of a run, and of each part of a report on a pair."""
    parts = result.parts if isinstance(result, PairResult) else [result]
    for part in (each for one in parts for each in (getattr(one, "audits", ()) or (one,))):
        if not isinstance(part, EstimatedResult):
            continue
        data = {card.capability: card for card in part.manifest.data}
        references = [model.name for model in part.manifest.models if model.role == "reference"]
        for measurement in part.measurements:
            card = data.get(measurement.capability) or next(iter(data.values()), None)
            if measurement.subset is None and measurement.metric in _METRICS and card is not None:
                against = measurement.against or next(iter(references), "")
                label = OF_TWO_MODELS.get(measurement.metric, "Accuracy")
                yield _Point(
                    pair=(measurement.target, against),
                    what=(card.spec, measurement.capability or "", label),
                    finished=result.clock.finished if result.clock else "",
                    link=link,
                    texts=card.fingerprint,
                    used=card.used,
                    measured=measurement,
                )


def _matrices(points: Sequence[_Point]) -> Iterator[Block]:
    """A matrix a metric and data, of the last run of each two models; at least three models."""
    groups: dict[tuple[object, ...], dict[tuple[str, str], _Point]] = {}
    for point in points:
        if all(point.pair) and GOLD not in point.pair:
            groups.setdefault((point.what, point.texts, point.used), {})[point.pair] = point
    for cells in groups.values():
        rows, columns = (sorted({pair[place] for pair in cells}) for place in (0, 1))
        point = next(iter(cells.values()))
        title = f"{_title(point.what)}, {point.used:,} texts"
        values = {pair: one.measured.estimate for pair, one in cells.items()}
        made = grid(title, values, rows=rows, columns=columns)
        if made and len({*rows, *columns}) > 2:
            yield made


def _title(what: tuple[str, str, str]) -> str:
    spec, capability, label = what
    return without_home(f"{label} on {capability}, {spec}" if capability else f"{label}, {spec}")


def _histories(points: Sequence[_Point]) -> Iterator[Block]:
    """Every number that two runs or more have, and how it changed from one to the next."""
    rows: list[Row] = []
    ordered = sorted(points, key=lambda point: (point.pair, point.what, point.finished))
    for _, group in groupby(ordered, key=lambda one: (one.pair, one.what)):
        first, *others = group
        if others:
            rows += (_row(before, one) for before, one in pairwise((None, first, *others)) if one)
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


def _row(before: _Point | None, point: _Point) -> Row:
    change = None if before is None else _change(before, point)
    model, other = point.pair
    what = prose("{what}: {model} against ", what=_title(point.what), model=model)
    return Row(
        cells=(
            (*what, *compared_with(other)) if before is None else None,
            point.link,
            _date(point.finished),
            Cell.of(point.measured.estimate),
            None if change is None else Cell.of(change, signed=True),
        ),
        chosen=isinstance(change, Estimate) and change.side != "unclear",
    )


def _change(before: _Point, after: _Point) -> Estimate | Undefined | None:
    """Later minus earlier on the same texts; None where the runs have none in common."""
    first, second = (_by_text(one.measured) for one in (before, after))
    common = [text for text in second if text in first]
    if before.texts != after.texts or not common:
        return None
    later, earlier = ([of[text] for text in common] for of in (second, first))
    return paired_difference(later, earlier, common)


def _by_text(measurement: Measurement) -> dict[str, float]:
    """The mean of each text's values."""
    values: dict[str, list[float]] = {}
    for text, value in zip(measurement.example_ids, measurement.values, strict=True):
        values.setdefault(text, []).append(value)
    return {text: fmean(found) for text, found in values.items()}
