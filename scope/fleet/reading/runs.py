"""Who answered what correctly in finished runs of ``scope compare``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError, RunError
from scope.fleet.reading.answers import GivenAnswer, cells_of
from scope.fleet.reading.cells import UNKNOWN, Cells
from scope.fleet.reading.values import whole_text
from scope.metrics import best_against_gold, exact_match_values
from scope.records import Answer, CompareResult, Item, TaskAnswers
from scope.store import RunFolder


def is_run(path: Path) -> bool:
    """Whether the folder is that of a run, finished or not."""
    files = RunFolder(path)
    return files.manifest_path.is_file() or files.comparison_path.is_file()


def read_runs(paths: Sequence[Path], *, answers: bool) -> Cells:
    """Read runs, joined by the ids of their questions and the names of their models.

    An answer counts as right where the right option was chosen, or where a text has the same words
    as one of the right answers, as in the metrics ``accuracy`` and ``exact_match``. What was asked
    and not answered is wrong; what was not asked is unknown; a question without a known right
    answer is left out where ``answers`` are wanted. Where there is more than one task or data set,
    ids begin with its name.

    Raises
    ------
    RunError
        When a run is not finished, or damaged.
    DataError
        When a run compares no answers, or one id stands for two questions.
    """
    asked = [one for path in paths for one in _of_run(path)]
    _require_same_models(asked)
    names = _names(asked)
    found: list[GivenAnswer] = []
    without = 0
    for one in asked:
        name = names[one.task, one.data]
        for place, item in enumerate(one.answers.items):
            if answers and not _has_gold(item):
                without += 1
                continue
            question = item.question
            found.extend(
                GivenAnswer(
                    model=model,
                    id=question.id if len(names) == 1 else f"{name}/{question.id}",
                    text=whole_text(question.text, question.context, question.options),
                    category=item.category or name,
                    correct=_correct(row[place], item, normalize=one.normalize),
                )
                for (model, _), row in zip(one.models, one.answers.answers, strict=True)
            )
    return cells_of(found, without_gold=without)


class _Asked(NamedTuple):
    """The answers to one task of one run; models by name and spec."""

    models: tuple[tuple[str, str], ...]
    task: str
    data: str
    answers: TaskAnswers
    normalize: bool


def _of_run(path: Path) -> Iterator[_Asked]:
    comparison = RunFolder(path).read_comparison()
    if comparison is None:
        raise RunError(
            f"the run `{path}` is not finished",
            expected="a finished run, with its comparison.json",
            fix="give the run's command again, which goes on where it was",
        )
    if not isinstance(comparison, CompareResult):
        raise DataError(
            f"the run `{path}` is one of `scope {comparison.manifest.job}` and holds no answers to "
            "questions",
            expected="a run of `scope compare`",
            fix="name another run, or a table with the columns model, item and correct",
        )
    for one in comparison.tasks:
        yield _Asked(
            models=tuple((card.name, card.spec) for card in comparison.manifest.models),
            task=one.task,
            data=_data(comparison, one.task),
            answers=one,
            normalize=bool(comparison.manifest.settings.get("normalize", False)),
        )


def _require_same_models(asked: Sequence[_Asked]) -> None:
    """Check that a name means one model in all runs; saved answers have a file for each task."""
    specs: dict[str, str] = {}
    for name, spec in (model for one in asked for model in one.models):
        if not spec.startswith("predictions:") and specs.setdefault(name, spec) != spec:
            raise DataError(
                f"two models called `{name}` in the runs: `{specs[name]}` and `{spec}`",
                expected="runs in which a name means one model",
                fix="give the runs' commands again with specs that are alike, or name fewer runs",
            )


def _data(comparison: CompareResult, task: str) -> str:
    """The spec of the data that the task's questions are made of."""
    return next((card.spec for card in comparison.manifest.data if card.capability == task), "")


def _names(asked: Sequence[_Asked]) -> dict[tuple[str, str], str]:
    """What to call each task on each data: the task if that is enough, else the data's file."""
    keys = sorted({(one.task, one.data) for one in asked})
    for name in (lambda key: key[0], lambda key: Path(key[1]).name.split(".")[0], "/".join):
        names = {key: name(key) for key in keys}
        if len(set(names.values())) == len(keys):
            break
    return names


def _has_gold(item: Item) -> bool:
    return item.right is not None if item.question.options else bool(item.gold)


def _correct(answer: Answer, item: Item, *, normalize: bool) -> int:
    if not answer.asked or not _has_gold(item):
        return UNKNOWN
    if item.question.options:
        return int(answer.choice == item.right)
    if answer.text is None:
        return 0

    def same(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        return exact_match_values(first, second, normalize=normalize)

    return int(best_against_gold(same, [answer.text], [item.gold])[0])
