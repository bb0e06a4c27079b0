"""Correlated doubts against a plain loop, and their laws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from made_up_pools import random_pool

from scope.jobs.reuse.evidence import (
    LEAST_PROBABILITY,
    RIDGE,
    log_probability_pairs,
    log_probability_parts,
)
from scope.jobs.reuse.pool import NOT_GIVEN

seeds = st.integers(0, 100_000)


def doubting_pool(seed, **shape):
    """A random pool with probabilities, some of them missing, some very small."""
    pool = random_pool(seed, **shape)
    generator = np.random.default_rng(seed + 1)
    models, items = pool.answers.shape
    found = np.zeros((models, items, pool.options.max()))
    for place, options in enumerate(pool.options):
        found[:, place, :options] = generator.dirichlet(np.full(options, 0.3), size=models)
    found[generator.random((models, items)) < 0.1] = np.nan
    return replace(pool, probabilities=found)


def plainly(pool):
    """The definition, one model and one question at a time; NaN where it gives no number."""
    logs = np.log(np.maximum(pool.probabilities, LEAST_PROBABILITY))
    models, items = pool.answers.shape
    most = pool.probabilities.shape[2]

    def shows(model, item):
        given = pool.answers[model, item] > NOT_GIVEN
        return given and not np.isnan(pool.probabilities[model, item]).any()

    def row_of(model):
        table = np.full((items, most), np.nan)
        for item in range(items):
            if shows(model, item):
                row = logs[model, item, : pool.options[item]]
                table[item, : len(row)] = row - row.mean()
        for option in range(most):
            known = ~np.isnan(table[:, option])
            if known.any():
                table[known, option] -= table[known, option].mean()
        flat = np.nan_to_num(table).ravel()
        length = np.sqrt((flat**2).sum())
        return flat / length if length > 0 else flat

    rows = [row_of(model) for model in range(models)]
    values = [np.nan]
    for model in range(1, models):
        others = [
            rows[one]
            for one in range(1, models)
            if one != model and any(shows(one, item) for item in range(items))
        ]
        # A ridge is as many made-up values of 0, each predicted by one of the others alone.
        table = np.column_stack([*others, np.empty((items * most, 0))])
        made_up = np.sqrt(RIDGE) * np.eye(table.shape[1])
        rests = []
        for one in (rows[0], rows[model]):
            target = np.concatenate([one, np.zeros(table.shape[1])])
            weights = np.linalg.lstsq(np.vstack([table, made_up]), target, rcond=None)[0]
            rests.append(one - table @ weights)
        lengths = [np.sqrt((one**2).sum()) for one in rests]
        both = any(shows(0, item) and shows(model, item) for item in range(items))
        defined = both and min(lengths) >= 1e-9
        values.append(rests[0] @ rests[1] / np.prod(lengths) if defined else np.nan)
    return values


@given(seeds)
def test_every_value_is_the_cosine_of_what_a_ridge_regression_leaves(seed):
    pool = doubting_pool(seed)
    expected = plainly(pool)
    found = log_probability_pairs(pool)
    if found is None:
        assert np.isnan(expected).all()
        return
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=1e-7)
    parts = log_probability_parts(pool)
    assert parts.sum() == pytest.approx(np.nan_to_num(found[0, 1]), abs=1e-7)
    # Whose the place of the reference is plays no part.
    order = np.arange(len(found))[::-1]
    turned = replace(pool, answers=pool.answers[order], probabilities=pool.probabilities[order])
    if (other := log_probability_pairs(turned)) is not None:
        np.testing.assert_allclose(other, found[np.ix_(order, order)], atol=1e-7)


@given(seeds)
def test_a_copy_is_worth_1_whatever_the_others_doubt(seed):
    pool = doubting_pool(seed, models=5, items=20)
    for table in (pool.answers, pool.probabilities):
        table[2] = table[0]
    assert log_probability_pairs(pool)[0, 2] == pytest.approx(1)


def scores_of(probabilities, answers=None):
    rows = np.array(probabilities, dtype=float)
    pool = random_pool(0, models=len(rows), items=rows.shape[1], missing=0)
    return log_probability_pairs(
        replace(
            pool,
            answers=np.zeros(rows.shape[:2], dtype=int) if answers is None else answers,
            options=np.full(rows.shape[1], 2),
            gold=np.zeros(rows.shape[1], dtype=int),
            units=np.arange(rows.shape[1]),
            probabilities=rows,
        )
    )


HALF = [0.5, 0.5]


def test_three_models_and_three_questions_by_hand():
    # Log-odds of 2, 0 and -2, of 2, -2 and 0, of 0, 2 and -2: as vectors of length 1 a = b + c,
    # with the products a·b = a·c = 1/2 and b·c = -1/2. Given c, b leaves b + c/2.2, and a leaves
    # a - c/2.2, where 2.2 is twice 1 + λ.
    up, down = 1 / (1 + np.exp(-2)), 1 / (1 + np.exp(2))
    rises, falls = [up, down], [down, up]
    found = scores_of([[rises, HALF, falls], [rises, falls, HALF], [HALF, rises, falls]])
    product = 1 / 2 + 1 / 2.2 - 1 / 2.2**2
    length = 1 - 1 / 2.2 + 1 / 2.2**2
    np.testing.assert_allclose(found[0], [np.nan, product / length, product / length])


def test_without_probabilities_there_is_no_such_evidence():
    pool = random_pool(1)
    assert log_probability_pairs(pool) is None
    whole = doubting_pool(1, models=4, items=10)
    for row in (0, slice(1, None)):
        some = whole.probabilities.copy()
        some[row] = np.nan
        assert log_probability_pairs(replace(whole, probabilities=some)) is None
