"""Results for other readers: a model card, a badge, test cases, Every Eval Ever's schema, a site.

A site is a folder of pages on several runs: their answers, the models' matrix, and how pairs
change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import quote

from reports.blocks import Block, Page, Section, note
from reports.builders.estimates import compared_with, table_of
from reports.builders.every_eval_ever import every_eval_ever
from reports.builders.model_card import OF_TWO_MODELS, model_card, public
from reports.charts import grid
from reports.prose import Span, Text, Written, prose
from reports.renderers.ci import badge, junit
from reports.renderers.markdown import blocks_as_markdown
from reports.wording import Cell
from scope.errors import SpecError
from scope.jobs.compare.page import in_short
from scope.jobs.pages import headline_of, html_of, page_of, save
from scope.metrics import in_both
from scope.paths import expanded, without_home
from scope.printing import counted
from scope.records import (
    GOLD,
    CompareResult,
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


def model_card_of(result: Result) -> str:
    """A table and a model index for a model card, as Markdown."""
    return without_home(blocks_as_markdown(model_card(result)))


def badge_of(result: Result) -> str:
    """The verdict, or how many there are of each kind, and the data, as an SVG badge."""
    lines, cards = result.verdict_lines(), result.manifest.data
    decisions = Counter(line.decision for line in lines)
    answer = ", ".join(f"{count} {decision}" for decision, count in decisions.items())
    if len(lines) == 1:
        answer = f"{lines[0].subject}: {lines[0].decision}"
    # Of a file its name: a badge is public.
    specs = [card.spec if ":" in card.spec else Path(card.spec).name for card in cards]
    data = f"{specs[0]}, n = {cards[0].used:,}" if cards else ""
    more = f" and {len(cards) - 1} more" if cards[1:] else ""
    bad = {"may not", "related"} & set(decisions)
    good = set(decisions) in ({"may replace"}, {"not related"})
    audits = (result, *getattr(result, "audits", ()))
    if lines and any(getattr(audit, "earlier_looks", ()) for audit in audits):
        answer, good = f"{answer}, exploratory", False
    kind: Literal["good", "bad", "open"] = "bad" if bad else "good" if good else "open"
    sign = {"good": "✓ ", "bad": "✗ ", "open": "? " if lines else ""}[kind]
    setting = f"SCoPE {result.manifest.job} · {data}{more}"
    answer = answer or "; ".join(map(in_short, _comparisons(result))) or headline_of(result)
    return without_home(badge(public(setting), f"{sign}{public(answer)}", kind))


def _comparisons(result: Result) -> Sequence[CompareResult]:
    return (result,) if isinstance(result, CompareResult) else getattr(result, "comparisons", ())


def to_junit(result: Result, judged: Mapping[str, Sequence[str]], path: Path) -> Path:
    """Write verdicts and gates as test cases; ``judged`` are the failures of each gate."""
    return save(path, junit(result, page_of(result).title, judged))


def to_eee(result: Result, path: Path) -> Path:
    """Write how a model compares with the first of two in Every Eval Ever's schema."""
    comparisons = _comparisons(result)
    count = len(comparisons[0].manifest.models) if comparisons else 0
    require_eee(result.manifest.job, count)
    return save(path, every_eval_ever(result, comparisons, comparisons[0].manifest.models[1]))


def require_eee(job: str, models: int) -> None:
    """Refuse --eee unless two models are compared; ``models`` is 0 without a comparison."""
    if models != 2:
        raise SpecError(
            f"--eee with {models} models" if models else f"--eee with a result of the job {job}",
            expected="a comparison of the answers of two models to questions",
            fix="use a run of `scope compare` or `scope pair` on two models, or omit --eee",
        )


_METRICS = ("accuracy", "iid_agreement", "agreement", "concordance")
"""The metrics that are compared from run to run."""


class _Point(NamedTuple):
    """A number of a run: of which two models, what it is, the run with its date, and the texts."""

    pair: tuple[str, str]
    what: str
    run: tuple[Text, str]
    data: DataCard
    measured: Measurement


def write_site(results: Sequence[Result], folder: Path) -> Path:
    """Write the report of each run and an index of all; the path of the index.

    A run that is given twice is shown once.
    """
    folder = expanded(folder)
    distinct = {run.folder.resolve() if run.folder else id(run): run for run in results}
    results = sorted(distinct.values(), key=lambda run: run.clock.finished if run.clock else "")
    files = [f"{place}-{_name(run)}.html" for place, run in enumerate(results, start=1)]
    for file, result in zip(files, results, strict=True):
        save(folder / file, html_of(result))
    index = folder / "index.html"
    save(index, str(find("parts", "html").target(site_page(results, files))))
    return index


def site_page(results: Sequence[Result], files: Sequence[str]) -> Page:
    """The index of runs, the earliest first, whose reports lie in these files beside it."""
    runs = [
        ((Span(_name(result), foreign=True, link=f"./{quote(file)}"),), _finished(result))
        for result, file in zip(results, files, strict=True)
    ]
    last_first = reversed(list(map(_cells_of_run, results, runs)))
    table = table_of("", ("Run", "Answer", "Finished", "Job", "Data"), last_first)
    points = [point for of_run in map(_points, results, runs) for point in of_run]
    sections = (
        Section(anchor="answer", title="Runs", blocks=(table,) if table else ()),
        Section(anchor="matrix", title="Models", blocks=tuple(_matrices(points))),
        Section(anchor="history", title="Changes", blocks=tuple(_histories(points))),
    )
    return Page(
        title=f"SCoPE: {counted(len(results), 'run')}",
        sections=tuple(section for section in sections if section.blocks),
    )


def _name(result: Result) -> str:
    return result.manifest.job if result.folder is None else result.folder.name


def _finished(result: Result) -> str:
    return result.clock.finished[:16].replace("T", " ") if result.clock else ""


def _cells_of_run(result: Result, run: tuple[Text, str]) -> tuple[Written, ...]:
    link, finished = run
    data = ", ".join(card.spec for card in result.manifest.data)
    return link, headline_of(result), finished, result.manifest.job, data


def _points(result: Result, run: tuple[Text, str]) -> Iterator[_Point]:
    """The numbers on all texts of a run, and of each part of a report on a pair."""
    parts = result.parts if isinstance(result, PairResult) else [result]
    for part in (each for whole in parts for each in (getattr(whole, "audits", ()) or (whole,))):
        if not isinstance(part, EstimatedResult):
            continue
        data = {card.capability: card for card in part.manifest.data}
        references = [model.name for model in part.manifest.models if model.role == "reference"]
        for measured in part.measurements:
            card = data.get(measured.capability) or next(iter(data.values()), None)
            if measured.subset is None and measured.metric in _METRICS and card is not None:
                label = OF_TWO_MODELS.get(measured.metric, "Accuracy")
                on = f" on {measured.capability}" if measured.capability else ""
                pair = (measured.target, measured.against or next(iter(references), ""))
                what = without_home(f"{label}{on}, {card.spec}")
                yield _Point(pair, what, run, card, measured)


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
    number = attrgetter("pair", "what")
    rows: list[tuple[Written | None, ...]] = []
    for _, of_number in groupby(sorted(points, key=number), key=number):
        runs = list(of_number)
        if len(runs) > 1:
            rows += map(_cells_of_number, [None, *runs], runs)
    heads = ("Measured", "Run", "Finished", "Value", "Change since the run above")
    if table := table_of("", heads, rows):
        yield table
        yield note(
            "A change is the mean paired difference between two runs on the same texts, where runs "
            "keep the values of each. Its interval is not corrected for the number of rows."
        )


def _cells_of_number(before: _Point | None, point: _Point) -> tuple[Written | None, ...]:
    """The number of a run with its change; the first run of several says what is measured."""
    value = Cell.of(point.measured.estimate)
    if before is None:
        what = prose("{what}: {model} against ", what=point.what, model=point.pair[0])
        return (*what, *compared_with(point.pair[1])), *point.run, value, None
    change = _change(before, point)
    return None, *point.run, value, None if change is None else Cell.of(change, signed=True)


def _change(before: _Point, after: _Point) -> Estimate | Undefined | None:
    """Later minus earlier on the same texts; None if the runs share no texts."""
    later, earlier, common = in_both(after.measured.by_text(), before.measured.by_text())
    if before.data.fingerprint != after.data.fingerprint or not common:
        return None
    return paired_difference(later, earlier, common)
