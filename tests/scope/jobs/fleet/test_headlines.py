"""The sentences at the head of a fleet's report; their numbers are compared in headlines/."""

from dataclasses import replace

import pytest
from made_up_fleet_comparison import (
    CATEGORIES,
    KNN,
    MODELS,
    bare,
    build_comparison,
    communities,
    contributions,
    estimate,
    expected,
    mix,
    predictions,
    routers,
    scores,
)

from reports.prose import plain
from scope.jobs.fleet import headlines
from scope.records import ExpectedAccuracy, Undefined


def said(sentences):
    return [plain(one).replace("\u00a0", " ") for one in sentences]


def test_a_matrix_is_counted_and_its_known_share_stated():
    assert said([headlines.of_matrix(bare("fleet-embed"))]) == [
        # 8,100 of 1,500 × 6 answers.
        "The results are based on 8,100 answers of 6 models to 1,500 questions: 90.0 % of the "
        "matrix is known."
    ]
    assert headlines.known_percent(bare("fleet-embed", questions=0, answers=0)) == "0.0"


@pytest.mark.parametrize(
    ("gain", "end"),
    [
        (estimate(0.0625), "The interval excludes 0."),
        (estimate(0.0625, 9), "There are too few questions for a conclusion."),
        (estimate(0.015625), "The interval includes 0: the difference may be chance."),
        (estimate(-0.0625), "The forecaster is worse than the mean."),
        (Undefined(reason="one question"), "the difference is undefined (one question)."),
        (None, "the mean of each model predicts 64.1 % [60.9, 67.2] (n = 400)."),
    ],
)
def test_a_gain_is_one_only_beyond_its_interval(gain, end):
    mean, _, used, *_ = scores()
    (sentence,) = said(headlines.of_forecasts((mean, replace(used, gain=gain))))
    assert sentence.endswith(end)


@pytest.mark.parametrize(
    ("over_single", "over_mix", "worth"),
    [
        (0.0625, 0.0625, "more"),
        (0.0625, -0.0234375, "mix"),
        (0.0625, 0.015625, "mix"),
        (0.015625, 0.0625, "unclear"),
        (-0.0625, 0.0625, "less"),
    ],
)
def test_routing_is_worth_it_only_against_the_random_mix_too(over_single, over_mix, worth):
    """A mix of models at the same cost, drawn without reading, was better than the router once."""
    gains = {"single best": over_single, "random with the same mix": over_mix}
    every = {
        one.router: replace(one, gain=estimate(gains[one.router])) if one.router in gains else one
        for one in routers()
        if one.category is None
    }
    assert headlines.worth(every) == worth


def test_the_mean_itself_is_compared_with_nothing():
    (sentence,) = said(headlines.of_forecasts((replace(scores()[0], chosen=True),)))
    assert sentence == (
        "mean predicts 64.1 % [60.9, 67.2] (n = 400) of the answers to unseen questions correctly."
    )


def test_where_none_is_chosen_the_first_forecaster_counts():
    assert said(headlines.of_forecasts((scores()[1],)))[0].startswith(f"{KNN} predicts")


def test_a_part_of_the_questions_never_stands_for_all():
    parts = tuple(one for one in scores() if one.category is not None)
    routes = tuple(one for one in routers() if one.category is not None)
    assert [*headlines.of_forecasts(parts), *headlines.of_routing(routes)] == []


def test_a_router_alone_is_a_finding_too():
    assert said(headlines.of_routing(routers()[:1])) == [
        "The router answers 71.9 % [68.8, 75.0] (n = 400) of the questions correctly."
    ]


def test_a_single_best_without_a_name_needs_none():
    router, single, *_ = routers()
    (sentence,) = said(headlines.of_routing((router, replace(single, model=None))))
    assert "; the single best model answers 70.3 %" in sentence


def test_the_model_asked_most_is_named():
    assert said(headlines.of_mix(mix())) == [
        f"The router selects 2 models, most often {MODELS[1]}: for 75.0 % of the questions."
    ]
    assert said(headlines.of_mix(mix()[:1]))[0].startswith("The router selects 1 model, most often")
    assert said(headlines.of_mix(())) == []


def test_a_benchmark_is_predicted_where_95_of_100_splits_are_significant():
    (sentence,) = said(headlines.of_predictions(predictions()))
    # 97 of 100, 12 of 100 and 0 of 0.
    assert sentence.startswith("1 of 3 held-out benchmarks")
    assert f"highest for {CATEGORIES[0]} with +0.625 [" in sentence
    assert f", lowest for {CATEGORIES[1]} with +0.125 [" in sentence
    for significant, predicted in ((95, 1), (94, 0)):
        row = replace(predictions()[0], significant=significant)
        (sentence,) = said(headlines.of_predictions((row,)))
        assert sentence.startswith(f"{predicted} of 1 held-out")
        assert "lowest" not in sentence
    assert "τ" not in said(headlines.of_predictions(predictions()[2:]))[0]


def test_communities_are_counted_after_the_correction_for_their_number():
    near = replace(communities()[1], p_value=0.04, p_adjusted=0.08)
    assert said(headlines.of_communities((near, near)))[0].startswith("In none of 2 communities")
    near = replace(near, p_adjusted=0.04)
    assert said(headlines.of_communities((near,)))[0].startswith("In 1 of 1 communities")
    assert said(headlines.of_communities(communities()[:1])) == []
    small = replace(near, p_value=None, p_adjusted=None)
    assert said(headlines.of_communities((small, small))) == [
        "Communities of fewer than 8 models, too few to conclude: 2."
    ]


def test_contributions_above_zero_are_counted_and_the_largest_is_named_with_its_doubt():
    sure, *_ = contributions()
    loose = replace(sure, source="loose", value=estimate(0.5, half=0.75))
    (sentence,) = said(headlines.of_contributions((loose, sure)))
    assert sentence.startswith("The intervals of 1 of 2 contributions of one benchmark to another")
    assert "not corrected for their number" in sentence
    assert "The largest contribution is from loose to" in sentence
    assert sentence.endswith(", which may be chance.")
    few = replace(sure, source="few", value=estimate(0.5, 9))
    (sentence,) = said(headlines.of_contributions((loose, few)))
    assert "The largest contribution is from loose to" in sentence
    assert sentence.endswith(", which may be chance.")
    (sentence,) = said(headlines.of_contributions((few,)))
    assert sentence.endswith(", with too few questions for a conclusion.")


def test_what_a_benchmark_does_for_itself_is_no_finding():
    row = replace(contributions()[0], target=CATEGORIES[0])
    assert said(headlines.of_contributions((row,))) == []


def test_the_models_expected_to_be_right_most_and_least_often_are_named():
    (sentence,) = said(headlines.of_expected(expected()))
    assert sentence.startswith(f"{MODELS[0]} has the highest expected accuracy")
    assert f", {MODELS[2]} the lowest: 25.0 % [" in sentence
    (sentence,) = said(headlines.of_expected(expected()[:2]))
    assert sentence.endswith(
        ": 75.0 % [71.9, 78.1] (n = 12), observed 62.5 % [59.4, 65.6] (n = 9)."
    )
    assert said(headlines.of_expected(expected()[1:2])) == []


def test_intervals_that_overlap_are_counted():
    rows = tuple(
        ExpectedAccuracy(model=name, accuracy=estimate(value, 12))
        for name, value in (("a", 0.75), ("b", 0.74), ("c", 0.73), ("d", 0.25))
    )
    (sentence,) = said(headlines.of_expected(rows))
    assert "(the intervals of 2 others overlap with it), d the lowest: " in sentence
    (sentence,) = said(headlines.of_expected(rows[:2]))
    assert sentence.count("(the interval of 1 other overlaps with it)") == 2


def test_the_shift_of_the_forecasts_is_said_and_what_their_intervals_leave_out():
    result = build_comparison("fleet-forecast")
    (sentence,) = said(headlines.of_shift(result))
    assert sentence.startswith(
        "Observed minus expected accuracy, the mean over the models, is −6.2 points [−9.4, −3.1] "
        "(n = 12): 1 of 2 forecasts lie above the observed accuracy, and the intervals of 1 leave "
        "it out. The forecasts are shifted. The intervals of expected accuracies cover the "
        "sampling of questions only"
    )
    (sentence,) = said(headlines.of_shift(replace(result, shift=estimate(0.01, 12))))
    assert "shifted" not in sentence
    (sentence,) = said(headlines.of_shift(replace(result, shift=None)))
    assert sentence.startswith("No answer to an unseen question is known. The intervals of ")
