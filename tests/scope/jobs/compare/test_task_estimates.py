from dataclasses import replace

from scope.jobs.compare.task_estimates import task_estimates
from scope.records import GOLD


def numbers(comparison):
    return {one.task: one for one in task_estimates(comparison)}


def test_a_pair_is_found_whichever_of_the_two_is_the_target(tasks_comparison):
    turned = tuple(
        row if row.against == GOLD else replace(row, target=row.against, against=row.target)
        for row in tasks_comparison.measurements
    )
    before = numbers(tasks_comparison)["choice"].between("agreement")
    after = numbers(replace(tasks_comparison, measurements=turned[::-1]))["choice"]
    assert list(after.between("agreement")) == list(before)
    assert [row.estimate for row in after.between("agreement").values()] == [
        row.estimate for row in before.values()
    ]


def test_a_metric_is_found_by_its_key_or_by_its_spelling(tasks_comparison):
    found = numbers(tasks_comparison)["extractive_qa"]
    by_key = found.between("sem_score_at_least")
    assert by_key == found.between("sem_score_at_least(threshold=0.9)")
    assert len(by_key) == 3
    # A longer key is not taken for the shorter one.
    assert {row.metric for row in found.between("sem_score").values()} == {"sem_score"}


def test_the_main_metric_is_the_first_that_every_pair_has(tasks_comparison):
    found = numbers(tasks_comparison)
    assert found["choice"].main_metric == "capa_discrete"
    two = replace(found["choice"], names=found["choice"].names[:2])
    assert two.main_metric == "capa"
    assert found["extractive_qa"].main_metric == "sem_score"
    bare = tuple(r for r in found["extractive_qa"].rows if not r.metric.startswith("sem_score"))
    assert replace(found["extractive_qa"], rows=bare).main_metric == "word_f1"
