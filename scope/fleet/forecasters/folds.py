"""Questions in folds: what is fitted without a question may be tried on it."""

import numpy as np
from numpy.typing import NDArray

from scope.errors import SpecError

_STREAM = 0xF01D


def question_folds(questions: int, folds: int, seed: int) -> NDArray[np.int64]:
    """The fold of each question, from 0: drawn at random, their sizes one apart at most.

    Raises
    ------
    SpecError
        When there are fewer than two folds, or more than questions.

    Examples
    --------
    >>> sorted(question_folds(5, 2, seed=0).tolist())
    [0, 0, 0, 1, 1]
    """
    if not 2 <= folds <= questions:
        raise SpecError(
            f"{folds} folds of {questions} questions",
            expected="two folds or more, and a question or more in each",
            mend="ask for fewer folds, or add questions" if folds > 1 else "ask for folds=2",
        )
    return np.random.default_rng([seed, _STREAM]).permutation(questions) % folds
