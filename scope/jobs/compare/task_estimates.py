"""A task's measurements, found by metric and by what they compare."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from statistics import median

from scope.metrics import MetricName, metric_name
from scope.records import (
    GOLD,
    CompareResult,
    Estimate,
    Manifest,
    Measurement,
    TaskAnswers,
    Undefined,
)

_MAIN = {True: ("capa", "capa_discrete", "agreement"), False: ("sem_score", "word_f1")}

GIVEN_ACCURACY = ("capa", "capa_discrete", "error_consistency")
"""The metrics whose 0 assumes questions of one difficulty: other pairs show what is ordinary."""

SEM_SCORE_BY_PROBE = (
    "similarity in meaning of two answers by {probe}, from 0 to 1 (equal "
    "answers); how well the probe predicts human judgement is not measured here"
)
"""What SemScore means where a probe of a model's layers takes the place of an encoder."""


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


def median_of_others(one: Estimate, every: Iterable[Estimate | Undefined]) -> float | None:
    """The median value of all other pairs of models; None where fewer than two have one.

    >>> three = [
    ...     Estimate(value=value, low=0, high=1, n=9, method="Wilson")
    ...     for value in (0.5, 0.25, 0.125)
    ... ]
    >>> median_of_others(three[0], three)
    0.1875
    """
    others = [other.value for other in every if isinstance(other, Estimate) and other is not one]
    return median(others) if len(others) > 1 else None


def is_choice(answers: TaskAnswers) -> bool:
    """Whether the task's answers are chosen from options."""
    return any(item.question.options for item in answers.items)


def task_estimates(result: CompareResult) -> tuple[TaskEstimates, ...]:
    """The measurements task by task."""
    names = tuple(card.name for card in result.manifest.models)
    return tuple(
        TaskEstimates(
            task=answers.task,
            names=names,
            choice=is_choice(answers),
            rows=tuple(row for row in result.measurements if row.capability == answers.task),
        )
        for answers in result.tasks
    )


def probe_of(manifest: Manifest) -> str | None:
    """The probe of SemScore; None where a sentence encoder measures it."""
    probe = manifest.settings.get("semscore")
    return None if probe is None else str(probe)


def explained(spellings: Iterable[str], manifest: Manifest) -> tuple[MetricName, ...]:
    """Different metrics taken apart, with what each means in this comparison."""
    names = map(metric_name, dict.fromkeys(spellings))
    probe = probe_of(manifest)
    if probe is None:
        return tuple(names)
    meaning = SEM_SCORE_BY_PROBE.format(probe=probe)
    return tuple(
        replace(name, meaning=meaning) if name.head == "sem_score" else name for name in names
    )
