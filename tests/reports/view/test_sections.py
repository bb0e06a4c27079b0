"""The sections as records, on the comparison that the page's tests share."""

from dataclasses import replace

import pytest
from reports.view.curves import curves
from reports.view.examples import examples
from reports.view.headline import headline
from reports.view.outcomes import failure_section

from reports.view.asked import asked
from reports.view.estimates import difference_section, estimates, losses
from reports.view.reproduce import reproduce
from scope.records import Undefined


def test_original_texts_come_first_and_parts_stay_out_of_the_main_tables(comparison):
    shuffled = replace(comparison, measurements=comparison.measurements[::-1])
    titles = [group.title for group in estimates(shuffled).groups]
    assert titles == ["original texts", "typo", "synonym"]
    assert not [row for group in estimates(comparison).groups for row in group.rows if row.subset]


def test_a_chart_holds_the_defined_estimates_alone(comparison):
    clean = estimates(comparison).groups[0]
    assert len(clean.rows) == 4
    drawn = [(dot.category, dot.series, dot.value) for dot in clean.chart.intervals]
    assert drawn == [
        ("IID agreement", 0, 1.0),
        ("IID agreement", 1, 0.75),
        ("Gap in IID accuracy", 1, 0.25),
    ]


def test_where_all_is_undefined_there_is_a_table_and_no_chart(comparison):
    nothing = tuple(
        replace(row, estimate=Undefined(reason="nothing invariant"))
        for row in comparison.measurements
    )
    groups = estimates(replace(comparison, measurements=nothing)).groups
    assert [group.chart for group in groups] == [None, None, None]
    assert {row.cell.value for group in groups for row in group.rows} == {"undefined"}


def test_each_metric_is_explained_once(comparison):
    labels = [metric.label for metric in estimates(comparison).metrics]
    assert labels == [
        "IID agreement",
        "Gap in IID accuracy",
        "OOD agreement",
        "Hard-SCoPE",
        "Soft-SCoPE",
    ]


def test_parts_are_grouped_by_metric_and_capability(comparison):
    groups = losses(comparison)
    assert [group.title for group in groups] == ["Hard-SCoPE on synonym", "Hard-SCoPE on typo"]
    assert [row.subset for row in groups[0].rows][2] == "reference confidence ≥ 0.95"
    assert len(groups[0].chart.intervals) == 2


def test_differences_without_a_capability_are_on_the_original_texts(comparison):
    first, second = difference_section(comparison)
    assert (first.capability, first.cell.value, first.p_adjusted) == ("synonym", "+0.375", "0.012")
    assert (second.capability, second.p_value) == ("original texts", "none")


def test_a_curve_knows_the_cutoff_that_was_chosen(comparison):
    groups = curves(comparison)
    assert [group.title for group in groups] == ["Soft-SCoPE on synonym", "Soft-SCoPE on typo"]
    assert (groups[0].chosen, groups[0].chart.chosen) == ("1.0", (1.0,))
    assert [row.x for row in groups[0].rows if row.chosen] == ["1", "1"]
    without = replace(comparison, measurements=())
    assert (curves(without)[0].chosen, curves(without)[0].chart.chosen) == ("", ())


def test_lost_invariances_stand_first_and_the_rest_in_the_order_of_the_run(comparison):
    shown = examples(comparison, limit=10)
    keys = [(pair.capability, pair.example_id, pair.trial) for pair in shown.pairs]
    assert keys == [
        ("synonym", "e1", 2),
        ("synonym", "e2", 1),
        ("typo", "e3", 1),
        ("synonym", "e1", 1),
        ("typo", "e4", 2),
    ]
    assert (shown.total, shown.lost) == (5, 3)


@pytest.mark.parametrize(
    ("limit", "lost"), [(0, []), (2, [(1,), (0, 1)]), (4, [(1,), (0, 1), (1,), ()])]
)
def test_a_limit_cuts_from_the_end_and_never_changes_the_counts(comparison, limit, lost):
    shown = examples(comparison, limit=limit)
    assert [pair.lost for pair in shown.pairs] == lost
    assert (shown.total, shown.lost) == (5, 3)


def test_labels_to_filter_by_are_those_that_occur_and_none(comparison):
    labels = examples(comparison, limit=10).labels
    assert labels == (*comparison.manifest.reference.labels, None)


def test_without_hard_scope_the_headline_says_so_and_without_soft_scope_too(comparison):
    bare = headline(replace(comparison, measurements=(), answer_shares=()))
    assert {finding.reason for finding in bare.findings} == {
        "Hard-SCoPE was not requested",
        "failed: ValueError: javascript:window.injected=1",
    }
    assert bare.soft == ()


def test_degenerate_targets_come_first_and_without_a_number(comparison):
    found = headline(comparison).findings
    assert [one.degenerate for one in found] == [True] * 3 + [False] * 3
    assert {one.share for one in found if one.degenerate} == {""}


def test_a_cutoff_missing_in_the_spelling_is_taken_from_the_settings(comparison):
    soft = next(row for row in comparison.measurements if row.metric.startswith("soft"))
    row = replace(soft, metric="soft_scope(tolerance=0.2)")
    manifest = replace(comparison.manifest, settings={"cutoff": 0.5, "tolerance": 9.0})
    (stated,) = headline(replace(comparison, measurements=(row,), manifest=manifest)).soft
    assert (stated.tolerance, stated.cutoff) == ("0.2", "0.5")
    (unknown,) = headline(replace(comparison, measurements=(row,))).soft
    assert unknown.cutoff == "not stated"


def test_failed_searches_are_cut_but_counted(comparison):
    assert failure_section(comparison, limit=0).searches == ()
    assert failure_section(comparison, limit=0).total == 1
    (search,) = failure_section(comparison, limit=5).searches
    assert (search.example_id, search.trial) == ("e4", 1)
    assert search.text.startswith("naïve")


def test_reproduction_holds_full_fingerprints_of_models_and_data(comparison):
    names = [name for name, _ in reproduce(comparison).fingerprints]
    assert names[:2] == ["model teacher", "model student"]
    assert names[3].startswith("data file")
    assert dict(reproduce(comparison).settings)["cache"] == "yes"


def test_the_exactness_of_models_and_of_the_encoder_is_stated(comparison):
    manifest = replace(comparison.manifest, encoder_reproducible="to the byte")
    stated = reproduce(replace(comparison, manifest=manifest)).equal
    assert stated[-1] == ("the sentence encoder", "to the byte")
    assert reproduce(comparison).equal == stated[:-1]


def test_the_reference_stands_before_the_targets(comparison):
    manifest = replace(comparison.manifest, models=comparison.manifest.models[::-1])
    shown = asked(replace(comparison, manifest=manifest), heading="Capabilities")
    assert [line.role for line in shown.models] == ["reference", "target", "target"]
    assert shown.labelled


def test_models_without_labels_need_no_column_for_them(tasks_comparison):
    shown = asked(tasks_comparison, heading="Tasks")
    assert (shown.labelled, {line.role for line in shown.models}) == (False, {"model"})
