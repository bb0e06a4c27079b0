"""A fleet's headline sentences are carried by the numbers below them."""

from dataclasses import replace

from headline_claims import (
    OVERLAPS,
    Claim,
    above_zero,
    below_zero,
    drawn,
    estimates,
    faults,
    holds_zero,
    overlapping,
    page_of,
    remarked,
    strays,
)
from hypothesis import given, strategies as st
from made_up_fleet_comparison import bare, scores

from scope.records import (
    BenchmarkPrediction,
    CommunityDistance,
    Contribution,
    ExpectedAccuracy,
    Undefined,
)
from scope.records.fleet import FEW_QUESTIONS


def ends_of_expected(said, facts):
    every = [one.accuracy for one in facts.expected]
    first, last = max(every, key=lambda one: one.value), min(every, key=lambda one: one.value)
    return (remarked(said, "first"), remarked(said, "last")) == (
        overlapping(first, every),
        overlapping(last, every),
    )


def predicted(said, facts):
    sure = sum(one.significant >= 0.95 * one.splits for one in facts.predictions)
    return (int(said.match[1]), int(said.match[2])) == (sure, len(facts.predictions))


def near(said, facts):
    tested = [one.p_adjusted for one in facts.communities]
    number = 0 if said.match[1] == "none" else int(said.match[1])
    return (number, int(said.match[2])) == (sum(p < 0.05 for p in tested), len(tested))


def too_high(said, facts):
    high = sum(one.shift.value < 0 for one in facts.expected)
    missed = sum(
        not one.accuracy.low <= one.observed.value <= one.accuracy.high for one in facts.expected
    )
    return [int(said.match[place]) for place in (1, 2, 3)] == [high, len(facts.expected), missed]


def counted(said, facts):
    sure = [
        one.value.n >= FEW_QUESTIONS and round(one.value.low, 3) > 0 for one in facts.contributions
    ]
    return (int(said.match[1]), int(said.match[2])) == (sum(sure), len(sure))


CONTRIBUTION = (
    r"from \w+ to \w+: "
    r"#(?P<rest>, which may be chance|, with too few questions for a conclusion)?\."
)
CLAIMS = (
    Claim(
        r".+ predicts # of the answers to unseen questions correctly; the mean of each model "
        r"predicts #; the difference is #\."
    ),
    Claim(
        r"The interval excludes 0\.",
        lambda said, _: above_zero(said.before[-1]) and said.before[-1].n >= FEW_QUESTIONS,
    ),
    Claim(r"The forecaster is worse than the mean\.", lambda said, _: below_zero(said.before[-1])),
    Claim(
        r"The interval includes 0: the difference may be chance\.",
        lambda said, _: holds_zero(said.before[-1]),
    ),
    Claim(
        r"There are too few questions for a conclusion\.",
        lambda said, _: said.before[-1].n < FEW_QUESTIONS,
    ),
    Claim(
        r"\w+ has the highest expected accuracy on the unseen questions: #"
        rf"{OVERLAPS.format('first')}(?:, observed #)?, \w+ the lowest: #"
        rf"{OVERLAPS.format('last')}(?:, observed #)?\.",
        ends_of_expected,
    ),
    Claim(r"No answer to an unseen question is known\.", lambda _, facts: facts.shift is None),
    Claim(
        r"Observed minus expected accuracy, the mean over the models, is #: (\d+) of (\d+) "
        r"forecasts lie above the observed accuracy, and the intervals of (\d+) leave it out\.",
        too_high,
    ),
    Claim(
        r"The forecasts are shifted\.",
        lambda said, _: not holds_zero(said.before[-1]) and said.before[-1].n >= FEW_QUESTIONS,
    ),
    Claim(
        r"The intervals of expected accuracies cover the sampling of questions only, not a shift "
        r"between the training questions and these\."
    ),
    Claim(
        r"(\d+) of (\d+) held-out benchmarks are predicted: the ranking of the models by predicted "
        r"accuracy agrees with the observed one, significantly in at least 95 % of the random "
        r"splits\.",
        predicted,
    ),
    Claim(
        r"Kendall’s τ is highest for \w+ with #(, lowest for \w+ with #)?\.",
        lambda said, facts: (
            [one.value for one in said.numbers]
            == [
                round(end(one.tau.value for one in facts.predictions), 3)
                for end in (max, min)[: len(said.numbers)]
            ]
        ),
    ),
    Claim(
        r"In (none|\d+) of (\d+) communities of 8 or more models these are closer to each other "
        r"than in random groups of the same size \(p < 0\.05 after Benjamini and Hochberg’s "
        r"correction\)\.",
        near,
    ),
    Claim(
        r"The intervals of (\d+) of (\d+) contributions of one benchmark to another are above 0; "
        r"they are not corrected for their number: 1 of 40 is expected without any effect\.",
        counted,
    ),
    Claim(
        r"No benchmark’s questions significantly improve forecasts on another\.",
        lambda _, facts: (
            not any(
                one.value.n >= FEW_QUESTIONS and round(one.value.low, 3) > 0
                for one in facts.contributions
            )
        ),
    ),
    Claim(
        rf"The largest contribution is {CONTRIBUTION}",
        lambda said, _: bool(said.match["rest"]) or not holds_zero(said.numbers[0]),
    ),
    Claim(
        r"The results are based on [\d,]+ answers of \d+ models to [\d,]+ questions: [\d.]+ % .* "
        r"known\."
    ),
)


def assert_carried(parse, job, **parts):
    facts = bare(f"fleet-{job}", **parts)
    document = page_of(facts, parse)
    assert not [*faults(document, CLAIMS, facts)]
    assert not [*strays(document)]


shares = estimates(0.3, 0.7)


@drawn
@given(gain=estimates(), accuracy=shares, mean=shares)
def test_a_forecaster_is_better_only_by_its_interval(parse, gain, accuracy, mean):
    first, _, used, *_ = scores()
    assert_carried(
        parse,
        "embed",
        scores=(
            replace(first, accuracy=mean),
            replace(used, forecaster="factors", accuracy=accuracy, gain=gain),
        ),
    )


@drawn
@given(accuracies=st.lists(shares, min_size=2, max_size=5, unique_by=lambda one: one.value))
def test_who_is_expected_to_be_right_most_often_is_said_with_all_that_may_be(parse, accuracies):
    assert_carried(
        parse,
        "forecast",
        expected=tuple(
            ExpectedAccuracy(model=f"m{place}", accuracy=accuracy)
            for place, accuracy in enumerate(accuracies)
        ),
    )


@drawn
@given(
    pairs=st.lists(
        st.tuples(shares, shares), min_size=2, max_size=5, unique_by=lambda one: one[0].value
    ),
    shift=estimates(-0.3, 0.3),
)
def test_observed_accuracies_stand_beside_the_expected_ones(parse, pairs, shift):
    assert_carried(
        parse,
        "forecast",
        expected=tuple(
            ExpectedAccuracy(
                model=f"m{place}",
                accuracy=accuracy,
                observed=observed,
                shift=replace(shift, value=gap, low=gap, high=gap),
            )
            for place, (accuracy, observed) in enumerate(pairs)
            for gap in [observed.value - accuracy.value]
        ),
        shift=shift,
    )


@drawn
@given(
    rows=st.lists(
        st.tuples(estimates(-0.9, 0.9), st.integers(0, 100)),
        min_size=1,
        max_size=4,
    )
)
def test_benchmarks_are_counted_as_predicted_by_their_splits(parse, rows):
    assert_carried(
        parse,
        "predict",
        predictions=tuple(
            BenchmarkPrediction(
                benchmark=f"b{place}",
                questions=40,
                models=6,
                tested=3,
                splits=100,
                significant=significant,
                tau=tau,
                mse=Undefined(reason="none"),
            )
            for place, (tau, significant) in enumerate(rows)
        ),
    )


@drawn
@given(values=st.lists(estimates(-0.02, 0.1), min_size=1, max_size=60))
def test_contributions_help_only_where_more_do_than_by_chance(parse, values):
    assert_carried(
        parse,
        "map",
        contributions=tuple(
            Contribution(source=f"b{place}", target="other", value=value)
            for place, value in enumerate(values)
        ),
    )


@drawn
@given(p_values=st.lists(st.sampled_from([0.001, 0.02, 0.0499, 0.05, 0.3]), min_size=1, max_size=5))
def test_communities_are_counted_by_their_corrected_p_values(parse, p_values):
    assert_carried(
        parse,
        "map",
        communities=tuple(
            CommunityDistance(
                first=f"c{place}",
                second=f"c{place}",
                pairs=3,
                distance=Undefined(reason="none"),
                p_value=p / 2,
                p_adjusted=p,
            )
            for place, p in enumerate(p_values)
        ),
    )
