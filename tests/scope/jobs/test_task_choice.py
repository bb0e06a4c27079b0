"""Which tasks are asked, on which data."""

import pytest
from toy_pairs import Rated

from capabilities.tasks import Similarity
from scope.errors import SpecError
from scope.jobs.answering_models import choose_tasks


@pytest.mark.parametrize(
    ("tasks", "data", "complaint", "fix"),
    [
        ([], "a", "the tasks []", "--task cloze"),
        (["choice", "choice"], "a", "the tasks ['choice', 'choice']", "--task cloze"),
        (["choice", "cloze"], "a", "one data spec, `a`", "--data choice=a --data cloze=…"),
        (["choice", "cloze"], {"choice": "a"}, "data for choice", "--data choice=…"),
    ],
)
def test_tasks_and_data_that_do_not_fit_are_refused(tasks, data, complaint, fix):
    with pytest.raises(SpecError) as caught:
        choose_tasks(tasks, data, {}, n=3, seed=5)
    assert complaint in caught.value.found
    assert fix in caught.value.fix


@pytest.mark.parametrize("task", ["similarity", Similarity(), Rated()])
def test_pairs_for_a_probe_are_not_asked_in_a_comparison(task):
    with pytest.raises(SpecError) as caught:
        choose_tasks([task, "choice"], {"choice": "a"}, {}, n=3, seed=5)
    name = task if isinstance(task, str) else task.name
    assert caught.value.found.startswith(f"the task `{name}`, whose scored pairs are for probes")
    assert caught.value.fix == f"write scope probe --task {name}"
