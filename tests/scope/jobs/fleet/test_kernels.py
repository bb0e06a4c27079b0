"""Kernels pair by pair, the whole kernel ridge as oracle of landmarks, and categories unseen."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sklearn.linear_model import Ridge, RidgeCV

from scope.jobs.fleet import text_factors as kernels
from scope.jobs.fleet.text_factors import (
    MIXES,
    STRENGTHS,
    Mix,
    QuestionInputs,
    fit_ridge,
    landmark_kernel,
    nystroem_basis,
)


def questions(seed, count=20, features=3):
    generator = np.random.default_rng(seed)
    return QuestionInputs(
        generator.normal(size=(count, 5)).astype(np.float32),
        generator.normal(size=(count, features)).astype(np.float32),
        generator.integers(-1, 3, size=count),
    )


def alike(kernel, first, second):
    """One pair's likeness, written out."""
    mix = kernel.mix
    vectors = np.exp(-((first[0] - second[0]) ** 2).sum() / kernel.vector_width)
    features = np.exp(-((first[1] - second[1]) ** 2).sum() / kernel.feature_width)
    same = first[2] == second[2] >= 0
    within = mix.category + mix.within * (vectors + features)
    return mix.vectors * vectors + mix.features * features + same * within


@pytest.mark.parametrize("mix", MIXES)
def test_likeness_is_the_sum_of_its_kinds_pair_by_pair(mix):
    asked = questions(1)
    kernel = landmark_kernel(questions(0), mix, 6, np.random.default_rng(0))
    marks = list(zip(*kernel.landmarks, strict=True))
    expected = [[alike(kernel, one, mark) for mark in marks] for one in zip(*asked, strict=True)]
    assert kernel(asked) == pytest.approx(np.array(expected), abs=1e-5)


def test_with_every_question_a_landmark_ridge_is_the_whole_kernel_ridge():
    asked, new = questions(3), questions(4)
    targets = np.sin(asked.vectors[:, :2])
    kernel = landmark_kernel(asked, MIXES[-1], 20, np.random.default_rng(0))
    basis = nystroem_basis(kernel)
    ridge = fit_ridge(kernel(asked) @ basis, targets, guard=-np.inf, strengths=(0.3,))
    # The oracle: weights on questions, the kernel centred in its own feature space.
    marks = kernel.landmarks
    order = [asked.vectors.tolist().index(row) for row in marks.vectors.tolist()]
    gram, across = kernel(marks).astype(float), kernel(new).astype(float)
    centring = np.eye(20) - 1 / 20
    away = across - gram.mean(axis=0)
    centred = centring @ gram @ centring
    dual = np.linalg.solve(centred + 0.3 * np.eye(20), centring @ targets[order])
    expected = away @ centring @ dual + targets.mean(axis=0)
    assert ridge.predict(kernel(new) @ basis) == pytest.approx(expected, abs=2e-3)


def test_a_product_in_blocks_is_the_product(monkeypatch):
    monkeypatch.setattr(kernels, "_BLOCK", 7)
    asked, weights = questions(5), np.random.default_rng(0).normal(size=(6, 2)).astype(np.float32)
    for mix in (Mix(), MIXES[-1]):
        kernel = landmark_kernel(asked, mix, 6, np.random.default_rng(0))
        assert kernel.times(asked, weights) == pytest.approx(kernel(asked) @ weights, abs=1e-5)
    assert kernel.times(asked.take(slice(0)), weights).shape == (0, 2)


def data(seed, rows=25, inputs=4, noise=0.5):
    generator = np.random.default_rng(seed)
    table = generator.normal(size=(rows, inputs)) + 1
    signal = table @ generator.normal(size=(inputs, 1))
    targets = np.column_stack([signal, generator.normal(size=(rows, 2))]) + 3
    targets += noise * generator.normal(size=targets.shape)
    return table.astype(np.float32), targets.astype(np.float32)


def left_out(inputs, target, strengths):
    """The squared error of each row under each strength, refitted without the row."""
    oracle = RidgeCV(list(strengths), store_cv_results=True)
    return oracle.fit(inputs.astype(float), target.astype(float)).cv_results_


@given(st.integers(0, 1000))
def test_picks_the_strength_that_refitting_without_each_row_would(seed):
    inputs, targets = data(seed, rows=15)
    ridge = fit_ridge(inputs, targets, guard=-np.inf)
    for column, target in enumerate(targets.T):
        errors = left_out(inputs, target, STRENGTHS).mean(axis=0)
        # Two strengths that are as good but for rounding may stand for each other.
        near = np.array(STRENGTHS)[errors < errors.min() * (1 + 1e-5)]
        weights = [Ridge(strength).fit(inputs.astype(float), target).coef_ for strength in near]
        apart = min(np.abs(ridge.weights[:, column] - each).max() for each in weights)
        assert apart < 1e-3


@given(st.integers(0, 1000))
def test_the_gain_is_what_refitting_saves_over_refitted_means(seed):
    inputs, targets = data(seed)
    ridge = fit_ridge(inputs, targets, guard=-np.inf, strengths=(2.0,))
    total = targets.sum(axis=0, dtype=float)
    means = (total - targets) / (len(targets) - 1)
    for column, target in enumerate(targets.T):
        saved = ((means[:, column] - target) ** 2).sum()
        saved -= left_out(inputs, target, (2.0,)).sum()
        assert ridge.gain[column] == pytest.approx(saved, abs=1e-2)
