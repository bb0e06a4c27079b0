from dataclasses import replace

from scope.jobs.compare.task_estimates import task_estimates


def test_the_main_metric_is_the_first_that_every_pair_has(tasks_comparison):
    numbers = {task.task: task for task in task_estimates(tasks_comparison)}
    assert numbers["choice"].main_metric == "capa_discrete"
    texts = numbers["extractive_qa"]
    assert texts.main_metric == "sem_score"
    bare = tuple(row for row in texts.rows if not row.metric.startswith("sem_score"))
    assert replace(texts, rows=bare).main_metric == "word_f1"
