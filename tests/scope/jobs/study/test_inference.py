"""Statistics with models as units: against formulas, on data without and with an effect."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from study_cases import answers_of

from scope.jobs.study import inference
from scope.jobs.study.inference import (
    ALL,
    PairTable,
    correlation,
    judge_number,
    mantel_p_value,
    spearman,
)
from scope.records import Undefined

seeds = st.integers(0, 100_000)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(inference, "PERMUTATIONS", 99)
    monkeypatch.setattr(inference, "DRAWS", 60)


@given(seeds)
def test_a_partial_correlation_is_that_of_the_three_correlations(seed):
    x, y, z = np.random.default_rng(seed).normal(size=(3, 12))
    (_, xy, xz), (_, _, yz), _ = np.corrcoef([x, y, z])
    expected = (xy - xz * yz) / math.sqrt((1 - xz**2) * (1 - yz**2))
    assert correlation(x, y, z) == pytest.approx(expected)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)


@pytest.mark.parametrize("second", [[1, 1, 1, 1], [2, 4, 6, 8]])
def test_no_correlation_is_left_of_what_the_control_explains(second):
    assert math.isnan(correlation([1, 3, 2, 5], second, [1, 2, 3, 4]))


def test_judges_that_favour_like_models_are_found_at_equal_accuracy():
    generator = np.random.default_rng(1)
    accuracy, similarity = generator.random(25), generator.random((25, 2))
    scores = 3 * accuracy[:, None] + 0.5 * similarity + generator.normal(0, 0.05, (25, 2))
    number = judge_number("both", scores, similarity, accuracy, 0)
    assert number.estimate.low > 0.8
    assert (number.estimate.n, number.p_value) == (25, 1 / 100)


def test_scores_by_accuracy_alone_show_no_affinity():
    """Accuracy raises scores and similarity: plain correlations are high, partial ones are not."""
    false, covered = 0, 0
    for seed in range(30):
        generator = np.random.default_rng(seed)
        accuracy = generator.random(12)
        scores, similarity = accuracy[:, None] + generator.normal(0, 0.1, (2, 12, 1))
        assert correlation(scores, similarity) > 0.5
        number = judge_number("judge", scores, similarity, accuracy, seed)
        false += number.p_value <= 0.05
        covered += number.estimate.low <= 0 <= number.estimate.high
    assert false <= 5
    assert covered >= 25


def test_few_models_and_a_judge_without_answers_have_no_number():
    few = judge_number("judge", np.ones((5, 1)), np.eye(5)[:, :1], np.arange(5.0), 0)
    unknown = judge_number("judge", np.ones((9, 1)), np.zeros((9, 0)), np.arange(9.0), 0)
    assert {type(few.estimate), type(unknown.estimate)} == {Undefined}
    assert (few.estimate.n, unknown.p_value) == (5, None)


def test_the_test_of_pairs_is_right_under_independence_although_pairs_share_models():
    p_values = []
    for seed in range(40):
        generator = np.random.default_rng(seed)
        own, skill = generator.normal(size=(2, 12))
        pairs = own[:, None] + own + generator.normal(0, 0.1, (12, 12))
        p_values.append(mantel_p_value(pairs + pairs.T, [skill[:, None] + skill], seed))
    assert np.mean(np.array(p_values) <= 0.05) <= 0.12
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.12)


def test_a_relation_that_a_control_explains_is_found_only_without_it():
    generator = np.random.default_rng(4)
    skill = generator.normal(size=12)
    gap = np.abs(skill[:, None] - skill)
    x, y = (
        gap + noise + np.swapaxes(noise, 0, 1) for noise in generator.normal(0, 0.1, (2, 12, 12))
    )
    assert mantel_p_value(y, [x], 0) == 1 / 100
    assert mantel_p_value(y, [x, gap], 0) > 0.05


def trend_of(pairs):
    value = inference.slope(pairs["accuracy"], pairs["capa"])
    return {("slope", ALL): (value, len(pairs["capa"]))}


def trend_numbers(table):
    models = len(table.asked)
    return inference.pair_numbers(table, np.zeros((models, models)), trend_of, ["accuracy"], 0)


def test_a_trend_made_up_of_shared_errors_is_found():
    """The better a model, the more often it gives the common wrong answer where it errs."""
    table = PairTable(answers_of(np.linspace(0.3, 0.6, 14), shared=np.linspace(0, 1, 14), seed=3))
    (number,) = trend_numbers(table)
    assert number.estimate.low > 0
    assert number.estimate.n == 91
    assert number.p_value == pytest.approx(1 / 100)
    assert number.estimate.method == "bootstrap over 14 models and 300 questions"


def test_independent_models_show_no_trend_and_the_interval_covers_zero():
    covered = 0
    for seed in range(10):
        skills = np.random.default_rng(seed).uniform(0.3, 0.8, 10)
        (number,) = trend_numbers(PairTable(answers_of(skills, shared=np.zeros(10), seed=seed)))
        covered += number.estimate.low <= 0 <= number.estimate.high
    assert covered >= 8


def test_models_that_never_err_have_no_trend():
    table = PairTable(answers_of(np.ones(5), shared=np.zeros(5), seed=0))
    assert isinstance(trend_numbers(table)[0].estimate, Undefined)
