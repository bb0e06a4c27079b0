"""A task's measurements, found by metric and by what they compare."""

from __future__ import annotations

from dataclasses import dataclass

from scope.records import GOLD, CompareResult, Estimate, Measurement, TaskAnswers

_MAIN = {True: ("capa", "capa_discrete", "agreement"), False: ("sem_score", "word_f1")}


@dataclass(frozen=True, kw_only=True)
class TaskEstimates:
    """What was measured in one task; ``choice`` says that answers are chosen from options."""

    task: str
    names: tuple[str, ...]
    choice: bool
    rows: tuple[Measurement, ...]

    def against_gold(self, metric: str) -> dict[str, Measurement]:
        """The metric of each model against the right answers, in the order of the models.

        ``metric`` is a spelling, or a key alone where its parameters do not matter.
        """
        found = {row.target: row for row in self._whole(metric) if row.against == GOLD}
        return {name: found[name] for name in self.names if name in found}

    def between(self, metric: str) -> dict[tuple[str, str], Measurement]:
        """The metric of each pair of models, in the order of the models."""
        place = {name: index for index, name in enumerate(self.names)}
        found = {
            (
                min(place[row.target], place[row.against]),
                max(place[row.target], place[row.against]),
            ): row
            for row in self._whole(metric)
            if row.against in place
        }
        return {
            (self.names[first], self.names[second]): found[first, second]
            for first, second in sorted(found)
        }

    @property
    def main_metric(self) -> str:
        """The first of the metrics of likeness that all pairs have, or else most pairs have."""
        candidates = _MAIN[self.choice]
        return max(
            candidates, key=lambda metric: (self._defined(metric), -candidates.index(metric))
        )

    def _defined(self, metric: str) -> int:
        return sum(isinstance(row.estimate, Estimate) for row in self.between(metric).values())

    def _whole(self, metric: str) -> list[Measurement]:
        return [
            row
            for row in self.rows
            if row.subset is None and metric in (row.metric, row.metric.partition("(")[0])
        ]


def is_choice(answers: TaskAnswers) -> bool:
    """Whether the task's answers are chosen from options."""
    return any(item.question.options for item in answers.items)


def task_numbers(comparison: CompareResult) -> tuple[TaskEstimates, ...]:
    """The measurements task by task."""
    names = tuple(card.name for card in comparison.manifest.models)
    return tuple(
        TaskEstimates(
            task=answers.task,
            names=names,
            choice=is_choice(answers),
            rows=tuple(row for row in comparison.measurements if row.capability == answers.task),
        )
        for answers in comparison.tasks
    )
