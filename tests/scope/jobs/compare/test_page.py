from dataclasses import replace

from made_up_tasks_comparison import CHOICE, MODELS, estimate

from reports.prose import plain, together
from scope.jobs.compare.page import remarks, sentences
from scope.jobs.compare.task_estimates import task_estimates
from scope.records import GOLD, TaskShares, Undefined


def said(comparison, task):
    """The sentences on a task."""
    (found,) = (one for one in task_estimates(comparison) if one.task == task)
    return plain(together(*sentences(found))).replace("\N{NO-BREAK SPACE}", " ")


def with_degenerate(comparison, *models):
    shares = tuple(
        TaskShares(
            task=CHOICE,
            model=model,
            counts={"A": 4},
            asked=4,
            accuracy=estimate(0.25, 4),
            degenerate="one answer",
        )
        for model in models
    )
    return replace(comparison, task_shares=shares)


def test_without_a_defined_pair_the_first_reason_is_given(tasks_comparison):
    undefined = tuple(
        row if row.against == GOLD else replace(row, estimate=Undefined(reason="no item in common"))
        for row in tasks_comparison.measurements
    )
    line = said(replace(tasks_comparison, measurements=undefined), CHOICE)
    assert line == "On choice no two models can be compared: no item in common."


def test_a_degenerate_model_is_out_of_the_pairs_and_two_others_are_compared(tasks_comparison):
    small, large, other = MODELS
    found = with_degenerate(tasks_comparison, other)
    line = said(found, CHOICE)
    assert line.startswith(
        f"On choice, {small} and {large} give the same answer to 75 % [62, 88] of 4 questions."
    )
    assert "Discrete CAPA is 0.25 [0.12, 0.38]: agreement beyond what the accuracies" in line
    (remark,) = map(plain, remarks(found, CHOICE))
    assert remark.endswith(f"out of pairs, rankings and examples: {other} (one answer).")
    line = said(with_degenerate(tasks_comparison, large, other), CHOICE)
    assert line == "On choice no two models can be compared: 2 of 3 are degenerate."
