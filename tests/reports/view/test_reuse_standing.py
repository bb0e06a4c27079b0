from dataclasses import replace

import pytest
from made_up_reuse_comparison import CONTROLS, SUSPECT, not_related, related, undecided, verdict

from reports.view.reuse_standing import places
from reports.view.reuse_strips import at_least, threshold
from scope.records import ModelScore


def standings(*values):
    return [ModelScore(model=str(place), value=value) for place, value in enumerate(values)]


@pytest.mark.parametrize(
    ("count", "alpha", "place"),
    [(19, 0.05, 18.0), (18, 0.05, None), (38, 0.05, 37.0), (39, 0.05, 37.0), (0, 0.5, None)],
)
def test_the_threshold_is_the_control_that_may_just_not_be_reached(count, alpha, place):
    assert threshold(alpha, standings(*map(float, range(count)))) == place


@pytest.mark.parametrize("count", range(1, 60))
@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3, 0.6])
def test_beyond_the_threshold_the_p_value_is_small_enough_and_on_it_it_is_not(count, alpha):
    controls = standings(*((7 * place) % 5 for place in range(count)))
    place = threshold(alpha, controls)
    if place is None:
        assert 1 / (count + 1) > alpha
        return
    beyond, on_it = ((1 + at_least(x, controls)) / (count + 1) for x in (place + 1e-9, place))
    assert beyond <= alpha + 1e-12 < on_it


def test_standings_are_sorted_and_the_suspect_stands_behind_its_equals():
    (place,) = places((not_related(),))
    shown = [(row.model, row.value, row.suspect) for row in place.rows]
    assert shown == [
        ("near", "2.750", False),
        (CONTROLS[4], "1.500", False),
        ("alone", "1.250", False),
        (SUSPECT, "1.250", True),
        ("apart", "0.250", False),
        (CONTROLS[1], "−0.500", False),
    ]
    assert (place.above, place.controls) == (3, 5)


def test_the_chart_marks_the_suspect_and_tells_its_numbers_in_words():
    (place,) = places((replace(related(), alpha=0.2),))
    assert place.chart.suspect.value == 6.5
    assert [dot.value for dot in place.chart.controls] == [1.25, -0.5, 2.75, 0.25, 1.5]
    assert (place.chart.threshold, place.rate) == (2.75, "0.2")
    assert place.chart.label == (
        "Joint statistic: 5 controls from −0.500 to 2.750; the suspect at 6.500, where 0 controls "
        "are at least as similar to the reference; the numbers are in the table"
    )


def test_several_references_share_the_error_rate():
    three = places((related(), not_related(), undecided()))
    assert {place.rate for place in three} == {"0.2"}
    # 0.6 alone would let two of five controls stand above; a third of it lets none.
    assert [place.chart.threshold for place in three] == [2.75, 2.75, None]
    assert places((related(),))[0].chart.threshold == 1.25


def test_too_few_controls_have_no_threshold_and_say_what_p_they_allow():
    (place,) = places((replace(undecided(), alpha=0.2),))
    assert place.chart.threshold is None
    assert (place.smallest, place.needed) == ("0.250", 4)


def test_a_suspect_without_a_value_leaves_the_controls_alone():
    whole = related()
    (place,) = places((replace(whole, standings=whole.standings[1:], p_value=None),))
    assert place.above is None
    assert place.chart.suspect is None
    assert "the suspect has none" in place.chart.label
    assert len(place.rows) == place.controls == 5


def test_without_any_standing_there_is_no_chart():
    (place,) = places((replace(related(), standings=()),))
    assert (place.chart, place.rows, place.controls) == (None, (), 0)


def test_the_paired_test_says_whether_its_control_marks_the_threshold():
    strict = replace(related(), alpha=0.2)
    (place,) = places((strict,))
    assert place.paired.at_threshold
    assert (place.paired.more, place.paired.p_more, place.paired.p_less) == (
        True,
        "< 0.001",
        "= 1.000",
    )
    (other,) = places((replace(strict, paired=replace(strict.paired, control="alone")),))
    assert not other.paired.at_threshold
    (none,) = places((undecided(),))
    assert none.paired is None


def test_many_controls_are_folded():
    few = verdict("ours", "related", 9.0, (1.0,))
    many = replace(few, standings=(few.standings[0], *standings(*map(float, range(28)))))
    assert [places((one,))[0].folded for one in (few, many)] == [False, True]
