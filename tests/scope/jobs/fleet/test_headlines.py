"""The answers of the jobs on a fleet: no stronger than their numbers."""

from dataclasses import replace

import pytest
from headline_claims import drawn, estimates
from hypothesis import given
from kept_results import bare, interval, kept

from reports.prose import plain
from scope.jobs.fleet import headlines
from scope.records import ExpectedAccuracy, Undefined
from scope.records.fleet import FEW_QUESTIONS

SCORES = kept("fleet-embed").scores
ROUTERS = kept("fleet-route").routers
COMMUNITIES = kept("fleet-map").communities


def said(sentences):
    return [plain(one).replace("\u00a0", " ") for one in sentences]


def embedded(gain):
    mean, _, used, *_ = SCORES
    return headlines.of_scores((mean, replace(used, gain=gain)))


def sign(answer):
    """The first letter of the headline."""
    return plain(answer.heading)[0]


def words(answer):
    """The headline and its evidence."""
    return said((answer.heading, answer.about))


@pytest.mark.parametrize(
    ("gain", "frame"),
    [
        (interval(-0.0625), "✗"),
        (Undefined(reason="one question"), "?"),
        (None, "?"),
    ],
)
def test_a_gain_is_one_only_beyond_its_interval(gain, frame):
    assert sign(embedded(gain)) == frame


@drawn
@given(gain=estimates())
def test_no_box_is_green_without_an_interval_above_zero_from_enough_questions(gain):
    frame = sign(embedded(gain))
    assert (frame == "✓") == (gain.n >= FEW_QUESTIONS and round(gain.low, 3) > 0)


def forecast(gaps, shift):
    """Forecasts of models whose observed accuracy lies so far from the expected one."""
    rows = tuple(
        ExpectedAccuracy(
            model=f"m{place}",
            accuracy=interval(0.5),
            observed=interval(0.5 + gap),
            shift=interval(gap),
        )
        for place, gap in enumerate(gaps)
    )
    result = bare("fleet-forecast", expected=rows, shift=shift, scores=SCORES)
    return headlines.of_forecast(result)


@pytest.mark.parametrize(
    ("gaps", "shift", "frame", "head"),
    [
        (
            (-0.1, 0.01),
            interval(-0.0625),
            "✗",
            "✗ The forecasts are too high, by 6.2 points on average; 1 of 2 models’ results lie",
        ),
        ((0.1, 0.01), interval(0.0625), "✗", "✗ The forecasts are too low, by 6.2 points"),
        ((0.01, -0.01), interval(0.01), "✓", "✓ Use the fleet to predict right and wrong answers"),
        ((0.1, -0.01), interval(0.01), "✗", "✗ Do not rely on single forecasts: 1 of 2"),
        ((0.1, *[-0.01] * 8), interval(0.01), "✗", "✗ Do not rely on single forecasts: 1"),
        ((0.1, *[-0.01] * 9), interval(0.01), "✓", "✓ Use the fleet"),
    ],
)
def test_forecasts_that_miss_or_are_shifted_are_never_called_good(gaps, shift, frame, head):
    answer = forecast(gaps, shift)
    assert sign(answer) == frame
    headline, why = words(answer)
    assert headline.startswith(head)
    assert "other kinds may be shifted" in why


def routed(over_single, over_mix, costs=(0.125, 0.5)):
    router, single, mixed, oracle, *_ = ROUTERS
    return (
        replace(router, cost=costs[0]),
        replace(single, gain=over_single, cost=costs[1]),
        replace(mixed, gain=over_mix),
        oracle,
    )


@pytest.mark.parametrize(
    ("over_single", "over_mix", "head", "frame"),
    [
        (0.0625, 0.0625, "✓ Route: 6.2 points more questions right than with far </", "✓"),
        (0.0625, -0.0234375, "but not than the same models drawn at random", "?"),
        (0.015625, 0.0625, "Too early to say whether routing is better", "?"),
        (-0.0625, 0.0625, "✗ Do not route: 6.2 points fewer questions right than with", "✗"),
    ],
)
def test_routing_is_worth_it_only_against_the_random_mix_too(over_single, over_mix, head, frame):
    """A mix of models at the same cost, drawn without reading, was better than the router once."""
    rows = routed(interval(over_single), interval(over_mix))
    answer = headlines.of_route(bare("fleet-route", routers=rows))
    assert sign(answer) == frame
    assert head in words(answer)[0]


@drawn
@given(over_single=estimates(-0.05, 0.3), over_mix=estimates(-0.05, 0.3))
def test_routing_pays_by_both_intervals_alone(over_single, over_mix):
    answer = headlines.of_route(bare("fleet-route", routers=routed(over_single, over_mix)))
    sure = all(one.n >= FEW_QUESTIONS and round(one.low, 3) > 0 for one in (over_single, over_mix))
    assert (sign(answer) == "✓") == sure


@pytest.mark.parametrize(
    ("costs", "frame", "end"),
    [
        ((2.5, 1.0), "✓", "at 150 % more cost by your prices"),
        ((1.015, 1.0), "✓", "at 1.5 % more cost by your prices"),
        ((0.125, 0.5), "✓", "at 75 % less cost by your prices"),
        ((1.0, 1.0), "✓", "alone"),
        ((None, 1.0), "✓", "alone"),
    ],
)
def test_the_cost_is_named_beside_the_gain(costs, frame, end):
    answer = headlines.of_route(
        bare("fleet-route", routers=routed(interval(0.0625), interval(0.0625), costs))
    )
    assert sign(answer) == frame
    assert words(answer)[0].endswith(end)


def test_a_router_alone_is_compared_with_nothing():
    for known in (ROUTERS[:1], ()):
        headline, _ = words(headlines.of_route(bare("fleet-route", routers=known)))
        assert headline == "? Too early to say whether routing pays: no known answers show it"


@pytest.mark.parametrize(("significant", "predicted"), [(95, 1), (94, 0)])
def test_a_benchmark_is_predicted_where_95_of_100_splits_are_significant(significant, predicted):
    row = replace(kept("fleet-predict").predictions[0], significant=significant)
    answer = headlines.of_predict(bare("fleet-predict", predictions=(row,)))
    assert f"on {predicted} of 1 benchmarks; " in words(answer)[0]
    assert sign(answer) == ("✓" if predicted else "?")


def test_communities_are_counted_after_the_correction_for_their_number():
    near = replace(COMMUNITIES[2], p_value=0.04, p_adjusted=0.08)
    cases = {
        0.08: "Communities not shown to",
        0.04: "Communities closer",
        None: "Too small to test",
    }
    for p_adjusted, start in cases.items():
        (sentence,) = said([headlines.of_communities((replace(near, p_adjusted=p_adjusted),))])
        assert sentence.startswith(start)
    assert headlines.of_communities(COMMUNITIES[:1]) == ()


def test_the_worst_model_and_category_are_named_with_how_many_there_are():
    (model,) = said(headlines.worst_model(kept("fleet-forecast").expected))
    assert model.endswith("alone, forecast 75 % [72, 78], observed 62 % [59, 66].")
    used = [row for row in SCORES if row.chosen]
    (sentence,) = said(headlines.wrong_answers(used))
    assert "of single answers are predicted wrongly" in sentence
    single = [row for row in ROUTERS if row.router == "single best"]
    parts = [replace(row, category="logic", gain=interval(-0.1)) for row in single][:1]
    (category,) = said(headlines.route_fails(parts))
    assert category.startswith("Routing loses most on logic: −10.0 [−13.1, −6.9] points on")
    unclear = [replace(row, gain=interval(0.0)) for row in parts]
    assert said(headlines.route_fails(unclear)) == [
        "Routing clearly loses in none of 1 categories."
    ]
