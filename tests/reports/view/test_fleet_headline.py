"""The first section of a fleet's report, on the findings that the page's tests share."""

from dataclasses import replace

import pytest
from made_up_fleet_comparison import CATEGORIES, KNN, MODELS, USED, estimate, findings

from reports.view.fleet_headline import fleet_headline
from scope.records import Undefined


@pytest.fixture
def headline(fleet_comparison):
    def made(**changes):
        return fleet_headline(fleet_comparison, replace(fleet_comparison.findings, **changes))

    return made


def only(**parts):
    """Nothing but a matrix and these parts."""
    names = ("members", "scores", "reliability", "routers", "mix", "predictions")
    empty = dict.fromkeys((*names, "contributions", "communities"), ())
    return {**empty, **parts}


def test_a_matrix_is_counted_and_its_known_share_stated(headline):
    found = headline()
    assert found.title == "SCoPE fleet map: 6 models"
    # 8,100 of 1,500 × 6 answers.
    assert (found.answers, found.known, found.added) == (8_100, "90.0", 1)
    assert headline(questions=0, answers=0).known == "0.0"


def test_the_forecaster_in_use_is_held_against_the_mean(headline):
    one = headline().forecast
    assert one.forecaster == USED
    assert (one.accuracy.value, one.accuracy.interval) == ("70.3\u00a0%", "[67.2, 73.4]")
    assert (one.mean.value, one.gain.value) == ("64.1\u00a0%", "+6.2\u00a0points")
    assert one.beyond == "more"


@pytest.mark.parametrize(
    ("gain", "beyond"),
    [
        (estimate(0.0625), "more"),
        (estimate(0.0625, 9), "few"),
        (estimate(0.015625), "unclear"),
        (estimate(-0.0625), "less"),
        (Undefined(reason="one question"), None),
        (None, None),
    ],
)
def test_a_gain_is_one_only_beyond_its_interval(headline, gain, beyond):
    mean, _, used, *_ = findings().scores
    assert headline(scores=(mean, replace(used, gain=gain))).forecast.beyond == beyond


@pytest.mark.parametrize(
    ("over_single", "over_mix", "beyond"),
    [
        (0.0625, 0.0625, "more"),
        (0.0625, -0.0234375, "mix"),
        (0.0625, 0.015625, "mix"),
        (0.015625, 0.0625, "unclear"),
        (-0.0625, 0.0625, "less"),
    ],
)
def test_routing_is_worth_it_only_against_the_random_mix_too(
    headline, over_single, over_mix, beyond
):
    """A mix of models at the same cost, drawn without reading, was better than the router once."""
    gains = {"single best": over_single, "random with the same mix": over_mix}
    routers = tuple(
        replace(one, gain=estimate(gains[one.router])) if one.router in gains else one
        for one in findings().routers
        if one.category is None
    )
    assert headline(routers=routers).route.beyond == beyond


def test_the_mean_itself_is_held_against_nothing(headline):
    mean = replace(findings().scores[0], chosen=True)
    one = headline(scores=(mean,)).forecast
    assert (one.forecaster, one.mean, one.gain) == ("mean", None, None)


def test_where_none_is_chosen_the_first_forecaster_counts(headline):
    knn = findings().scores[1]
    assert headline(scores=(knn,)).forecast.forecaster == KNN


def test_a_part_of_the_questions_never_stands_for_all(headline):
    parts = tuple(one for one in findings().scores if one.category is not None)
    routes = tuple(one for one in findings().routers if one.category is not None)
    found = headline(scores=parts, routers=routes)
    assert (found.forecast, found.route) == (None, None)


def test_the_router_is_held_against_the_single_best(headline):
    one = headline().route
    assert (one.single, one.accuracy.value, one.single_accuracy.value) == (
        MODELS[1],
        "71.9\u00a0%",
        "70.3\u00a0%",
    )
    assert (one.gain.value, one.gain.interval) == ("+1.6\u00a0points", "[+0.8, +2.3]")
    assert one.beyond == "more"
    assert [name for name, _ in one.others] == ["random with the same mix", "oracle"]


def test_a_router_alone_is_a_finding_too(headline):
    one = headline(routers=findings().routers[:1]).route
    assert (one.single, one.single_accuracy, one.gain, one.others) == (None, None, None, ())


def test_the_model_asked_most_is_named_even_where_no_answer_is_known(headline):
    found = headline(**only(mix=findings().mix))
    assert (found.route, found.asked, found.most_asked) == (None, 2, (MODELS[1], "75.0"))
    assert headline(**only()).most_asked is None


def test_a_benchmark_is_predicted_where_95_of_100_splits_are_significant(headline):
    one = headline().predict
    # 97 of 100, 12 of 100 and 0 of 0.
    assert (one.predicted, one.benchmarks) == (1, 3)
    assert [(name, cell.value) for name, cell in one.ends] == [
        (CATEGORIES[0], "+0.625"),
        (CATEGORIES[1], "+0.125"),
    ]
    for significant, predicted in ((95, 1), (94, 0)):
        row = replace(findings().predictions[0], significant=significant)
        assert headline(predictions=(row,)).predict.predicted == predicted


def test_communities_are_near_by_their_p_values_and_the_best_contribution_is_named(headline):
    one = headline().map
    assert (one.near, one.tested) == (1, 2)
    assert (one.source, one.target) == CATEGORIES[:2]
    assert one.contribution.value == "+4.7\u00a0points"
    alone = headline(**only(communities=findings().communities)).map
    assert (alone.tested, alone.source, alone.contribution) == (2, None, None)


def test_communities_are_counted_after_the_correction_for_their_number(headline):
    near = replace(findings().communities[1], p_value=0.04, p_adjusted=0.08)
    assert headline(communities=(near, near)).map.near == 0
    assert headline(communities=(replace(near, p_adjusted=0.04),)).map.near == 1


def test_a_contribution_beyond_chance_goes_before_a_greater_one_that_may_be_chance(headline):
    sure, *_ = findings().contributions
    loose = replace(sure, source="loose", value=estimate(0.5, half=0.75))
    one = headline(contributions=(loose, sure)).map
    assert (one.source, one.beyond, one.helping, one.contributions) == (sure.source, "more", 1, 2)
    few = replace(sure, value=estimate(0.5, 9))
    one = headline(contributions=(loose, replace(few, source="few"))).map
    assert (one.source, one.beyond, one.helping) == ("loose", "unclear", 0)
    assert headline(contributions=(few,)).map.beyond == "few"


def test_the_models_expected_to_be_right_most_and_least_often_are_named(headline):
    ends = headline().expected
    assert [(name, cell.value) for name, cell, _ in ends] == [
        (MODELS[0], "75.0\u00a0%"),
        (MODELS[2], "25.0\u00a0%"),
    ]
    assert headline(expected=findings().expected[:2]).expected == ends[:1]
    assert headline(expected=()).expected == ()


def test_what_a_benchmark_does_for_itself_is_no_finding(headline):
    row = replace(findings().contributions[0], target=CATEGORIES[0])
    assert headline(contributions=(row,)).map.source is None


def test_what_was_not_asked_for_is_not_there(headline):
    found = headline(**only())
    assert (found.forecast, found.route, found.predict, found.map) == (None,) * 4
