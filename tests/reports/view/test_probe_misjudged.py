"""The pairs that a probe gets most wrong."""

from dataclasses import replace

from made_up_probe_comparison import DEEP, SHALLOW, findings

from reports.view.probe_misjudged import misjudged_section


def test_pairs_stand_by_model_in_the_order_of_the_findings():
    found = misjudged_section(findings(), limit=10)
    assert [(name, [row.wanted for row in rows]) for name, rows in found.models] == [
        (DEEP, ["0.50", "4.75"]),
        (SHALLOW, ["1.25"]),
    ]
    assert [row.off for _, rows in found.models for row in rows] == ["+3.62", "−3.25", "+2.75"]


def test_a_limit_counts_for_each_model_and_is_said():
    found = misjudged_section(findings(), limit=1)
    assert [len(rows) for _, rows in found.models] == [1, 1]
    assert (found.shown, found.total) == (2, 3)


def test_no_pairs_make_no_section():
    assert misjudged_section(replace(findings(), misjudged=()), limit=10) is None
