"""The answers of the jobs on a fleet: no stronger than their numbers."""

from dataclasses import replace

import pytest
from headline_claims import drawn, estimates
from hypothesis import given
from made_up_fleet_comparison import (
    bare,
    communities,
    estimate,
    expected,
    predictions,
    reliability,
    routers,
    scores,
)

from reports.prose import plain
from scope.jobs.fleet import headlines
from scope.records import ExpectedAccuracy, Undefined
from scope.records.fleet import FEW_QUESTIONS


def said(sentences):
    return [plain(one).replace("\u00a0", " ") for one in sentences]


def embedded(gain):
    mean, _, used, *_ = scores()
    return headlines.of_embed(bare("fleet-embed", scores=(mean, replace(used, gain=gain))))


def words(answer):
    """The headline and its evidence."""
    return said((answer.heading, answer.about))


@pytest.mark.parametrize(
    ("gain", "frame"),
    [
        (estimate(-0.0625), "bad"),
        (Undefined(reason="one question"), "undecided"),
        (None, "undecided"),
    ],
)
def test_a_gain_is_one_only_beyond_its_interval(gain, frame):
    assert embedded(gain).kind == frame


@drawn
@given(gain=estimates())
def test_no_box_is_green_without_an_interval_above_zero_from_enough_questions(gain):
    frame = embedded(gain).kind
    assert (frame == "good") == (gain.n >= FEW_QUESTIONS and round(gain.low, 3) > 0)


def forecast(gaps, shift):
    """Forecasts of models whose observed accuracy lies so far from the expected one."""
    rows = tuple(
        ExpectedAccuracy(
            model=f"m{place}",
            accuracy=estimate(0.5),
            observed=estimate(0.5 + gap),
            shift=estimate(gap),
        )
        for place, gap in enumerate(gaps)
    )
    result = bare("fleet-forecast", expected=rows, shift=shift, scores=scores())
    return headlines.of_forecast(result)


@pytest.mark.parametrize(
    ("gaps", "shift", "frame", "head"),
    [
        (
            (-0.1, 0.01),
            estimate(-0.0625),
            "bad",
            "✗ The forecasts are too high, by 6.2 points on average; 1 of 2 observed",
        ),
        ((0.1, 0.01), estimate(0.0625), "bad", "✗ The forecasts are too low, by 6.2 points"),
        ((-0.1, -0.01), estimate(-0.01), "undecided", "? All forecasts lie above"),
        ((0.1, 0.01), estimate(0.01), "undecided", "? All forecasts lie below"),
        ((0.01, -0.01), estimate(0.01), "good", "✓ No shift is shown. Use it to predict which"),
        ((0.1, -0.01), estimate(0.01), "undecided", "? Do not rely on single forecasts: 1 of 2"),
        ((0.1, *[-0.01] * 8), estimate(0.01), "undecided", "? Do not rely on single forecasts: 1"),
        ((0.1, *[-0.01] * 9), estimate(0.01), "good", "✓ No shift is shown. "),
    ],
)
def test_forecasts_that_miss_or_all_lie_to_one_side_are_never_called_good(gaps, shift, frame, head):
    answer = forecast(gaps, shift)
    assert answer.kind == frame
    headline, why = words(answer)
    assert headline.startswith(head)
    assert "other kinds of questions may be shifted" in why


def routed(over_single, over_mix, costs=(0.125, 0.5)):
    router, single, mixed, oracle, *_ = routers()
    return (
        replace(router, cost=costs[0]),
        replace(single, gain=over_single, cost=costs[1]),
        replace(mixed, gain=over_mix),
        oracle,
    )


@pytest.mark.parametrize(
    ("over_single", "over_mix", "head", "frame"),
    [
        (0.0625, 0.0625, "✓ Route with it: 6.2 points more correct than the single best", "good"),
        (0.0625, -0.0234375, "not than a random choice of the same mix", "undecided"),
        (0.015625, 0.0625, "It is too early to say whether routing is better", "undecided"),
        (-0.0625, 0.0625, "✗ Do not route: 6.2 points fewer correct than the single", "bad"),
    ],
)
def test_routing_is_worth_it_only_against_the_random_mix_too(over_single, over_mix, head, frame):
    """A mix of models at the same cost, drawn without reading, was better than the router once."""
    rows = routed(estimate(over_single), estimate(over_mix))
    answer = headlines.of_route(bare("fleet-route", routers=rows))
    assert answer.kind == frame
    assert head in words(answer)[0]


@drawn
@given(over_single=estimates(-0.05, 0.3), over_mix=estimates(-0.05, 0.3))
def test_routing_pays_by_both_intervals_alone(over_single, over_mix):
    answer = headlines.of_route(bare("fleet-route", routers=routed(over_single, over_mix)))
    sure = all(one.n >= FEW_QUESTIONS and round(one.low, 3) > 0 for one in (over_single, over_mix))
    assert (answer.kind == "good") == sure


@pytest.mark.parametrize(
    ("costs", "frame", "end"),
    [
        ((2.5, 1.0), "neutral", "best model, at 150 % more cost"),
        ((1.015, 1.0), "neutral", "best model, at 1.5 % more cost"),
        ((0.125, 0.5), "good", "best model, at 75 % less cost"),
        ((1.0, 1.0), "good", "best model"),
        ((None, 1.0), "good", "best model"),
    ],
)
def test_the_cost_is_named_beside_the_gain_and_only_a_free_gain_is_a_clear_one(costs, frame, end):
    answer = headlines.of_route(
        bare("fleet-route", routers=routed(estimate(0.0625), estimate(0.0625), costs))
    )
    assert answer.kind == frame
    headline, why = words(answer)
    assert headline.endswith(end)
    assert "far </" in why


def test_a_router_alone_is_compared_with_nothing():
    alone, _ = words(headlines.of_route(bare("fleet-route", routers=routers()[:1])))
    assert alone == "? No comparison shows whether routing is better than the single best model"
    unknown, _ = words(headlines.of_route(bare("fleet-route")))
    assert unknown == "? Too early to say whether routing pays: no answers are known here"


@pytest.mark.parametrize(("significant", "predicted"), [(95, 1), (94, 0)])
def test_a_benchmark_is_predicted_where_95_of_100_splits_are_significant(significant, predicted):
    row = replace(predictions()[0], significant=significant)
    answer = headlines.of_predict(bare("fleet-predict", predictions=(row,)))
    assert words(answer)[0].endswith(f"is predicted on {predicted} of 1 benchmarks")
    assert answer.kind == ("good" if predicted else "undecided")


def test_errors_are_compared_with_those_of_the_models_mean():
    first, second, _ = predictions()
    rows = (replace(first, baseline=estimate(0.0625)), replace(second, baseline=estimate(0.0625)))
    answer = headlines.of_predict(bare("fleet-predict", predictions=rows))
    assert words(answer)[1].endswith("predicting the models’ mean on 1 of 2.")
    assert "The error" not in words(headlines.of_predict(bare("fleet-predict")))[1]


def test_communities_are_counted_after_the_correction_for_their_number():
    near = replace(communities()[2], p_value=0.04, p_adjusted=0.08)
    assert (
        "Of 2 communities of at least 8 models 0 are closer"
        in said(headlines.of_communities((near, near)))[0]
    )
    near = replace(near, p_adjusted=0.04)
    assert (
        "Of 1 communities of at least 8 models 1 are closer"
        in said(headlines.of_communities((near,)))[0]
    )
    assert said(headlines.of_communities(communities()[:1])) == []
    small = replace(near, p_value=None, p_adjusted=None)
    (sentence,) = said(headlines.of_communities((small, small)))
    assert sentence.endswith("; 2 more are too small to say.")


@pytest.mark.parametrize(
    ("bins", "words"),
    [
        (((0.125, 0.1), (0.5, 0.52)), "Probabilities hold: in 2 of 2 ranges the forecast lies"),
        (((0.125, 0.5), (0.5, 0.55)), "Farthest off between 0 and 25 %: forecast 12 %, right 50 %"),
    ],
)
def test_where_forecasts_fail_is_named_only_beyond_an_interval(bins, words):
    rows = (
        replace(row, predicted=predicted, observed=estimate(seen))
        for row, (predicted, seen) in zip(reliability(), bins, strict=False)
    )
    (sentence,) = said(headlines.worst_bin(tuple(rows)))
    assert sentence.startswith(words)


def test_the_worst_model_and_category_are_named_with_how_many_there_are():
    (model,) = said(headlines.worst_model(expected()))
    assert model.endswith(
        "alone, forecast 75 % [72, 78], observed 62 % [59, 66]: the worst of 2 models."
    )
    parts = [replace(row, gain=estimate(place / 8)) for place, row in enumerate(scores()[3:])]
    (category,) = said(headlines.worst_category(parts, "the mean"))
    assert category.startswith("Least useful on logic: 0.0 points [−3.1, +3.1] against the mean")
    assert "the worst of 6 categories" in category
    assert said(headlines.worst_category(scores()[:3], "the mean")) == []
