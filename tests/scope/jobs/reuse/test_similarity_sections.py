"""The sections with the numbers behind a verdict."""

from dataclasses import replace

from made_up_reuse_comparison import CONTROLS, SUSPECT, not_related, related, undecided, verdict

from reports.blocks import Figure, Fold, Heading, Table, within
from reports.prose import plain, written
from scope.jobs.reuse.similarity_sections import (
    evidence_section,
    evidence_table,
    paired_sentence,
    standings_section,
)
from scope.records import ModelScore


def shown(row):
    return [plain(written(cell)) for cell in row.cells]


def of_kind(section, kind):
    return [block for block in within(section.blocks) if isinstance(block, kind)]


def words(section):
    return "\n".join(
        plain(block.text) for block in within(section.blocks) if hasattr(block, "text")
    )


def test_standings_are_sorted_and_the_suspect_stands_behind_its_equals():
    section = standings_section((not_related(),))
    (table,) = of_kind(section, Table)
    assert [shown(row) for row in table.rows] == [
        ["1", "near", "2.750"],
        ["2", CONTROLS[4], "1.500"],
        ["3", "alone", "1.250"],
        ["4", f"{SUSPECT} (suspect)", "1.250"],
        ["5", "apart", "0.250"],
        ["6", CONTROLS[1], "−0.500"],
    ]
    assert [row.chosen for row in table.rows] == [False, False, False, True, False, False]
    assert "3 of 5 controls are at least as similar to the reference as the suspect." in words(
        section
    )


def test_several_references_share_the_error_rate_and_are_named():
    section = standings_section((related(), not_related(), undecided()))
    charts = [figure.chart for figure in of_kind(section, Figure)]
    assert {chart.rate for chart in charts} == {"0.2"}
    # 0.6 alone would let two of five controls stand above; a third of it lets none.
    assert [chart.threshold for chart in charts] == [2.75, 2.75, None]
    assert len(of_kind(section, Heading)) == 3
    assert "α divided by the number of references" in words(section)
    alone = standings_section((related(),))
    assert of_kind(alone, Figure)[0].chart.threshold == 1.25
    assert of_kind(alone, Heading) == []
    assert "α divided" not in words(alone)


def test_too_few_controls_say_what_p_they_allow():
    section = standings_section((replace(undecided(), alpha=0.2),))
    assert (
        "With 3 controls no p-value by rank can be smaller than 0.250. For 0.2 at least 4 "
        "controls are needed."
    ) in words(section)


def test_a_suspect_without_a_value_has_no_rank():
    whole = related()
    section = standings_section((replace(whole, standings=whole.standings[1:], p_value=None),))
    assert "The suspect has no joint statistic." in words(section)
    (table,) = of_kind(section, Table)
    assert (len(table.rows), any(row.chosen for row in table.rows)) == (5, False)


def test_without_any_standing_there_is_neither_chart_nor_table():
    section = standings_section((replace(related(), standings=()),))
    assert of_kind(section, Figure) == of_kind(section, Table) == []


def test_the_paired_test_says_whether_its_control_marks_the_threshold():
    strict = replace(related(), alpha=0.2)
    line = "which is at the dashed line"
    assert line in words(standings_section((strict,)))
    other = replace(strict, paired=replace(strict.paired, control="alone"))
    assert line not in words(standings_section((other,)))
    assert "Question by question" not in words(standings_section((undecided(),)))


def test_the_paired_test_is_a_sentence_with_its_numbers():
    assert plain(paired_sentence(not_related().paired).text) == (
        "Question by question, the suspect is no more similar to the reference than the control "
        "near: the difference is −1.500 [−1.625, −1.375] (n\u00a0=\u00a040) on the joint scale. If "
        "the two were equally similar to the reference, a difference at least as large would have "
        "p = 0.875, one at most as large p = 0.125."
    )
    assert "would have p < 0.001, one at most as large p = 1.000" in plain(
        paired_sentence(related().paired).text
    )


def test_many_controls_are_folded():
    few = verdict("ours", "related", 9.0, (1.0,))
    controls = [ModelScore(model=str(place), value=float(place)) for place in range(28)]
    many = replace(few, standings=(few.standings[0], *controls))
    folds = [of_kind(standings_section((one,)), Fold) for one in (few, many)]
    assert [len(found) for found in folds] == [0, 1]


def rows():
    return evidence_table(related()).rows


def without_strip(row):
    """The row without its chart, which has no words."""
    return replace(row, cells=tuple(None if place == 3 else c for place, c in enumerate(row.cells)))


def test_the_suspect_stands_beside_the_range_of_the_controls():
    first, soft, invented, capa = (shown(without_strip(row)) for row in rows())
    # The controls' joint statistics by 16: 1.25, -0.5, 2.75, 0.25, 1.5.
    assert first[2:] == ["0.078 (n\u00a0=\u00a05)\n−0.031 to 0.172", "", "0.167", "yes"]
    assert first[:2] == ["Shared mistakes", "0.625 [0.500, 0.750] (n\u00a0=\u00a040)"]
    assert soft[0].startswith("Soft-SCoPE tolerance=0.1, cutoff=1.0\non synonym")
    assert soft[1].startswith("undefined (no probabilities")
    assert soft[4] == "none"
    assert invented[0] == "invented <script>alert(1)</script>"
    assert (invented[2], capa[5]) == ("none", "no")


def test_without_a_value_or_without_controls_there_is_no_strip():
    assert [row.cells[3] is None for row in rows()] == [False, True, True, False]


def test_every_models_values_are_listed_the_suspect_first():
    verdicts = (related(),)
    section = evidence_section(verdicts, [evidence_table(related())])
    listed = [shown(row) for row in of_kind(section, Table)[1].rows]
    assert [row[0] for row in listed] == [f"{SUSPECT} (suspect)", *CONTROLS]
    assert listed[0][1:] == ["0.625", "undefined", "0.250", "−0.250"]
    assert listed[1][1:] == ["0.078", "0.078", "", "0.078"]
    assert listed[2][1:] == ["−0.031", "", "", "−0.031"]


def test_verdicts_without_evidence_have_no_table():
    verdicts = (related(), replace(undecided(), evidence=()))
    section = evidence_section(verdicts, [evidence_table(one) for one in verdicts])
    assert len(of_kind(section, Table)) == 2
    assert len(of_kind(section, Heading)) == 1
