import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.jobs.fleet.contributions import contribution_matrix
from scope.records import BenchmarkPrediction, Undefined
from scope.records.fleet import EVERY

UNKNOWN = Undefined(reason="not needed here")
NAMES = ("arc", "gsm8k", "law")


def prediction(benchmark, errors, models=12):
    return BenchmarkPrediction(
        benchmark=benchmark,
        questions=1,
        models=models,
        tested=6,
        splits=len(errors),
        significant=0,
        tau=UNKNOWN,
        mse=UNKNOWN,
        errors=tuple(errors),
    )


def matrix(predict, targets=NAMES):
    found = contribution_matrix(predict, targets, NAMES)
    return {(one.source, one.target): one.value for one in found}


ERRORS = {
    ("arc",): [0.10, 0.20],
    ("arc", "gsm8k"): [0.20, 0.40],
    ("arc", "law"): [0.10, 0.10],
}


def test_it_is_the_error_without_minus_the_error_with_split_by_split():
    found = matrix(lambda *names: prediction(names[0], ERRORS[names]), ["arc"])
    assert found["gsm8k", "arc"].value == pytest.approx(0.15)
    assert (found["gsm8k", "arc"].low, found["gsm8k", "arc"].high) == pytest.approx(
        np.percentile([0.1, 0.2], [2.5, 97.5])
    )
    assert found["law", "arc"].value == pytest.approx(-0.05)
    assert found["gsm8k", "arc"].n == 12
    assert found["arc", "arc"].value == 0


@given(st.integers(0, 1000))
def test_the_sums_are_those_of_rows_and_columns(seed):
    generator = np.random.default_rng(seed)
    found = matrix(lambda *names: prediction(names[0], generator.random(5)))
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

    found = matrix(predict, ["arc"])
    assert found["arc", "arc"].value == 0
    unknown = [("gsm8k", "arc"), ("law", "arc"), (EVERY, "arc"), ("gsm8k", EVERY), ("law", EVERY)]
    assert {type(found[place]) for place in unknown} == {Undefined}
