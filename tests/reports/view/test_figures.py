from dataclasses import replace

from made_up_tasks_comparison import estimate

from reports.view.figures import figures
from scope.records import Undefined


def with_measurements(comparison, *rows):
    return replace(comparison, measurements=rows)


def exact_matches(comparison):
    return [row for row in comparison.measurements if row.metric == "exact_match"]


def test_figures_stand_in_the_papers_order_with_the_static_cosine_where_there_is_one(
    tasks_comparison,
):
    cosines = [replace(row, metric="word_cosine") for row in exact_matches(tasks_comparison)]
    found = figures(with_measurements(tasks_comparison, *cosines, *tasks_comparison.measurements))
    assert [figure.title for figure in found[0].figures] == [
        "Exact matches",
        "Average static cosine",
        "Average SemScore",
        "Answers with word F1 of 0",
        "Answers with SemScore ≥ 0.9",
    ]
    assert [figure.counted for figure in found[0].figures] == [True, False, False, True, True]


def test_the_histogram_is_that_of_a_probe_where_one_measures(tasks_comparison):
    manifest = replace(tasks_comparison.manifest, settings={"semscore": "a probe of hf:mine"})
    assert figures(tasks_comparison)[0].histogram.title == "SemScores below 0.9"
    found = figures(replace(tasks_comparison, manifest=manifest))
    assert found[0].histogram.title == "SemScores"


def test_a_count_is_the_share_of_all_that_were_compared(tasks_comparison):
    row = replace(exact_matches(tasks_comparison)[0], estimate=estimate(2510 / 5800, 5800))
    ((figure,),) = (one.figures for one in figures(with_measurements(tasks_comparison, row)))
    assert (figure.rows[0].count, figure.rows[0].cell.n) == ("2,510", 5800)


def test_an_undefined_number_has_a_reason_and_no_count_and_is_not_drawn(tasks_comparison):
    first, second, *_ = exact_matches(tasks_comparison)
    gone = replace(second, estimate=Undefined(reason="nothing in common"))
    ((figure,),) = (
        one.figures for one in figures(with_measurements(tasks_comparison, first, gone))
    )
    assert (figure.rows[1].count, figure.rows[1].cell.reason) == ("", "nothing in common")
    assert [dot.category for dot in figure.chart.intervals] == ["small"]


def test_tasks_with_options_have_no_such_figures(tasks_comparison):
    only_choice = replace(tasks_comparison, tasks=tasks_comparison.tasks[1:])
    assert figures(only_choice) == ()
