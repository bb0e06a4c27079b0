"""The tasks of a comparison with their data, checked before any model is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from scope import plugins
from scope.data.fields import CLUSTER
from scope.errors import SpecError
from scope.metrics import Metric, parse_metric
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
        return plugins.piece_card(self.task, self.origin)


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
    chosen: list[tuple[Task, str]] = []
    for requested in tasks:
        task, origin = find_task(requested, settings)
        if _is_of_pairs(task):
            raise SpecError(
                f"the task `{task.name}`, whose scored pairs are for probes",
                expected=f"a task that asks questions: {', '.join(task_names(pairs=False))}",
                fix=f"write scope probe --task {task.name}",
            )
        chosen.append((task, origin))
    names = [task.name for task, _ in chosen]
    plugins.require_distinct("tasks", names, "--task cloze --task extractive_qa")
    plugins.refuse_unused_settings(
        settings, {task.name: plugins.settings_of(task) for task, _ in chosen}
    )
    specs = _data_by_task(names, data)
    clustered = {} if cluster is None else {CLUSTER: cluster}
    tasks_with_data = []
    for task, origin in chosen:
        known = CLUSTER in signature(task.load).parameters and len(chosen) == 1
        if clustered and not known:
            raise SpecError(
                f"--cluster {cluster} for the tasks {', '.join(names)}",
                expected="one task whose `load` takes `cluster`: choice, extractive_qa, generation",
                fix="leave --cluster out, or compare one of these tasks by itself",
            )
        data_of = task.load(specs[task.name], n=n, seed=seed, **clustered)
        data_of = replace(data_of, card=replace(data_of.card, capability=task.name))
        scorers = _scorers(task)
        tasks_with_data.append(ChosenTask(task=task, origin=origin, data=data_of, scorers=scorers))
    return tuple(tasks_with_data)


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


def find_task(task: str | object, settings: Mapping[str, Setting]) -> tuple[Any, str]:
    """A task of any kind, by its name or as it is, and where it comes from."""
    if isinstance(task, str):
        entry = find("tasks", task)
        return plugins.guarded_piece(plugins.make_piece(entry, settings)), entry.origin
    return plugins.guarded_piece(task), type(task).__module__


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
