"""Kernels pair by pair, the whole kernel ridge as oracle of landmarks, and categories unseen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.fleet.forecasters import kernels
from scope.fleet.forecasters.kernels import (
    MIXES,
    Kernel,
    Mix,
    QuestionInputs,
    landmark_kernel,
    mixes_of,
    nystroem_basis,
)
from scope.fleet.forecasters.ridge import fit_ridge


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


def test_widths_are_shares_of_the_median_squared_distance():
    points = np.float32([[0], [1], [3]])
    kernel = landmark_kernel(
        QuestionInputs(points, 2 * points, np.zeros(3, int)), Mix(), 3, np.random.default_rng(0)
    )
    # Squared distances 1, 4 and 9 of the vectors, four times as much of the features.
    assert (kernel.vector_width, kernel.feature_width) == pytest.approx((0.6 * 4, 2 * 16))


def test_a_category_never_seen_is_like_no_other_not_even_itself():
    unseen = questions(0)._replace(codes=np.full(20, -1))
    with_category = Kernel(Mix(category=5, within=3), unseen, 1.0, 1.0)
    assert (with_category(unseen) == Kernel(Mix(), unseen, 1.0, 1.0)(unseen)).all()


@given(st.integers(0, 1000))
def test_landmarks_are_distinct_questions_all_where_there_are_fewer(seed):
    asked = questions(seed)
    for wanted, drawn in ((7, 7), (50, 20)):
        kernel = landmark_kernel(asked, Mix(), wanted, np.random.default_rng(seed))
        marks = {tuple(row) for row in kernel.landmarks.vectors.tolist()}
        assert len(marks) == drawn
        assert marks <= {tuple(row) for row in asked.vectors.tolist()}


@pytest.mark.parametrize("mix", MIXES)
def test_with_every_question_a_landmark_inputs_give_the_whole_kernel(mix):
    asked = questions(2)
    kernel = landmark_kernel(asked, mix, 20, np.random.default_rng(0))
    inputs = kernel(asked) @ nystroem_basis(kernel)
    assert inputs @ inputs.T == pytest.approx(kernel(asked), abs=1e-3)


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


def test_questions_that_are_all_the_same_have_one_input():
    same = QuestionInputs(np.ones((9, 2), np.float32), np.zeros((9, 0), np.float32), np.full(9, -1))
    kernel = landmark_kernel(same, Mix(), 9, np.random.default_rng(0))
    inputs = kernel(same) @ nystroem_basis(kernel)
    assert inputs.shape == (9, 1)
    assert np.ptp(inputs) < 1e-6


def test_a_single_question_is_a_landmark_like_itself():
    one = questions(0, count=1)
    kernel = landmark_kernel(one, Mix(), 5, np.random.default_rng(0))
    assert kernel(one).tolist() == [[1]]


def test_a_product_in_blocks_is_the_product(monkeypatch):
    monkeypatch.setattr(kernels, "_BLOCK", 7)
    asked, weights = questions(5), np.random.default_rng(0).normal(size=(6, 2)).astype(np.float32)
    for mix in (Mix(), MIXES[-1]):
        kernel = landmark_kernel(asked, mix, 6, np.random.default_rng(0))
        assert kernel.times(asked, weights) == pytest.approx(kernel(asked) @ weights, abs=1e-5)
    assert kernel.times(asked.take(slice(0)), weights).shape == (0, 2)


def test_only_mixes_of_what_is_known_are_tried():
    assert mixes_of(features=True, categories=True) == MIXES
    assert all(not mix.features for mix in mixes_of(features=False, categories=True))
    without = mixes_of(features=True, categories=False)
    assert without == (Mix(), Mix(features=1))
