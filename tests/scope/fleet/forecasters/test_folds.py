"""Questions in folds: even, drawn at random, the same for one seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scope.errors import SpecError
from scope.fleet.forecasters.folds import question_folds


@given(st.integers(2, 60), st.integers(2, 60), st.integers(0, 1000))
def test_every_fold_has_as_many_questions_as_any_other_or_one_more(questions, folds, seed):
    folds = min(questions, folds)
    sizes = np.bincount(question_folds(questions, folds, seed))
    assert len(sizes) == folds
    assert sizes.max() - sizes.min() <= 1


def test_one_seed_gives_one_split_and_another_seed_another():
    first, again, other = (question_folds(100, 5, seed).tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_neighbouring_questions_do_not_share_a_fold_by_their_place():
    folds = question_folds(1000, 2, 0)
    assert 0.4 < (folds[1:] == folds[:-1]).mean() < 0.6


@pytest.mark.parametrize(
    ("questions", "folds", "mend"),
    [(3, 5, "fewer folds"), (10, 1, "folds=2"), (1, 2, "fewer folds")],
)
def test_folds_that_cannot_be_are_refused_with_both_numbers(questions, folds, mend):
    with pytest.raises(SpecError, match=f"{folds} folds of {questions} questions") as caught:
        question_folds(questions, folds, 0)
    assert mend in caught.value.mend
