"""The task of a probe: pairs that people scored, and the range of their scores."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from scope.errors import SpecError
from scope.jobs.task_choice import task_names
from scope.pieces import (
    guarded_piece,
    make_piece,
    refuse_unused_settings,
    settings_of,
    with_settings,
)
from scope.protocols import PairTask
from scope.records import Setting
from scope.registry import find


def find_pair_task(
    task: str | object,
    low: float | None = None,
    high: float | None = None,
    settings: Mapping[str, Setting] = MappingProxyType({}),
) -> tuple[PairTask, str]:
    """The task by name or as it stands, with its range, and where it comes from.

    Parameters
    ----------
    low, high
        The least and the greatest score; None leaves the task's own.
    settings
        Of the task, where it is named.

    Raises
    ------
    SpecError
        When a name is unknown, the task is none of pairs, it does not take the range, or the range
        makes no sense.

    Examples
    --------
    >>> task, origin = find_pair_task("similarity", high=1.0)
    >>> task.name, task.low, task.high
    ('similarity', 0.0, 1.0)
    """
    found, origin = _found(task, settings)
    refuse_unused_settings(settings, {found.name: settings_of(found)})
    given = {name: value for name, value in (("low", low), ("high", high)) if value is not None}
    return (_with_range(found, given) if given else found), origin


def _found(task: str | object, settings: Mapping[str, Setting]) -> tuple[PairTask, str]:
    if isinstance(task, str):
        entry = find("tasks", task)
        found, origin = guarded_piece(make_piece(entry, settings)), entry.origin
    else:
        found, origin = guarded_piece(task), type(task).__module__
    if not isinstance(found, PairTask):
        raise SpecError(
            f"the task `{found.name}`, which has no pairs with people's scores for a probe to "
            "follow",
            expected=f"a task of such pairs: {', '.join(task_names(pairs=True))}",
            fix="write --task similarity; a task of questions is for `scope compare`",
        )
    return found, origin


def _with_range(task: Any, given: Mapping[str, float]) -> PairTask:
    if not given.keys() <= settings_of(task):
        raise SpecError(
            f"the range {_spelt(given)} for the task `{task.name}`, which has scores from "
            f"{task.low:g} to {task.high:g} and does not take others",
            expected="a task with the settings low and high, such as similarity",
            fix="leave --low and --high out",
        )
    changed: PairTask = with_settings(task, given)
    return changed


def _spelt(given: Mapping[str, float]) -> str:
    return " ".join(f"--{name} {value:g}" for name, value in given.items())
