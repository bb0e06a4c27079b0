"""The tasks of a comparison with their data, checked before any model is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from scope.data.fields import CLUSTER
from scope.errors import SpecError
from scope.metrics import Metric, parse_metric
from scope.plugins import (
    guarded_piece,
    make_piece,
    piece_card,
    refuse_unused_settings,
    require_distinct,
    settings_of,
)
from scope.printing import shown
from scope.protocols import Task, TaskData
from scope.records import CapabilityCard, Question, Setting
from scope.registry import entries, find


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenTask:
    """A task, where it comes from, the items made for it, and its own scorers."""

    task: Task
    origin: str
    data: TaskData
    scorers: tuple[Metric, ...] = ()

    @property
    def questions(self) -> tuple[Question, ...]:
        """The questions of the items, in their order."""
        return tuple(item.question for item in self.data.items)

    def card(self) -> CapabilityCard:
        """Its entry in the manifest."""
        return piece_card(self.task, self.origin)


def choose_tasks(
    tasks: Sequence[str | object],
    data: str | Mapping[str, str],
    settings: Mapping[str, Setting],
    *,
    n: int | None,
    seed: int,
    cluster: str | None = None,
) -> tuple[ChosenTask, ...]:
    """The tasks by name or as they stand, each with its settings and its items.

    Raises
    ------
    SpecError
        When a name is unknown or occurs twice, a task has no data or data no task, or no task has
        one of the settings.
    DataError
        When data cannot be read or contain no questions.
    """
    chosen = [_found(task, settings) for task in tasks]
    names = [task.name for task, _ in chosen]
    require_distinct("tasks", names, "--task cloze --task extractive_qa")
    refuse_unused_settings(settings, {task.name: settings_of(task) for task, _ in chosen})
    specs = _data_by_task(names, data)
    return tuple(
        ChosenTask(
            task=task,
            origin=origin,
            data=_load(task, specs[task.name], n, seed, cluster),
            scorers=_scorers(task),
        )
        for task, origin in chosen
    )


def _scorers(task: Task) -> tuple[Metric, ...]:
    """The scorers that a task names in addition to the metrics of all tasks.

    Raises
    ------
    SpecError
        When one is unknown, or compares no texts.
    """
    named = getattr(task, "scorers", ())
    if not isinstance(named, tuple | list) or not all(isinstance(name, str) for name in named):
        raise SpecError(
            f"`{task.name}` with the scorers {shown(named)}",
            expected="a tuple of names of metrics",
            fix="write for example scorers = ('same_initial',)",
        )
    metrics = tuple(map(parse_metric, named))
    for metric in metrics:
        if metric.on_texts is None:
            raise SpecError(
                f"the metric `{metric}` as a scorer of `{task.name}`",
                expected="a metric with `on_texts`, a function of two lists of texts",
                fix="change `scorers` in the code of the task",
            )
    return metrics


def task_names(*, pairs: bool) -> list[str]:
    """The names of the tasks of pairs, or of those whose questions models answer.

    Examples
    --------
    >>> "similarity" in task_names(pairs=True), "similarity" in task_names(pairs=False)
    (True, False)
    """
    working = (entry for entry in entries("tasks") if entry.error is None)
    return [entry.name for entry in working if _is_of_pairs(entry.target) == pairs]


def _found(task: str | object, settings: Mapping[str, Setting]) -> tuple[Task, str]:
    chosen, origin = find_task(task, settings)
    if _is_of_pairs(chosen):
        raise SpecError(
            f"the task `{chosen.name}`, whose scored pairs are for probes",
            expected=f"a task that asks questions: {', '.join(task_names(pairs=False))}",
            fix=f"write scope probe --task {chosen.name}",
        )
    return chosen, origin


def find_task(task: str | object, settings: Mapping[str, Setting]) -> tuple[Any, str]:
    """A task of any kind, by its name or as it is, and where it comes from."""
    if isinstance(task, str):
        entry = find("tasks", task)
        return guarded_piece(make_piece(entry, settings)), entry.origin
    return guarded_piece(task), type(task).__module__


def _is_of_pairs(task: Any) -> bool:
    return getattr(task, "role", None) == "latent_reader"


def _data_by_task(names: Sequence[str], data: str | Mapping[str, str]) -> Mapping[str, str]:
    if isinstance(data, str):
        if len(names) > 1:
            raise SpecError(
                f"one data spec, `{data}`, for the tasks {', '.join(names)}",
                expected="data for each task",
                fix=f"write for example --data {names[0]}={data} --data {names[1]}=…",
            )
        return {names[0]: data}
    if set(data) != set(names):
        raise SpecError(
            f"data for {', '.join(sorted(data)) or 'no task'}",
            expected=f"data for each of the tasks: {', '.join(names)}",
            fix=f"write for example --data {names[0]}=…",
        )
    return data


def _load(task: Task, spec: str, n: int | None, seed: int, cluster: str | None) -> TaskData:
    if cluster is not None and CLUSTER not in signature(task.load).parameters:
        raise SpecError(
            f"--cluster {cluster} for the task `{task.name}`, which reads no column of clusters",
            expected="choice, extractive_qa, generation, or a task whose `load` takes `cluster`",
            fix="leave --cluster out, or compare this task in a run of its own",
        )
    clustered = {} if cluster is None else {CLUSTER: cluster}
    loaded = task.load(spec, n=n, seed=seed, **clustered)
    return replace(loaded, card=replace(loaded.card, capability=task.name))
