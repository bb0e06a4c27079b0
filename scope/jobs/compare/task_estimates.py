"""A task's measurements, by metric and by the models compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from statistics import NormalDist
from typing import Any, NamedTuple

from reports.wording import short_names_of
from scope.metrics.catalog import MetricName, metric_name
from scope.records import ERROR, GOLD, CompareResult, Estimate, FourCells, Measurement, TaskAnswers
from scope.statistics.intervals import score_estimate
from scope.verdicts.plan import MOST_TEXTS

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

    def same(self, first: str, second: str) -> Estimate | None:
        """The share of equal answers of two models."""
        rows = self._whole("agreement" if self.choice else "exact_match")
        pair = (row.estimate for row in rows if {row.target, row.against} == {first, second})
        share = next(pair, None)
        return share if isinstance(share, Estimate) and not self.answered_freely else None

    def shared(self, first: str, second: str) -> dict[str, tuple[float, float]]:
        """How right two models are on each question that both were asked."""
        before, after = self._right(first), self._right(second)
        return {id_: (before[id_], after[id_]) for id_ in before if id_ in after}

    def gap(self, first: str, second: str, *, error: float = ERROR) -> Estimate | None:
        """The second model's accuracy minus the first's, on the questions of both."""
        both = self.shared(first, second)
        gaps = [after - before for before, after in both.values()]
        return score_estimate(gaps, list(both), error=error) if both else None

    def parts(self, first: str, second: str) -> list[Part]:
        """The categories that two models were asked about, the worst first.

        Their intervals hold for all of them together, by Bonferroni's correction.
        """
        both, groups = self.shared(first, second), defaultdict[str, list[str]](list)
        for item in self.answers.items if self.answers else ():
            if item.question.id in both:
                groups[item.category or "no category"].append(item.question.id)
        large = {name: ids for name, ids in groups.items() if len(ids) >= _LEAST_PART}
        error, parts = ERROR / max(len(large), 1), []
        for name, ids in large.items():
            gaps = [both[id_][1] - both[id_][0] for id_ in ids]
            parts.append(Part(name, score_estimate(gaps, ids, error=error), ids))
        return sorted(parts, key=lambda part: part.gap.value) if parts[1:] else []

    def _right(self, model: str) -> dict[str, float]:
        """How right a model is on each question; chosen options are not kept with the numbers."""
        row = self.scores.get(model)
        if row is not None and row.values:
            return dict(zip(row.example_ids, row.values, strict=True))
        if self.answers is None:
            return {}
        both = zip(self.answers.items, self.answers.answers[self.names.index(model)], strict=True)
        known = ((item, answer) for item, answer in both if answer.asked and item.right is not None)
        return {item.question.id: float(answer.choice == item.right) for item, answer in known}

    def _whole(self, metric: str) -> list[Measurement]:
        rows = (row for row in self.rows if row.subset is None)
        return [row for row in rows if metric in (row.metric, row.metric.partition("(")[0])]


def questions_needed(gap: Estimate) -> int:
    """How many questions show in 4 runs of 5 which model is better, if they differ as much.

    >>> questions_needed(Estimate(value=0.1, low=0.0, high=0.2, n=100, method="normal"))
    205
    """
    deviation = (gap.high - gap.low) / 2 / NormalDist().inv_cdf((1 + gap.level) / 2)
    z = sum(map(NormalDist().inv_cdf, (1 - ERROR, 0.8)))
    wanted = gap.n * (z * deviation / max(abs(gap.value), 1e-9)) ** 2
    return ceil(min(max(wanted, 100), MOST_TEXTS))


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
    """The distinct metrics, with the meaning of SemScore if a probe replaces the encoder."""
    probe = result.manifest.settings.get("semscore")
    meaning = f"similarity in meaning of two answers by {probe}, from 0 to 1 (equal)"
    for name in map(metric_name, dict.fromkeys(row.metric for row in result.measurements)):
        yield replace(name, meaning=meaning) if probe and name.head == "sem_score" else name


def with_short_names(result: CompareResult) -> CompareResult:
    """The result as a page shows it: names without their common beginning."""
    short = short_names_of([card.name for card in result.manifest.models])

    def names(text: str) -> str:
        return " ~ ".join(short.get(name, name) for name in text.split(" ~ "))

    def renamed(records: Any, *fields: str) -> Any:
        known = ((row, [key for key in fields if getattr(row, key)]) for row in records)
        return tuple(replace(r, **{key: names(getattr(r, key)) for key in k}) for r, k in known)

    return replace(
        result,
        manifest=replace(result.manifest, models=renamed(result.manifest.models, "name")),
        measurements=renamed(result.measurements, "target", "against"),
        differences=renamed(result.differences, "first", "second"),
        task_shares=renamed(result.task_shares, "model"),
        cells=renamed(result.cells, "first", "second"),
        verdicts=renamed(result.verdicts, "target"),
        drift=renamed(result.drift, "target", "against"),
    )
