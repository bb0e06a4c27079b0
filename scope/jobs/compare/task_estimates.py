"""A task's measurements, by metric and by the models compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

from reports.wording import short_names_of
from scope.metrics.catalog import MetricName, metric_name
from scope.records import (
    ERROR,
    GOLD,
    CompareResult,
    Estimate,
    FourCells,
    Measurement,
    TaskAnswers,
    Undefined,
)
from scope.statistics.margins import score_estimate

_MAIN = {True: ("capa_discrete", "agreement"), False: ("sem_score", "word_f1")}

SEM_SCORE_BY_PROBE = (
    "similarity in meaning of two answers by {probe}, from 0 to 1 (equal); how well it predicts "
    "human judgement is not measured"
)
"""The meaning of SemScore if a probe of a model's layers replaces the encoder."""


_LEAST_PART = 10
"""A part of fewer questions shows nothing."""


class Part(NamedTuple):
    """A model's accuracy minus another one's on a part of the questions, which have these ids."""

    name: str
    gap: Estimate
    ids: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class TaskEstimates:
    """The measurements of one task; ``choice`` if answers are chosen from options.

    ``degenerate`` maps a model to the reason why its answers are no evidence.
    """

    task: str
    names: tuple[str, ...]
    choice: bool
    rows: tuple[Measurement, ...]
    degenerate: Mapping[str, str]
    cells: tuple[FourCells, ...] = ()
    answers: TaskAnswers | None = None

    @property
    def fit(self) -> tuple[str, ...]:
        """The models that are not degenerate; rankings and findings exclude the others."""
        return tuple(name for name in self.names if name not in self.degenerate)

    def marked(self, name: str) -> str:
        """The model's name, with a remark if it is degenerate."""
        return f"{name} (degenerate)" if name in self.degenerate else name

    def against_gold(self, metric: str) -> dict[str, Measurement]:
        """The metric of each model against the right answers, in the order of the models.

        ``metric`` is a spelling, or a key alone if its parameters do not matter.
        """
        rows = {row.target: row for row in self._whole(metric) if row.against == GOLD}
        return {name: rows[name] for name in self.names if name in rows}

    @property
    def scores(self) -> dict[str, Measurement]:
        """How right each model is: by the option, by the score of an evaluation tool, by words."""
        return self.against_gold("accuracy") or self.against_gold("exact_match")

    @property
    def scored(self) -> bool:
        """Whether answers in words have the scores of an evaluation tool."""
        return not self.choice and bool(self.against_gold("accuracy"))

    @property
    def answered_freely(self) -> bool:
        """Whether answers in words have a score, and no known right words."""
        by_words = self.against_gold("word_f1").values()
        return self.scored and not any(isinstance(row.estimate, Estimate) for row in by_words)

    def between(self, metric: str) -> dict[tuple[str, str], Measurement]:
        """The metric of each pair of models, in the order of the models."""
        rows = {frozenset((row.target, row.against)): row for row in self._whole(metric)}
        pairs = combinations(self.names, 2)
        return {pair: rows[frozenset(pair)] for pair in pairs if frozenset(pair) in rows}

    def ranked(self, metric: str = "") -> list[tuple[tuple[str, str], Estimate]]:
        """Pairs without a degenerate model, the most similar first; equals in the models' order."""
        pairs = [
            (names, row.estimate)
            for names, row in self.between(metric or self.main_metric).items()
            if isinstance(row.estimate, Estimate) and self.degenerate.keys().isdisjoint(names)
        ]
        return sorted(pairs, key=lambda pair: -pair[1].value)

    @cached_property
    def by_accuracy(self) -> list[str]:
        """The most accurate model, then the others by their difference on the same questions.

        Only models that are not degenerate and have an accuracy.
        """
        known = {name: row.estimate for name, row in self.scores.items() if name in self.fit}
        values = {name: of.value for name, of in known.items() if isinstance(of, Estimate)}
        best = max(values, key=lambda name: values[name], default="")
        gaps = {name: gap.value if (gap := self.gap(best, name)) else -1.0 for name in values}
        return sorted(values, key=lambda name: (name != best, -gaps[name]))

    @property
    def why_none(self) -> str:
        """Why no two models can be compared."""
        if len(self.fit) < 2:
            return f"{len(self.degenerate)} of {len(self.names)} are degenerate"
        estimates = (row.estimate for row in self.between(self.main_metric).values())
        reasons = (estimate.reason for estimate in estimates if isinstance(estimate, Undefined))
        return next(reasons, "no pair was measured")

    def same(self, first: str, second: str) -> Estimate | None:
        """The share of equal answers of two models."""
        rows = self.between("agreement" if self.choice else "exact_match")
        row = rows.get((first, second)) or rows.get((second, first))
        known = row is not None and isinstance(row.estimate, Estimate) and not self.answered_freely
        return row.estimate if known else None  # type: ignore[union-attr, return-value]

    def shared(self, first: str, second: str) -> dict[str, tuple[float, float]]:
        """How right two models are on each question that both were asked."""
        before, after = self._right(first), self._right(second)
        return {id_: (before[id_], after[id_]) for id_ in before if id_ in after}

    def gap(self, first: str, second: str) -> Estimate | None:
        """The second model's accuracy minus the first's, on the questions of both."""
        both = self.shared(first, second)
        return score_estimate([b - a for a, b in both.values()], list(both)) if both else None

    def parts(self, first: str, second: str) -> list[Part]:
        """The categories that two models were asked about, the worst first.

        Their intervals hold for all of them together, by Bonferroni's correction.
        """
        both, groups = self.shared(first, second), defaultdict[str, list[str]](list)
        for item in self.answers.items if self.answers else ():
            if item.question.id in both:
                groups[item.category or "no category"].append(item.question.id)
        large = {name: ids for name, ids in groups.items() if len(ids) >= _LEAST_PART}
        made = [
            Part(name, score_estimate(gaps, ids, error=ERROR / len(large)), ids)
            for name, ids in large.items()
            for gaps in [[both[id_][1] - both[id_][0] for id_ in ids]]
        ]
        return sorted(made, key=lambda part: part.gap.value) if len(made) > 1 else []

    def _right(self, model: str) -> dict[str, float]:
        """How right a model is on each question; chosen options are not kept with the numbers."""
        row = self.scores.get(model)
        if row is not None and row.values:
            return dict(zip(row.example_ids, row.values, strict=True))
        answers = self.answers.answers[self.names.index(model)] if self.answers else ()
        both = zip(self.answers.items if self.answers else (), answers, strict=True)
        return {
            item.question.id: float(answer.choice == item.right)
            for item, answer in both
            if answer.asked and item.right is not None
        }

    @property
    def main_metric(self) -> str:
        """The first similarity metric that all such pairs have, or else most have."""
        return max(_MAIN[self.choice], key=lambda metric: len(self.ranked(metric)))

    def _whole(self, metric: str) -> list[Measurement]:
        return [
            row
            for row in self.rows
            if row.subset is None and metric in (row.metric, row.metric.partition("(")[0])
        ]


def task_estimates(result: CompareResult) -> tuple[TaskEstimates, ...]:
    """The measurements task by task."""
    names = tuple(card.name for card in result.manifest.models)
    return tuple(
        TaskEstimates(
            task=answers.task,
            names=names,
            choice=any(item.question.options for item in answers.items),
            rows=tuple(row for row in result.measurements if row.capability == answers.task),
            degenerate={
                share.model: share.degenerate
                for share in result.task_shares
                if share.task == answers.task and share.degenerate is not None
            },
            cells=tuple(cell for cell in result.cells if cell.task == answers.task),
            answers=answers,
        )
        for answers in result.tasks
    )


def explained(result: CompareResult) -> Iterator[MetricName]:
    """The distinct metrics, with the meaning of each in this comparison."""
    probe = result.manifest.settings.get("semscore")
    for name in map(metric_name, dict.fromkeys(row.metric for row in result.measurements)):
        by_probe = probe is not None and name.head == "sem_score"
        yield replace(name, meaning=SEM_SCORE_BY_PROBE.format(probe=probe)) if by_probe else name


def with_short_names(result: CompareResult) -> CompareResult:
    """The result as a page shows it: names without their common beginning."""
    short = short_names_of([card.name for card in result.manifest.models])

    def renamed(record: Any, *fields: str) -> Any:
        names = {field: getattr(record, field) for field in fields}
        parts = {field: name.split(" ~ ") for field, name in names.items() if name}
        return replace(
            record, **{f: " ~ ".join(short.get(n, n) for n in names) for f, names in parts.items()}
        )

    models = tuple(renamed(card, "name") for card in result.manifest.models)
    return replace(
        result,
        manifest=replace(result.manifest, models=models),
        measurements=tuple(renamed(row, "target", "against") for row in result.measurements),
        differences=tuple(renamed(row, "first", "second") for row in result.differences),
        task_shares=tuple(renamed(row, "model") for row in result.task_shares),
        cells=tuple(renamed(row, "first", "second") for row in result.cells),
        verdicts=tuple(renamed(row, "target") for row in result.verdicts),
    )
