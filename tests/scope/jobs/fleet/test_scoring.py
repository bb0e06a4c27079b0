import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.jobs.fleet.selection import forecast_scores, hit_shares, reliability
from scope.records import Undefined

NAN = np.nan
FORETOLD = np.array([[0.9, 0.4, 0.6], [0.2, 0.7, 0.5], [0.8, 0.8, 0.1], [0.3, 0.3, 0.3]])
ANSWERS = np.array([[1, 0, 0], [0, NAN, 1], [NAN, NAN, NAN], [1, 1, NAN]])
IDS = ["a", "b", "c", "d"]


@st.composite
def forecasts(draw):
    """Forecasts, answers of which some are unknown, ids and categories."""
    generator = np.random.default_rng(draw(st.integers(0, 10_000)))
    shape = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    answers = generator.choice([0, 1, NAN], size=shape).astype(np.float32)
    probabilities = generator.choice([0, 0.05, 0.3, 0.5, 0.7, 1], size=shape).astype(np.float32)
    ids = [f"q{row}" for row in range(shape[0])]
    return probabilities, answers, ids, generator.choice(["law", "art"], size=shape[0]).tolist()


def test_accuracy_is_the_mean_over_questions_with_known_answers():
    # 2 of 3, then 1 of 2 (0.5 does not predict a right answer), nothing known, 0 of 2.
    assert hit_shares(FORETOLD, ANSWERS) == pytest.approx([2 / 3, 0.5, NAN, 0], nan_ok=True)
    mean = np.full(FORETOLD.shape, 0.9)
    (score,) = forecast_scores(FORETOLD, ANSWERS, IDS, forecaster="knn", mean_probabilities=mean)
    assert score.accuracy.value == pytest.approx((2 / 3 + 0.5 + 0) / 3)
    assert score.accuracy.n == score.gain.n == 3
    # The mean predicts 1 of 3, 1 of 2 and 2 of 2.
    assert score.gain.value == pytest.approx(((2 - 1) / 3 + 0 - 1) / 3)
    errors = [(0.01 + 0.16 + 0.36) / 3, (0.04 + 0.25) / 2, 0.49]
    assert score.brier.value == pytest.approx(sum(errors) / 3)


def test_a_category_is_scored_as_if_it_stood_alone():
    scores = forecast_scores(
        FORETOLD, ANSWERS, IDS, forecaster="knn", categories=["law", "art", "law", "law"]
    )
    assert [score.category for score in scores] == [None, "art", "law"]
    (alone,) = forecast_scores(
        FORETOLD[[0, 2, 3]], ANSWERS[[0, 2, 3]], ["a", "c", "d"], forecaster="knn"
    )
    assert scores[2].accuracy == alone.accuracy
    assert scores[2].brier == alone.brier


def test_a_category_without_a_known_answer_is_undefined_and_the_rest_is_not():
    every, empty, known = forecast_scores(
        FORETOLD, ANSWERS, IDS, forecaster="knn", mean_probabilities=FORETOLD,
        categories=["law", "law", "art", "law"],
    )  # fmt: skip
    assert all(
        isinstance(number, Undefined) for number in (empty.accuracy, empty.brier, empty.gain)
    )
    assert every.accuracy == known.accuracy


def test_a_bin_holds_its_lower_edge_and_the_last_one_also_holds_one():
    predicted, answers = np.array([[0.0, 0.5, 1.0]]), np.array([[0, 1, 1]])
    low, high = reliability(predicted, answers, ["a"], bins=2)
    assert (low.low, low.high, low.predicted, low.observed.value) == (0, 0.5, 0, 0)
    assert (high.low, high.high, high.predicted, high.observed.value) == (0.5, 1, 0.75, 1)


@given(forecasts(), st.integers(1, 12))
def test_bins_agree_with_a_slow_count_of_every_answer(made, bins):
    probabilities, answers, ids, _ = made
    cells = [
        (min(int(p * bins + 1e-9), bins - 1), p, y)
        for p, y in zip(probabilities.astype(float).ravel().round(6), answers.ravel(), strict=True)
        if not np.isnan(y)
    ]
    # Edges such as 0.3 are no binary fractions; a number on an edge may fall on either side.
    if any(abs(p * bins - round(p * bins)) < 1e-6 and 0 < p < 1 for _, p, _ in cells):
        return
    found = reliability(probabilities, answers, ids, bins=bins)
    wanted = {place for place, _, _ in cells}
    assert len(found) == len(wanted)
    for one, place in zip(found, sorted(wanted), strict=True):
        inside = [(p, y) for at, p, y in cells if at == place]
        predicted, observed = np.mean(inside, axis=0)
        assert (one.predicted, one.observed.value) == pytest.approx((predicted, observed))
