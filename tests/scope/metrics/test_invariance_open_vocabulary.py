"""The metrics of pairs on language models, whose labels are the tokens that they name."""

import numpy as np
import pytest
from reference import invariance_reference as slow

from scope.metrics.arrays import open_rows, widened
from scope.metrics.catalog import METRICS
from scope.metrics.invariance import hard_scope_values, ood_agreement_values, soft_scope_values
from scope.records import Prediction

PAIR_METRICS = [METRICS[key] for key in ("ood_agreement", "hard_scope", "soft_scope")]
every_pair_metric = pytest.mark.parametrize("metric", PAIR_METRICS, ids=str)


def prediction(answer):
    ranked = sorted(answer, key=lambda token: (-answer[token], token))
    return Prediction(tokens=tuple(ranked), probabilities=tuple(answer[token] for token in ranked))


def arrays(pairs):
    """Four arrays of pairs, each of four answers as tokens with their probabilities."""
    every = [open_rows([prediction(answer) for answer in four]) for four in pairs]
    columns = max(rows.shape[1] for rows in every)
    return np.stack([widened(rows, columns) for rows in every], axis=1)


BY_HAND = (
    {"sea": 0.5, "end": 0.25},  # the reference: 0.25 for the rest
    {"sea": 0.5, "war": 0.125},  # end -0.25, war +0.125, rest +0.125
    {"sea": 0.375, "air": 0.125},  # the target: 0.5 for the rest
    {"sea": 0.25, "war": 0.125},  # sea -0.125, air -0.125, war +0.125, rest +0.125
)


def test_by_hand():
    # The changes differ by 0.25 in end, 0.125 in sea, 0.125 in air: 0.5 in all, and 0.5 lies at
    # three quarters of the way from 0.2 to 0.6.
    four = arrays([BY_HAND])
    assert hard_scope_values(*four, open_vocabulary=True).tolist() == [1]
    assert ood_agreement_values(*four, open_vocabulary=True).tolist() == [1]
    soft = soft_scope_values(*four, tolerance=0.2, cutoff=0.6, open_vocabulary=True)
    assert soft.tolist() == [pytest.approx(0.25)]


@every_pair_metric
def test_the_rest_is_no_label_even_where_it_holds_the_most(metric):
    # Rest: 0.7, 0.8, 0.6, 0.6; the target's likeliest token changes.
    four = arrays([({"a": 0.3}, {"a": 0.2}, {"a": 0.25, "b": 0.15}, {"a": 0.15, "b": 0.25})])
    assert metric.pair_values(*four, open_vocabulary=True).tolist() == [0]
    # Taken as a label, it would be kept by both models.
    assert METRICS["hard_scope"].pair_values(*four).tolist() == [1]


def test_the_rest_counts_in_distances():
    # Both keep their token; 0.2 of the target's mass leaves for tokens that nobody names.
    four = arrays([({"a": 0.9}, {"a": 0.9}, {"a": 0.9}, {"a": 0.7})])
    soft = soft_scope_values(*four, tolerance=0.0, cutoff=0.8, open_vocabulary=True)
    assert soft.tolist() == [pytest.approx(0.5)]


def random_answers(generator, count, vocabulary, named):
    """Answers that name the likeliest of their tokens."""
    rows = generator.dirichlet(np.full(vocabulary, 0.3), size=count)
    return [
        {f"t{place}": float(row[place]) for place in np.argsort(-row)[:named] if row[place] > 0}
        for row in rows
    ]


def random_pairs(seed, vocabulary=6, named=3, count=300):
    generator = np.random.default_rng(seed)
    four = [random_answers(generator, count, vocabulary, named) for _ in range(4)]
    pairs = zip(*four, strict=True)
    return [one for one in pairs if slow.open_label(one[0]) == slow.open_label(one[1])]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("named", [1, 3, 6])
def test_all_values_equal_the_slow_reference(seed, named):
    pairs = random_pairs(seed, named=named)
    four, lists = arrays(pairs), list(zip(*pairs, strict=True))
    assert len(pairs) > 20
    hard = hard_scope_values(*four, open_vocabulary=True)
    assert hard.tolist() == slow.open_hard_scope(lists[2], lists[3])
    agreement = ood_agreement_values(*four, open_vocabulary=True)
    assert agreement.tolist() == slow.open_hard_scope(lists[1], lists[3])
    for tolerance, cutoff in [(0.1, 1.0), (0.2, 0.2), (0.0, 3.0)]:
        soft = soft_scope_values(*four, tolerance=tolerance, cutoff=cutoff, open_vocabulary=True)
        expected = slow.open_soft_scope(*lists, tolerance, cutoff)
        np.testing.assert_allclose(soft, expected, atol=1e-9)
