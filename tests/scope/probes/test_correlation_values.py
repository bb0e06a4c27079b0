import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from scope.probes.correlation_values import pearson, pearson_without, spearman_without


@pytest.mark.parametrize(
    ("without", "oracle"), [(pearson_without, pearsonr), (spearman_without, spearmanr)]
)
@given(seed=st.integers(0, 2**32 - 1), pairs=st.integers(3, 30), many=st.integers(2, 30))
def test_each_is_scipys_on_the_pairs_that_are_left(without, oracle, seed, pairs, many):
    """With many ties, and groups of all sizes."""
    generator = np.random.default_rng(seed)
    given, wanted = generator.integers(0, 4, (2, pairs)) * 1.0
    groups = np.unique(generator.integers(0, many, pairs), return_inverse=True)[1]
    assume(groups.any())
    for group, found in enumerate(without(given, wanted, groups)):
        kept = groups != group
        if kept.sum() > 1 and np.ptp(given[kept]) and np.ptp(wanted[kept]):
            assert found == pytest.approx(oracle(given[kept], wanted[kept])[0], abs=1e-9)
        else:
            assert math.isnan(found)


def test_a_pair_beside_which_all_others_vanish_hides_nothing_of_them():
    given, wanted = np.array([1e9, 0, 1, 2, 3.0]), np.array([1e9, 0, 2, 1, 3.0])
    found = pearson_without(given, wanted, np.arange(5))
    assert found[0] == pytest.approx(pearsonr(given[1:], wanted[1:])[0], abs=1e-9)


def test_of_a_constant_there_is_no_correlation_though_its_mean_has_an_error():
    assert math.isnan(pearson(np.full(5, 0.1), np.arange(5.0)))
    assert np.isnan(pearson_without(np.full(5, 0.1), np.arange(5.0), np.arange(5))).all()
    # Constant but for one pair: without that one alone there is none.
    found = pearson_without(np.array([0.1, 0.1, 0.1, 7.0]), np.arange(4.0), np.arange(4))
    assert np.isnan(found).tolist() == [False, False, False, True]
