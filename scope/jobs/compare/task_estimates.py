"""A task's measurements, by metric and by the models compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from scope.metrics import MetricName, metric_name
from scope.records import GOLD, CompareResult, Estimate, FourCells, Measurement

_MAIN = {True: ("capa_discrete", "agreement"), False: ("sem_score", "word_f1")}

SEM_SCORE_BY_PROBE = (
    "similarity in meaning of two answers by {probe}, from 0 to 1 (equal "
    "answers); how well the probe predicts human judgement is not measured here"
)
"""The meaning of SemScore if a probe of a model's layers replaces the encoder."""


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
        )
        for answers in result.tasks
    )


def explained(result: CompareResult) -> Iterator[MetricName]:
    """The distinct metrics, with the meaning of each in this comparison."""
    probe = result.manifest.settings.get("semscore")
    for name in map(metric_name, dict.fromkeys(row.metric for row in result.measurements)):
        by_probe = probe is not None and name.head == "sem_score"
        yield replace(name, meaning=SEM_SCORE_BY_PROBE.format(probe=probe)) if by_probe else name
