from dataclasses import replace

from made_up_tasks_comparison import estimate

from reports.view.compare_headline import compare_headline
from scope.records import GOLD, Undefined


def of_choice(comparison):
    return compare_headline(comparison).findings[1]


def test_equally_alike_pairs_count_in_the_order_of_the_models(tasks_comparison):
    equal = tuple(
        replace(row, estimate=estimate(0.5, 4)) if row.metric == "capa_discrete" else row
        for row in tasks_comparison.measurements
    )
    most, least = of_choice(replace(tasks_comparison, measurements=equal)).alike
    names = [card.name for card in tasks_comparison.manifest.models]
    assert (most.first, most.second) == (names[0], names[1])
    assert (least.first, least.second) == (names[1], names[2])


def test_without_a_defined_pair_the_first_reason_is_given(tasks_comparison):
    undefined = tuple(
        row if row.against == GOLD else replace(row, estimate=Undefined(reason="no item in common"))
        for row in tasks_comparison.measurements
    )
    found = of_choice(replace(tasks_comparison, measurements=undefined))
    assert (found.alike, found.reason) == ((), "no item in common")
    assert len(found.gold) == 3


def test_without_sem_score_word_f1_says_how_alike_texts_are(tasks_comparison):
    rows = tuple(r for r in tasks_comparison.measurements if not r.metric.startswith("sem_score"))
    found = compare_headline(replace(tasks_comparison, measurements=rows)).findings[0]
    assert (found.metric, found.gold_metric) == ("Word F1", "Word F1")
    assert found.alike[0].cell.value == "0.350"


def test_each_metric_of_the_answer_is_explained_once(tasks_comparison):
    labels = [metric.label for metric in compare_headline(tasks_comparison).metrics]
    assert labels == ["SemScore", "Word F1", "Discrete CAPA", "Accuracy"]
