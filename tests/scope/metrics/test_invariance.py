import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import invariance_reference as slow

from scope.metrics.catalog import METRICS
from scope.metrics.invariance import hard_scope_values, ood_agreement_values, soft_scope_values

PAIR_METRICS = [METRICS[key] for key in ("ood_agreement", "hard_scope", "soft_scope")]
every_pair_metric = pytest.mark.parametrize("metric", PAIR_METRICS, ids=str)


def random_pairs(seed: int, labels: int, count: int = 200):
    """Random predictions on I_R; peaked enough that many pairs lie between the Soft bounds."""
    generator = np.random.default_rng(seed)
    clean = generator.dirichlet(np.ones(labels), size=(2, count))
    other = generator.dirichlet(np.ones(labels), size=(2, count))
    weight = generator.random((2, count, 1))
    perturbed = weight * clean + (1 - weight) * other
    kept = slow.invariant_pairs(clean[0].tolist(), perturbed[0].tolist())
    return clean[0][kept], perturbed[0][kept], clean[1][kept], perturbed[1][kept]


@pytest.mark.parametrize("labels", [2, 3, 5])
@pytest.mark.parametrize("seed", range(20))
def test_all_values_equal_the_slow_reference(seed, labels):
    pairs = random_pairs(seed, labels)
    lists = [array.tolist() for array in pairs]
    assert len(lists[0]) > 50
    expected_ood = slow.ood_agreement(lists[1], lists[3])
    np.testing.assert_allclose(ood_agreement_values(*pairs), expected_ood, atol=1e-9)
    expected_hard = slow.hard_scope(lists[2], lists[3])
    np.testing.assert_allclose(hard_scope_values(*pairs), expected_hard, atol=1e-9)
    for tolerance, cutoff in [(0.1, 1.0), (0.0, 0.3), (0.2, 0.2), (0.0, 2.0)]:
        found = soft_scope_values(*pairs, tolerance=tolerance, cutoff=cutoff)
        expected = slow.soft_scope(*lists, tolerance, cutoff)
        np.testing.assert_allclose(found, expected, atol=1e-9)


@every_pair_metric
@pytest.mark.parametrize("seed", range(3))
def test_identical_models_share_everything(metric, seed):
    clean, perturbed, _, _ = random_pairs(seed, 3)
    assert metric.pair_values(clean, perturbed, clean, perturbed).tolist() == [1] * len(clean)


@pytest.mark.parametrize(
    ("target_perturbed", "expected"),
    [
        ([0.8, 0.2], 1.0),
        ([0.7, 0.3], 0.75),
        ([0.6, 0.4], 0.5),
        ([0.51, 0.49], 0.275),
        ([0.4, 0.6], 0),
    ],
)
def test_soft_scope_falls_on_a_line_between_tolerance_and_cutoff(target_perturbed, expected):
    still = [[0.9, 0.1]]
    values = soft_scope_values(still, still, still, [target_perturbed], tolerance=0.2, cutoff=1.0)
    assert values.tolist() == [pytest.approx(expected)]


def test_soft_scope_with_equal_bounds_is_a_step_that_holds_at_the_bound():
    still, half = [[1.0, 0.0]] * 3, [[1.0, 0.0], [0.75, 0.25], [0.625, 0.375]]
    values = soft_scope_values(still, still, still, half, tolerance=0.5, cutoff=0.5)
    assert values.tolist() == [1, 1, 0]


def test_hard_scope_asks_the_target_about_itself_and_ood_agreement_about_the_reference():
    reference, opposite = [[0.9, 0.1]], [[0.1, 0.9]]
    assert hard_scope_values(reference, reference, opposite, opposite).tolist() == [1]
    assert ood_agreement_values(reference, reference, opposite, opposite).tolist() == [0]
    assert hard_scope_values(reference, reference, opposite, reference).tolist() == [0]
    assert ood_agreement_values(reference, reference, opposite, reference).tolist() == [1]


@given(seed=st.integers(0, 10_000), tolerance=st.floats(0, 2), width=st.floats(0, 2))
def test_soft_scope_lies_between_zero_and_hard_scope(seed, tolerance, width):
    pairs = random_pairs(seed, 3, count=20)
    soft = soft_scope_values(*pairs, tolerance=tolerance, cutoff=tolerance + width)
    assert (soft >= 0).all()
    assert (soft <= hard_scope_values(*pairs)).all()


@given(seed=st.integers(0, 10_000), cutoffs=st.tuples(st.floats(0.1, 2), st.floats(0.1, 2)))
def test_soft_scope_never_falls_with_a_greater_cutoff(seed, cutoffs):
    pairs = random_pairs(seed, 3, count=20)
    low, high = (
        soft_scope_values(*pairs, tolerance=0.1, cutoff=cutoff) for cutoff in sorted(cutoffs)
    )
    assert (low <= high + 1e-12).all()


@every_pair_metric
def test_a_pair_on_which_the_reference_is_not_invariant_is_refused(metric):
    still, moved = [0.9, 0.1], [0.1, 0.9]
    with pytest.raises(ValueError, match="on pair 1"):
        metric.pair_values([still, still], [still, moved], [still, still], [still, still])


@every_pair_metric
@pytest.mark.parametrize("position", range(4))
def test_answers_that_are_no_probabilities_are_refused_wherever_they_stand(metric, position):
    predictions = [[[0.5, 0.5]]] * 4
    predictions[position] = [[np.nan, 1.0]]
    with pytest.raises(ValueError, match="no probabilities"):
        metric.pair_values(*predictions)


@pytest.mark.parametrize(("tolerance", "cutoff"), [(0.9, 0.1), (-1, 0.1), (0, np.inf)])
def test_bounds_in_the_wrong_order_are_refused(tolerance, cutoff):
    answers = [[0.9, 0.1]]
    with pytest.raises(ValueError, match="not 0 <= tolerance"):
        soft_scope_values(*[answers] * 4, tolerance=tolerance, cutoff=cutoff)
