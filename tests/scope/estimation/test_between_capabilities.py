"""One target on two capabilities, by hand, by the order of texts, and by simulation."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from scope.estimation.audits import between_capabilities


def texts(values, first=0):
    return {f"e{place}": value for place, value in enumerate(values, first)}


ONE = ("teacher", None)
"""The reference, and no baseline."""

TYPO, SYNONYM = texts([1, 0, 0.5, 0.5]), texts([1, 1, 0.5], first=2)


def test_a_difference_is_that_of_the_means_over_all_texts_that_count_for_either(measured):
    rows = [
        measured(TYPO, target="student"),
        measured(SYNONYM, target="student", capability="synonym"),
    ]
    (found,) = between_capabilities(rows, ["student"], ONE, seed=0)
    assert (found.metric, found.capability) == ("concordance", "typo minus synonym")
    assert (found.first, found.second, found.p_value) == ("student", "teacher", None)
    assert found.estimate.value == pytest.approx(0.5 - 2.5 / 3)
    # e2 and e3 count for both.
    assert (found.estimate.n, found.estimate.level) == (5, 0.95)
    assert found.estimate.low < found.estimate.value < found.estimate.high


def test_that_of_the_baseline_is_subtracted(measured):
    rows = [
        measured(TYPO, target="student"),
        measured(SYNONYM, target="student", capability="synonym"),
        measured(texts([1, 0.5, 1, 1]), target="seed"),
        measured(texts([1, 1, 1], first=2), target="seed", capability="synonym"),
    ]
    found = between_capabilities(rows, ["student", "seed"], ("teacher", "seed"), seed=0)
    values = {(one.first, one.second): one.estimate.value for one in found}
    assert values == pytest.approx(
        {
            ("student", "teacher"): -1 / 3,
            ("student", "seed"): -1 / 3 + 0.125,
            ("seed", "teacher"): -0.125,
        }
    )


def test_of_three_pairs_of_capabilities_each_has_a_third_of_the_error(measured):
    rows = [measured(TYPO, target="a", capability=name) for name in ("typo", "synonym", "casing")]
    found = between_capabilities(rows, ["a"], ONE, seed=0)
    assert [one.estimate.level for one in found] == [pytest.approx(1 - 0.05 / 3)] * 3


@given(st.permutations(range(4)))
def test_the_order_of_the_texts_changes_nothing(measured, order):
    def shuffled(one):
        return replace(
            one,
            example_ids=tuple(one.example_ids[place] for place in order),
            values=tuple(one.values[place] for place in order),
        )

    rows = [
        measured(TYPO, target="a"),
        measured(texts([1, 1, 0, 1], first=1), target="a", capability="synonym"),
    ]
    (there,) = between_capabilities(rows, ["a"], ONE, seed=0)
    (again,) = between_capabilities(list(map(shuffled, rows)), ["a"], ONE, seed=0)
    assert (again.estimate.low, again.estimate.high) == pytest.approx(
        (there.estimate.low, there.estimate.high)
    )


def test_intervals_cover_the_true_difference_also_near_one(measured):
    generator, covered = np.random.default_rng(5), 0
    for _ in range(200):
        rows = []
        # Of 100 texts 60 and 30 count.
        for name, share, mean in [("typo", 0.6, 0.93), ("synonym", 0.3, 0.98)]:
            values = texts((generator.random((100, 3)) < mean).mean(axis=1))
            counts = generator.random(100) < share
            kept = {key: one for (key, one), yes in zip(values.items(), counts, strict=True) if yes}
            rows.append(measured(kept, target="a", capability=name))
        (found,) = between_capabilities(rows, ["a"], ONE, seed=0)
        covered += found.estimate.low <= -0.05 <= found.estimate.high
    assert covered / 200 >= 0.93
