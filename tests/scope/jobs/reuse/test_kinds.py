import pytest
from made_up_reuse_comparison import related

from scope.jobs.reuse.kinds import (
    at_least,
    explained_kinds,
    kind_heading,
    kind_name,
    small_strip,
    strip_chart,
    threshold,
)
from scope.records import Evidence, ModelScore, Undefined

KINDS = (
    "shared_mistakes",
    "log_probabilities",
    "hard_scope",
    "soft_scope",
    "capa",
    "capa_discrete",
    "error_consistency",
)


def evidence(kind):
    return Evidence(kind=kind, suspect=Undefined(reason="none"), controls=())


@pytest.mark.parametrize("key", KINDS)
def test_every_kind_of_evidence_has_words(key):
    name = kind_name(key)
    assert name.meaning
    assert name.label != key


def test_an_unknown_kind_shows_its_spelling_once():
    name = kind_name("invented(k=2)")
    assert (name.label, name.meaning) == ("invented(k=2)", None)
    assert kind_heading("invented(k=2)") == "invented(k=2)"


def test_each_kind_is_explained_once():
    given = ("capa", "invented", "soft_scope(cutoff=1.0)", "soft_scope(cutoff=0.5)", "capa")
    assert [one.label for one in explained_kinds(map(evidence, given))] == ["CAPA", "Soft-SCoPE"]


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


def test_the_chart_marks_the_suspect_and_has_its_numbers_in_words():
    chart = strip_chart(ModelScore(model="s", value=6.5), standings(1.25, -0.5, 2.75), 0.25)
    assert (chart.suspect.value, chart.suspect.title) == (6.5, "s: 6.500")
    assert [dot.value for dot in chart.controls] == [1.25, -0.5, 2.75]
    assert (chart.threshold, chart.rate) == (2.75, "0.25")
    assert chart.label == (
        "Joint statistic: 3 controls from −0.500 to 2.750; the suspect at 6.500, where 0 controls "
        "are at least as similar to the reference; the numbers are in the table"
    )
    assert [key.name for key in chart.legend] == ["control", "suspect", "threshold"]
    assert chart.legend[1].note == "s"


def test_a_suspect_without_a_value_leaves_the_controls_alone():
    chart = strip_chart(None, standings(1.0, 2.0), 0.1)
    assert chart.suspect is None
    assert "the suspect has none" in chart.label
    assert [key.name for key in chart.legend] == ["control"]
    assert strip_chart(ModelScore(model="s", value=1.0), [], 0.5) is None


def test_a_small_strip_holds_the_controls_and_the_suspect_with_its_interval():
    first, undefined, alone, last = (small_strip(one, "s") for one in related().evidence)
    assert (first.suspect.value, first.low, first.high) == (0.625, 0.5, 0.75)
    assert len(first.controls) == 5
    assert first.label == (
        "Shared mistakes: the suspect at 0.625; 0 of 5 controls reach that; the numbers are in "
        "the tables"
    )
    assert "5 of 5 controls reach that" in last.label
    assert (undefined, alone) == (None, None)
