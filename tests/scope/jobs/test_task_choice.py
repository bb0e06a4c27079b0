"""Which tasks are asked, with which settings, on which data."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from toy_pairs import Rated

from capabilities.similarity import Similarity
from scope.errors import SpecError
from scope.jobs.task_choice import choose_tasks
from scope.protocols import TaskData
from scope.records import DataCard, Item, Question


@dataclass(frozen=True, kw_only=True)
class Echo:
    """A task whose one question is its data."""

    name: str = "echo"
    question: str = "What comes back?"
    role: str = "answerer"

    def settings(self):
        return {}

    def load(self, data, *, n, seed):
        item = Item(question=Question(id="0", text=data))
        return TaskData(items=(item,), card=DataCard(spec=data, fingerprint="f", rows=n, used=seed))


OTHER = Echo(name="other")


def choose(tasks, data):
    return choose_tasks(tasks, data, {}, n=3, seed=5)


def test_several_tasks_have_data_each_in_the_order_of_the_tasks():
    chosen = choose([Echo(), OTHER], {"other": "b", "echo": "a"})
    assert [(one.task.name, one.data.card.spec) for one in chosen] == [
        ("echo", "a"),
        ("other", "b"),
    ]


@pytest.mark.parametrize(
    ("tasks", "data", "complaint", "fix"),
    [
        ([], "a", "the tasks []", "--task cloze"),
        ([Echo(), Echo()], "a", "the tasks ['echo', 'echo']", "--task cloze"),
        ([Echo(), OTHER], "a", "one data spec, `a`", "--data echo=a --data other=…"),
        ([Echo(), OTHER], {"echo": "a"}, "data for echo", "--data echo=…"),
    ],
)
def test_tasks_and_data_that_do_not_fit_are_refused(tasks, data, complaint, fix):
    with pytest.raises(SpecError) as caught:
        choose(tasks, data)
    assert complaint in caught.value.found
    assert fix in caught.value.fix


@pytest.mark.parametrize("task", ["similarity", Similarity(), Rated()])
def test_pairs_for_a_probe_are_not_asked_in_a_comparison(task):
    with pytest.raises(SpecError) as caught:
        choose([task, OTHER], {"other": "a"})
    name = task if isinstance(task, str) else task.name
    assert caught.value.found.startswith(f"the task `{name}`, whose scored pairs are for probes")
    assert caught.value.fix == f"write scope probe --task {name}"
