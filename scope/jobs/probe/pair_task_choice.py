"""The task of a probe: pairs with human scores, and the range of the scores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from scope.errors import SpecError
from scope.jobs.task_choice import find_task, task_names
from scope.pieces import piece_card, refuse_unused_settings, settings_of, with_settings
from scope.protocols import PairTask
from scope.records import CapabilityCard, Setting


@dataclass(frozen=True, kw_only=True)
class ChosenPairTask:
    """A task of pairs, and its origin."""

    task: PairTask
    origin: str

    @classmethod
    def of(
        cls,
        task: str | object,
        low: float | None = None,
        high: float | None = None,
        settings: Mapping[str, Setting] = MappingProxyType({}),
    ) -> ChosenPairTask:
        """The task by name or as an object, with its range if given.

        Parameters
        ----------
        low, high
            The lowest and the highest score; None: as in the task.
        settings
            Of the task, where it is named.

        Raises
        ------
        SpecError
            If the name is unknown, the task is not one of pairs, it does not accept the range, or
            the range is invalid.

        Examples
        --------
        >>> ChosenPairTask.of("similarity", high=1.0).ends
        (0.0, 1.0)
        """
        found, origin = find_task(task, settings)
        if not isinstance(found, PairTask):
            raise SpecError(
                f"the task `{found.name}`, which has no pairs with human scores",
                expected=f"a task of scored pairs: {', '.join(task_names(pairs=True))}",
                fix="use --task similarity; a task of questions is for `scope compare`",
            )
        refuse_unused_settings(settings, {found.name: settings_of(found)})
        given = {name: end for name, end in (("low", low), ("high", high)) if end is not None}
        return cls(task=_with_range(found, given) if given else found, origin=origin)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest score."""
        return self.task.low, self.task.high

    def card(self) -> CapabilityCard:
        """The task in the manifest."""
        return piece_card(self.task, self.origin)


def _with_range(task: Any, given: Mapping[str, float]) -> PairTask:
    if not given.keys() <= settings_of(task):
        spelled = " ".join(f"--{name} {value:g}" for name, value in given.items())
        raise SpecError(
            f"the range {spelled} for the task `{task.name}`, whose scores are from "
            f"{task.low:g} to {task.high:g}",
            expected="a task with the settings low and high, such as similarity",
            fix="omit --low and --high",
        )
    changed: PairTask = with_settings(task, given)
    return changed
