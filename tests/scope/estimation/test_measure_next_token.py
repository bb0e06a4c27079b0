"""The numbers of an audit of language models, on predictions made by hand."""

import pytest

from scope.estimation.audits import OF_TOKENS, measure
from scope.metrics.catalog import METRICS
from scope.records import Prediction, Undefined


def says(**shares):
    return Prediction(tokens=tuple(shares), probabilities=tuple(shares.values()))


BY_HAND = [
    # The reference stays at "a". The first target stays at "b", the second leaves "a" for "c".
    # Changes: reference a 0.125, rest -0.125; first b 0.125, rest -0.125; apart by 0.25.
    (None, says(a=0.5), says(a=0.375), says(b=0.5), says(b=0.375), says(a=0.5), says(c=0.5)),
    # All stay at "a" and move alike; the reference is sure.
    (None, says(a=0.875), says(a=0.75), says(a=0.5), says(a=0.375), says(a=0.5), says(a=0.375)),
    # The reference leaves "a" for "b": no pair of I_R.
    (None, says(a=0.5), says(b=0.5), says(a=0.5), says(a=0.5), says(a=0.5), says(a=0.5)),
]


@pytest.fixture(scope="module")
def numbers(scored):
    return measure(
        *scored(BY_HAND),
        capabilities=["typo"],
        targets=["first", "second"],
        labels=(),
        soft_scope=METRICS["soft_scope"].at(tolerance=0.0, cutoff=0.5),
        seed=0,
    )


def values(numbers, target):
    return {
        one.metric.partition("(")[0]: one.values
        for one in numbers.measurements
        if one.target == target and one.subset is None
    }


def test_by_hand(numbers):
    assert values(numbers, "first") == {
        "iid_agreement": (0, 1, 1),
        "iid_accuracy_gap": (),
        "ood_agreement": (0, 1),
        "hard_scope": (1, 1),
        "soft_scope": (pytest.approx(0.5), 1),
    }
    assert values(numbers, "second") == {
        "iid_agreement": (1, 1, 1),
        "iid_accuracy_gap": (),
        "ood_agreement": (0, 1),
        "hard_scope": (0, 1),
        "soft_scope": (0, 1),
    }


def test_nothing_is_right_or_wrong_about_a_token(numbers):
    gaps = [one.estimate for one in numbers.measurements if one.metric == "iid_accuracy_gap"]
    assert gaps == [Undefined(reason=OF_TOKENS)] * 2
