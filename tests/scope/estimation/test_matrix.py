"""What several audits show together, by hand."""

import numpy as np
import pytest

from scope.estimation.matrix import measure_matrix
from scope.records import Measurement, Undefined
from scope.statistics import mean_estimate, sign_flip_p_value
from scope.statistics.between_models import mean_over_models


def measured(reference, target, values, metric="hard_scope", capability="typo", ids=None):
    ids = ids or [f"e{place}" for place in range(len(values))]
    return Measurement(
        metric=metric,
        target=target,
        against=reference,
        capability=capability,
        estimate=mean_estimate(values, ids, low=-1.0, empty="no pair"),
        example_ids=tuple(ids),
        values=tuple(map(float, values)),
    )


def test_an_asymmetry_is_that_of_the_example_means_of_shared_examples():
    # e2 has no pair in one direction; e0 has two in the other.
    forth = measured("a", "b", [1, 0, 1, 1], ids=["e0", "e0", "e1", "e2"])
    back = measured("b", "a", [0, 0], ids=["e0", "e1"])
    (found,) = measure_matrix([forth, back], {}, seed=0).asymmetries
    assert (found.first, found.second, found.estimate.n) == ("a", "b", 2)
    assert found.estimate.value == pytest.approx((0.5 + 1) / 2)


def test_asymmetries_have_sign_flip_p_values_that_are_corrected_together():
    rows = [
        measured("a", "b", [1] * 8),
        measured("b", "a", [0] * 8),
        measured("a", "c", [1] * 8),
        measured("c", "a", [1] * 8),
    ]
    apart, alike = measure_matrix(rows, {}, seed=3).asymmetries
    ids = [f"e{place}" for place in range(8)]
    expected = sign_flip_p_value([1] * 8, [0] * 8, ids, np.random.default_rng(3))
    assert apart.p_value == expected
    assert apart.p_adjusted == pytest.approx(2 * expected)
    assert (alike.p_value, alike.p_adjusted) == (1.0, 1.0)


def twelve_directions(shift=0.0):
    names = ["a", "b", "c", "d"]
    pairs = [(one, two) for one in names for two in names if one != two]
    rows = []
    for place, (reference, target) in enumerate(pairs):
        share = place / 12 + shift
        other = 1 - share**2
        rows.append(measured(reference, target, [share, share]))
        rows.append(measured(reference, target, [other, other], "ood_agreement"))
        rows.append(measured(reference, target, [0.5, 0.5], "iid_accuracy_gap", None))
    return rows


def test_correlations_are_over_all_ordered_pairs_and_undefined_without_variance():
    with_agreement, with_gap = measure_matrix(twelve_directions(), {}, seed=0).correlations
    assert (with_agreement.metric, with_agreement.other) == ("hard_scope", "ood_agreement")
    shares = np.arange(12) / 12
    assert with_agreement.estimate.value == pytest.approx(np.corrcoef(shares, -(shares**2))[0, 1])
    assert with_agreement.estimate.n == 12
    assert isinstance(with_gap.estimate, Undefined)


def test_the_order_of_the_measurements_plays_no_part():
    rows, groups = twelve_directions(), {"g": ["b", "c"]}
    forth, back = (measure_matrix(some, groups, seed=0) for some in (rows, rows[::-1]))
    key = repr
    for name in ("asymmetries", "correlations", "groups"):
        assert sorted(getattr(forth, name), key=key) == sorted(getattr(back, name), key=key)


def test_a_group_is_the_mean_of_its_members_against_each_reference():
    rows = [
        measured("r", "a", [1, 1, 0]),
        measured("r", "b", [1, 0, 0]),
        measured("a", "b", [1, 1, 1]),
        measured("r", "a", [0.5], "iid_accuracy_gap", None),
    ]
    of_r, of_a = sorted(
        measure_matrix(rows, {"g": ["a", "b"]}, seed=0).groups, key=lambda one: one.against == "a"
    )
    assert (of_r.against, of_r.members) == ("r", ("a", "b"))
    ids = ["e0", "e1", "e2"]
    assert of_r.estimate == mean_over_models([[1, 1, 0], [1, 0, 0]], ids)
    assert of_r.estimate.value == pytest.approx(0.5)
    assert of_a.members == ("b",)
    assert isinstance(of_a.estimate, Undefined)


def test_a_degenerate_model_is_in_no_correlation_and_leaves_its_group_undefined():
    found = measure_matrix(twelve_directions(), {"g": ["b", "c"]}, {"c": "one answer"}, seed=0)
    assert str(found.correlations[0].estimate) == "undefined (fewer than 4 models)"
    assert found.correlations[0].estimate.n == 6
    means = {one.against: one.estimate for one in found.groups if one.metric == "hard_scope"}
    assert str(means["a"]) == "undefined (c is degenerate: one answer)"
