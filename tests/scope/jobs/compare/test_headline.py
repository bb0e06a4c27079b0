from dataclasses import replace

from made_up_tasks_comparison import estimate

from reports.blocks import Terms
from reports.prose import plain
from scope.jobs.compare.headline import answer_section
from scope.records import GOLD, Undefined


def finding(comparison, task):
    """The sentences on a task."""
    findings, *_ = answer_section(comparison, ()).blocks
    (line,) = (words for one in findings.items if (words := plain(one)).startswith(f"On {task},"))
    return line.replace("\N{NO-BREAK SPACE}", " ")


def test_equally_alike_pairs_count_in_the_order_of_the_models(tasks_comparison):
    equal = tuple(
        replace(row, estimate=estimate(0.5, 4)) if row.metric == "capa_discrete" else row
        for row in tasks_comparison.measurements
    )
    small, large, other = (card.name for card in tasks_comparison.manifest.models)
    line = finding(replace(tasks_comparison, measurements=equal), "choice")
    assert f"the most similar are {small} and {large} with Discrete CAPA 0.500" in line
    assert f"the least similar are {large} and {other} with 0.500" in line
    assert line.count("(the intervals of 2 other pairs overlap with it)") == 2


def test_beside_the_most_similar_pair_stands_the_median_of_the_others(tasks_comparison):
    values = iter((0.5, 0.25, 0.125))
    rows = tuple(
        replace(row, estimate=estimate(next(values), 4)) if row.metric == "capa_discrete" else row
        for row in tasks_comparison.measurements
    )
    line = finding(replace(tasks_comparison, measurements=rows), "choice")
    assert " (median of the 2 other pairs 0.188)" in line
    assert line.count("median") == 1


def test_without_a_defined_pair_the_first_reason_is_given(tasks_comparison):
    undefined = tuple(
        row if row.against == GOLD else replace(row, estimate=Undefined(reason="no item in common"))
        for row in tasks_comparison.measurements
    )
    line = finding(replace(tasks_comparison, measurements=undefined), "choice")
    assert line.startswith(
        "On choice, the similarity of the models is undefined: no item in common. Against gold"
    )
    assert line.count("(n = 4)") == 3


def test_without_sem_score_word_f1_says_how_alike_texts_are(tasks_comparison):
    rows = tuple(r for r in tasks_comparison.measurements if not r.metric.startswith("sem_score"))
    line = finding(replace(tasks_comparison, measurements=rows), "extractive_qa")
    assert "with Word F1 0.350 [0.225, 0.475]" in line
    assert "Against gold (Word F1): " in line


def test_two_models_with_gold_of_three_are_no_ends(tasks_comparison):
    small = tasks_comparison.manifest.models[0].name
    rows = tuple(
        row
        for row in tasks_comparison.measurements
        if not (row.target == small and row.against == GOLD)
    )
    line = finding(replace(tasks_comparison, measurements=rows), "choice")
    assert "Against gold (Accuracy): " in line
    assert "from the lowest" not in line


def test_each_metric_of_the_answer_is_explained_once(tasks_comparison):
    *_, terms = answer_section(tasks_comparison, ()).blocks
    assert isinstance(terms, Terms)
    labels = [plain(label) for label, _ in terms.pairs]
    assert labels == ["SemScore", "Word F1", "Discrete CAPA", "Accuracy"]
