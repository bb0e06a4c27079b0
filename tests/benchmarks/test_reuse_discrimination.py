"""Rates of telling pairs apart, by hand and against pairs that are drawn one by one."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reuse_discrimination import discrimination, rates, weights_of_draws
from reuse_pairs import Lineage


def lineage(related, *, models):
    """All pairs of so many models, of which the first ones are related."""
    pairs = np.array(list(combinations(range(models), 2)))
    is_related = np.arange(len(pairs)) < related
    return Lineage(pairs, is_related, ~is_related)


def once(values, pairs):
    auroc, caught = rates(np.array(values, dtype=float), pairs, np.ones((1, len(values))))
    return auroc[0], caught[0]


def test_auroc_counts_the_unrelated_pairs_below_and_half_of_those_alike():
    # Three models, three pairs: the related 2 lies above 1 and ties with 2.
    auroc, caught = once([2, 1, 2], lineage(1, models=3))
    assert (auroc, caught) == (0.75, 0)


@pytest.mark.parametrize(("above", "caught"), [(0, 1), (1, 1), (2, 0)])
def test_one_of_a_hundred_unrelated_pairs_may_reach_a_related_one(above, caught):
    pairs = lineage(5, models=15)  # 5 related and 100 unrelated
    assert once([1.0] * 5 + [1.0] * above + [0.0] * (100 - above), pairs)[1] == caught


def test_with_fewer_than_a_hundred_unrelated_pairs_none_may_reach_a_related_one():
    pairs = lineage(5, models=14)  # 86 unrelated
    assert once([2.0] * 4 + [1.0] + [1.0] + [0.0] * 85, pairs)[1] == 4 / 5


def test_pairs_that_are_neither_count_for_nothing():
    pairs = lineage(1, models=3)
    without = pairs._replace(unrelated=np.array([False, True, False]))
    assert once([2, 1, 9], pairs)[0] == 0.5
    assert once([2, 1, 9], without)[0] == 1


def test_a_measure_that_is_never_wrong_is_so_in_every_draw():
    pairs = lineage(4, models=6)
    found = discrimination(pairs.related.astype(float), pairs, draws=100)
    assert found.auroc == found.true_positives == (1, 1, 1)


def test_the_interval_holds_the_value_and_is_the_same_every_time():
    values = np.random.default_rng(3).normal(size=66)
    first, again = (discrimination(values, lineage(9, models=12)) for _ in range(2))
    assert first == again
    assert first.auroc.low < first.auroc.value < first.auroc.high


def test_a_pair_weighs_as_often_as_both_its_models_were_drawn():
    pairs = np.array([[3, 7], [3, 9], [7, 9]])
    weights = weights_of_draws(pairs, 300)
    # Three draws of three models: once each, or one twice and another once, or one thrice.
    assert {tuple(sorted(one)) for one in weights.tolist()} == {(1, 1, 1), (0, 0, 2), (0, 0, 0)}


@given(st.integers(0, 10_000))
def test_weights_do_what_repeating_the_pairs_does(seed):
    generator = np.random.default_rng(seed)
    pairs = lineage(int(generator.integers(1, 9)), models=6)
    values = generator.integers(0, 4, size=len(pairs.pairs)).astype(float)
    weights = generator.integers(0, 4, size=len(values))
    weights[[0, -1]] = 1  # at least one of either kind
    repeated = Lineage(*(np.repeat(part, weights, axis=0) for part in pairs))
    weighted = [one[0] for one in rates(values, pairs, weights[None].astype(float))]
    assert weighted == pytest.approx(once(np.repeat(values, weights), repeated))
