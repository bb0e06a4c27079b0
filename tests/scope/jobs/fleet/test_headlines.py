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
    return headlines.of_scores(bare("fleet-embed", scores=(mean, replace(used, gain=gain))))


def sign(answer):
    """The first letter of the headline."""
    return plain(answer.heading)[0]


def words(answer):
    """The headline and its evidence."""
    return said((answer.heading, answer.about))


@pytest.mark.parametrize(
    ("gain", "frame"),
    [(interval(-0.0625), "✗"), (Undefined(reason="one question"), "?"), (None, "?")],
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
    ("gaps", "shift", "head"),
    [
        ((-0.1, 0.01), interval(-0.0625), "✗ The forecasts are too high, by 6.2 points on average"),
        ((0.1, 0.01), interval(0.0625), "✗ The forecasts are too low, by 6.2 points on average"),
        (
            (0.01, -0.01),
            interval(0.01),
            "✓ The fleet predicts right and wrong answers: 70 % correct",
        ),
        ((0.1, -0.1), interval(0.01), "✗ Do not rely on single forecasts: 2 of 2 models’ results"),
        ((0.1, 0.1, *[0.01] * 6), interval(0.01), "✓ The fleet predicts"),
        (
            (0.1, 0.1, -0.1, *[0.01] * 5),
            interval(0.01),
            "✗ Do not rely on single forecasts: 3 of 8",
        ),
    ],
)
def test_forecasts_fail_that_are_shifted_or_miss_more_often_than_by_luck(gaps, shift, head):
    headline, why = words(forecast(gaps, shift))
    assert headline.startswith(head)
    assert "On other kinds of questions" in why
    if headline[0] == "✓":
        missed = sum(abs(gap) == 0.1 for gap in gaps)
        assert f"{missed} of {len(gaps)} models’ results clearly differ" in why


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
        (0.0625, 0.0625, "✓ Route: 6.2 points more accurate than far </", "✓"),
        (0.0625, -0.0234375, "but not clearly better than the same models drawn at random", "?"),
        (0.015625, 0.0625, "Too early to say whether routing is better", "?"),
        (-0.0625, 0.0625, "✗ Do not route: 6.2 points less accurate than far", "✗"),
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
        ((2.5, 1.0), "✓", "at 150 % higher cost (your prices)"),
        ((1.015, 1.0), "✓", "at 1.5 % higher cost (your prices)"),
        ((0.125, 0.5), "✓", "at 75 % lower cost (your prices)"),
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
    assert f"on {predicted} of 1 benchmark" in words(answer)[0]
    assert ("of 100 pairs are right" in words(answer)[0]) == bool(predicted)
    assert sign(answer) == ("✓" if predicted else "?")


def test_communities_are_counted_after_the_correction_for_their_number():
    near = replace(COMMUNITIES[2], p_value=0.04, p_adjusted=0.08)
    cases = {0.08: "are not clearly closer", 0.04: "are closer together", None: "Too small to test"}
    for p_adjusted, claim in cases.items():
        pairs = (replace(near, p_adjusted=p_adjusted),)
        (sentence,) = said(headlines.communities(bare("fleet-map", communities=pairs)))
        assert claim in sentence
    assert said(headlines.communities(bare("fleet-map", communities=COMMUNITIES[:1]))) == []


@pytest.mark.parametrize(
    ("forecaster", "end"),
    [("factors", "differ by 25 points"), ("mf(dimensions=2)", "differ by 0.25 in log-odds")],
)
def test_a_distance_has_the_unit_of_its_forecaster(forecaster, end):
    result = bare("fleet-map", fleet=kept("fleet-map").fleet, forecaster=forecaster)
    assert words(headlines.of_map(result))[0].endswith(end)
    distances = [distance for distance, *_ in headlines.nearest_pairs(result)]
    assert distances == [0.25] * 4


def test_where_it_fails_names_what_clearly_differs():
    known = [row for row in SCORES if row.chosen]
    clear = [
        replace(row, accuracy=interval(0.5)) if row.category == "logic" else row for row in known
    ]
    for rows, end in (
        (known, "most in law <"),
        (known[:1], "wrongly."),
        (clear, "wrongly, most in l"),
    ):
        (sentence, *_) = said(headlines.wrong_answers(bare("fleet-embed", scores=tuple(rows))))
        assert end in sentence
    single = next(row for row in ROUTERS if row.router == "single best")
    for gain, start in (
        (-0.1, "Routing loses most on logic: −10.0 [−13.1, −6.9] points on 400"),
        (0.0, "No category clearly loses; the lowest is logic: 0.0 [−3.1, +3.1]"),
    ):
        parts = (replace(single, category="logic", gain=interval(gain)),)
        (sentence,) = said(headlines.route_fails(bare("fleet-route", routers=parts)))
        assert sentence.startswith(start)
    fails, example = said(
        headlines.worst_of(bare("fleet-predict", predictions=kept("fleet-predict").predictions))
    )
    assert fails.startswith("Worst on law")
    assert example == ""
