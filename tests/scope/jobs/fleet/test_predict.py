from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import kendalltau
from sklearn.linear_model import LinearRegression, RidgeCV

from scope.jobs.fleet.predict import LeftOut, contribution_matrix, leave_out, predict_benchmark
from scope.records import Undefined
from scope.records.fleet import EVERY

NAN = np.nan


def predicted(vectors, observed, **options):
    names = [f"m{row}" for row in range(len(observed))]
    left = LeftOut("arc", names, np.asarray(vectors, float), np.asarray(observed, float), 25)
    return predict_benchmark(left, **{"splits": 20, **options})


def made_up(models=60, dimensions=4, noise=0.05, seed=0):
    generator = np.random.default_rng(seed)
    vectors = generator.standard_normal((models, dimensions))
    observed = 0.5 + 0.1 * vectors[:, 0] + noise * generator.standard_normal(models)
    return vectors, observed


def test_chance_is_significant_in_few_splits():
    generator = np.random.default_rng(1)
    found = predicted(generator.standard_normal((200, 3)), generator.random(200), splits=40)
    # All splits share their models, so that the count for one set of models is no 2.5 %.
    assert found.significant < 9
    assert abs(found.tau.value) < 0.1


def test_an_order_predicted_upside_down_is_not_counted():
    # Of each two models that are alike, one fails: whoever learns from one errs about the other.
    found = predicted(np.repeat(np.eye(20), 2, axis=0), np.tile([0.1, 0.9], 20))
    assert found.tau.high < 0
    assert found.significant == 0


def test_one_split_is_a_ridge_regression_on_standardised_vectors():
    vectors, observed = made_up(models=12)
    found = predicted(vectors, observed, splits=1, seed=5)
    order = np.random.default_rng(5).permutation(12)
    known, asked = order[:6], order[6:]
    standard = (vectors - vectors[known].mean(axis=0)) / vectors[known].std(axis=0)
    # It takes the strength of the least error on each model left out.
    oracle = RidgeCV(10.0 ** np.arange(-2, 5)).fit(standard[known], observed[known])
    guess = oracle.predict(standard[asked])
    assert found.mse.value == pytest.approx(((guess - observed[asked]) ** 2).mean())
    assert found.tau.value == pytest.approx(kendalltau(guess, observed[asked]).statistic)
    points = {one.model: one.predicted for one in found.points}
    assert points == pytest.approx({f"m{row}": p for row, p in zip(asked, guess, strict=True)})


def test_without_a_ridge_it_is_scikit_learns_linear_regression():
    vectors, observed = made_up(models=40)
    found = predicted(vectors, observed, splits=1, seed=5, ridge=False)
    order = np.random.default_rng(5).permutation(40)
    known, asked = order[:20], order[20:]
    guess = LinearRegression().fit(vectors[known], observed[known]).predict(vectors[asked])
    assert found.errors == pytest.approx((((guess - observed[asked]) ** 2).mean(),))
    assert found.tau.value == pytest.approx(kendalltau(guess, observed[asked]).statistic)


def test_vectors_that_are_all_alike_order_nothing():
    found = predicted(np.ones((20, 3)), np.linspace(0, 1, 20))
    assert (found.tau.value, found.significant) == (0, 0)


@pytest.mark.parametrize(
    ("vectors", "observed", "reason"),
    [
        (np.ones((9, 2)), np.linspace(0, 1, 9), "9 models, and 10 are needed"),
        (np.random.default_rng(0).random((20, 2)), np.full(20, 0.25), "all 20 models score 0.250"),
    ],
)
def test_too_few_models_or_a_constant_benchmark_are_undefined(vectors, observed, reason):
    found = predicted(vectors, observed)
    assert found.tau == found.mse == Undefined(reason=reason, n=len(observed))
    assert (found.splits, found.significant, found.tested, found.points) == (0, 0, 0, ())


ANSWERS = [[1, 0, NAN, 1], [0, 0, NAN, NAN], [1, NAN, 1, NAN], [0, NAN, 1, 1]]


def test_a_benchmark_is_left_out_of_what_vectors_are_learned_from(matrix_of):
    matrix = matrix_of(ANSWERS, categories=("arc", None, "gsm8k", "gsm8k"))
    seen = []

    def embed(rows, columns):
        seen.append((rows.tolist(), columns.tolist()))
        return np.array([[column, 10.0] for column in columns])

    left = leave_out(matrix, "gsm8k", embed)
    # The third model answered nothing else, the second nothing of the benchmark.
    assert seen == [([0, 1], [0, 1, 3])]
    assert left.models == ["a", "d"]
    assert left.vectors.tolist() == [[0, 10], [3, 10]]
    assert left.observed.tolist() == [0.5, 1]
    assert left.questions == 2
    leave_out(matrix, "gsm8k", embed, without=["arc"])
    assert seen[1] == ([1], [0, 1])


NAMES = ("arc", "gsm8k", "law")


def prediction(benchmark, errors, models=12):
    """What contributions are computed from; whose other numbers are not needed."""
    names = [f"m{row}" for row in range(models)]
    vectors, observed = made_up(models)
    left = LeftOut(benchmark, names, vectors, observed, 1)
    return replace(predict_benchmark(left, splits=1), errors=tuple(errors))


def contributed(predict, targets=NAMES):
    found = contribution_matrix(predict, targets, NAMES)
    return {(one.source, one.target): one.value for one in found}


ERRORS = {("arc",): [0.10, 0.20], ("arc", "gsm8k"): [0.20, 0.40], ("arc", "law"): [0.10, 0.10]}


def test_a_contribution_is_the_error_without_minus_the_error_with_split_by_split():
    found = contributed(lambda *names: prediction(names[0], ERRORS[names]), ["arc"])
    gsm8k = found["gsm8k", "arc"]
    assert (gsm8k.value, gsm8k.n) == (pytest.approx(0.15), 12)
    assert (gsm8k.low, gsm8k.high) == pytest.approx(np.percentile([0.1, 0.2], [2.5, 97.5]))
    assert found["law", "arc"].value == pytest.approx(-0.05)
    assert found["arc", "arc"].value == 0


@given(st.integers(0, 1000))
def test_the_sums_are_those_of_rows_and_columns(seed):
    generator = np.random.default_rng(seed)
    found = contributed(lambda *names: prediction(names[0], generator.random(5)))
    for name in NAMES:
        others = [other for other in NAMES if other != name]
        row, column = found[name, EVERY].value, found[EVERY, name].value
        assert row == pytest.approx(sum(found[name, other].value for other in others))
        assert column == pytest.approx(sum(found[other, name].value for other in others))


def test_splits_of_other_models_or_none_are_not_compared():
    def predict(target, *without):
        if "law" in without:
            return prediction(target, [0.1, 0.2], models=11)
        return prediction(target, [] if "gsm8k" in without else [0.1, 0.2])

    found = contributed(predict, ["arc"])
    assert found["arc", "arc"].value == 0
    unknown = [("gsm8k", "arc"), ("law", "arc"), (EVERY, "arc"), ("gsm8k", EVERY), ("law", EVERY)]
    assert {type(found[place]) for place in unknown} == {Undefined}
