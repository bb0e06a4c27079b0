from dataclasses import replace

from made_up_tasks_comparison import estimate

from reports.blocks import Figure, Heading, Table, within
from reports.prose import plain
from scope.jobs.compare.figures import figure_section
from scope.records import Undefined


def with_measurements(comparison, *rows):
    return replace(comparison, measurements=rows)


def exact_matches(comparison):
    return [row for row in comparison.measurements if row.metric == "exact_match"]


def of_kind(comparison, kind):
    section = figure_section(comparison)
    return [block for block in within(section.blocks) if isinstance(block, kind)]


def titles(comparison):
    return [plain(one.text) for one in of_kind(comparison, Heading) if one.level == 4]


def test_figures_are_in_the_papers_order_with_the_static_cosine_where_there_is_one(
    tasks_comparison,
):
    cosines = [replace(row, metric="word_cosine") for row in exact_matches(tasks_comparison)]
    found = with_measurements(tasks_comparison, *cosines, *tasks_comparison.measurements)
    assert titles(found)[:5] == [
        "Exact matches",
        "Average static cosine",
        "Average SemScore",
        "Answers with word F1 of 0",
        "Answers with SemScore ≥ 0.9",
    ]
    heads = [[column.heading for column in one.columns] for one in of_kind(found, Table)]
    assert heads[:2] == [["Model", "Against", "Answers", "Share"], ["Model", "Against", "Mean"]]


def test_the_histogram_is_that_of_a_probe_where_one_measures(tasks_comparison):
    manifest = replace(tasks_comparison.manifest, settings={"semscore": "a probe of hf:mine"})
    assert titles(tasks_comparison)[-1] == "SemScores below 0.9"
    assert titles(replace(tasks_comparison, manifest=manifest))[-1] == "SemScores"


def test_a_count_is_the_share_of_all_that_were_compared(tasks_comparison):
    row = replace(exact_matches(tasks_comparison)[0], estimate=estimate(2510 / 5800, 5800))
    (table,) = of_kind(with_measurements(tasks_comparison, row), Table)
    _, _, count, share = table.rows[0].cells
    assert (count, share.n) == (2510, 5800)


def test_an_undefined_number_has_a_reason_and_no_count_and_is_not_drawn(tasks_comparison):
    first, second, *_ = exact_matches(tasks_comparison)
    gone = replace(second, estimate=Undefined(reason="nothing in common"))
    found = with_measurements(tasks_comparison, first, gone)
    (table,), (figure,) = of_kind(found, Table), of_kind(found, Figure)
    _, _, count, share = table.rows[1].cells
    assert (count, share.reason) == (None, "nothing in common")
    assert [dot.category for dot in figure.chart.intervals] == ["small"]


def test_tasks_with_options_have_no_such_figures(tasks_comparison):
    only_choice = replace(tasks_comparison, tasks=tasks_comparison.tasks[1:])
    assert figure_section(only_choice) is None
