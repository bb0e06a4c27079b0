"""Measures of every two models at once, as matrices.

Sums over questions are products of matrices: 2,016 pairs of 64 models on 1,273 questions take
milliseconds; a loop over pairs takes minutes. Counts of the questions resample them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scope.errors import DataError
from scope.estimation.tasks.choices import NOTHING, ChoiceTable
from scope.estimation.tasks.shares import SILENT

Table = NDArray[np.float64]
"""Shape (models, questions)."""

Square = NDArray[np.float64]
"""Shape (models, models)."""

_LEAST = 1e-6
_NO_ROOM = 1e-9


class PairTable:
    """The answers of all models to the questions whose right option is known.

    Probabilities are used only if every model gives them with most of its answers (three in four);
    otherwise each choice counts as 1. A missing answer is wrong and shares no option with another
    answer; it is left out of the divergence alone, which has no greatest value.

    Raises
    ------
    DataError
        When no question has a known right option.
    """

    def __init__(self, table: ChoiceTable) -> None:
        known = np.flatnonzero((table.right != NOTHING) & (table.options > 1))
        if not len(known):
            raise DataError(
                f"no right answer in {len(table.right)} questions",
                expected="questions with their right option",
                fix="add the column `answer` to the data",
            )
        choices, right = table.choices[:, known], table.right[known]
        probable, options = table.has_probabilities[:, known], table.probabilities.shape[2]
        answered = (choices != NOTHING).sum(axis=1)
        self.probabilistic = bool((probable.sum(axis=1) > (1 - SILENT) * answered).all())
        one_hot = (choices[:, :, None] == np.arange(options)).astype(float)
        self._shares = table.probabilities[:, known] if self.probabilistic else one_hot
        self._answered = (probable if self.probabilistic else choices != NOTHING).astype(float)
        self.asked = table.asked[:, known].astype(float)
        # With probabilities, an answer without them says nothing; none at all is wrong.
        silent = table.asked[:, known] & (choices == NOTHING)
        self._counted = np.maximum(self._answered, silent)
        self.correct = (choices == right).astype(float)
        self._right = self._shares[:, np.arange(len(known)), right]
        self._chance = 1 / (table.options[known] - 1)
        # Cached: logarithms would take half the time of a bootstrap draw.
        self._logs = np.log(np.clip(self._shares, _LEAST, 1)) * self._answered[:, :, None]
        self._certainty = (self._shares * self._logs).sum(axis=2)

    def measures(self, counts: ArrayLike | None = None) -> dict[str, Square]:
        """Every measure of every two models; NaN if undefined. All are symmetric.

        - ``capa``: chance-adjusted agreement, −1 to 1; 0 if two models err independently on equally
          difficult questions (Goel et al. 2025, section 2). Discrete without probabilities.
        - ``flips``: share of questions on which exactly one of the two is right, 0 to 1.
        - ``error_correlation``: Pearson's r of right and wrong, −1 to 1.
        - ``kl``: mean Kullback-Leibler divergence of the options in both directions, in nats, 0 or
          more, probabilities of at least 1e-6; NaN without probabilities.
        - ``gain``: share of questions that only the weaker model answers correctly, 0 to 1: the
          gain in accuracy of an ideal mixture of both over the better one.
        - ``accuracy``: mean accuracy of the two, 0 to 1; ``gap``: the difference, 0 to 1.

        Parameters
        ----------
        counts
            How often each question counts, shape (questions,); once each by default.

        Examples
        --------
        Three questions of two options; each model is right on two, both on one:

        >>> right, yes = np.array([0, 0, 1]), np.ones((2, 3), dtype=bool)
        >>> table = ChoiceTable(
        ...     task="choice", item_ids=("a", "b", "c"), categories=(None,) * 3, asked=yes,
        ...     options=np.full(3, 2), right=right, choices=np.array([[0, 0, 0], [0, 1, 1]]),
        ...     probabilities=np.zeros((2, 3, 2)), has_probabilities=~yes,
        ... )
        >>> measures = PairTable(table).measures()
        >>> [round(float(measures[name][0, 1]), 3) for name in ("capa", "flips", "gain")]
        [-0.5, 0.667, 0.333]
        """
        models, questions = self.asked.shape
        weights = np.ones(questions) if counts is None else np.asarray(counts, dtype=np.float64)
        flat = self._shares.reshape(models, -1)
        weighted = flat * np.repeat(weights, self._shares.shape[2])

        def total(first: Table, second: Table) -> Square:
            return np.asarray((first * weights) @ second.T)

        with np.errstate(divide="ignore", invalid="ignore"):
            both = total(self._counted, self._counted)
            of_first = total(self._right, self._counted) / both
            alike = total(self._counted * self._chance, self._counted) / both
            expected = of_first * of_first.T + alike * (1 - of_first) * (1 - of_first.T)
            observed = weighted @ flat.T / both
            room = np.where(1 - expected < _NO_ROOM, np.nan, 1 - expected)
            together = total(self.asked, self.asked)
            share = total(self.correct, self.asked) / together
            both_right = total(self.correct, self.correct) / together
            spread = np.sqrt(share * (1 - share) * (share * (1 - share)).T)
            accuracy = (self.correct @ weights) / (self.asked @ weights)
            return {
                "capa": np.clip((observed - expected) / room, -1, 1),
                "flips": share + share.T - 2 * both_right,
                "error_correlation": (both_right - share * share.T)
                / np.where(spread < _NO_ROOM, np.nan, spread),
                "kl": self._divergence(weighted, weights) / total(self._answered, self._answered),
                "gain": np.minimum(share, share.T) - both_right,
                "accuracy": (accuracy[:, None] + accuracy) / 2,
                "gap": np.abs(share - share.T),
            }

    def _divergence(self, weighted: Table, weights: NDArray[np.float64]) -> Square:
        if not self.probabilistic:
            return np.full((len(weighted), len(weighted)), np.nan)
        cross = weighted @ self._logs.reshape(len(weighted), -1).T
        directed = (self._certainty * weights) @ self._answered.T - cross
        return np.asarray((directed + directed.T) / 2)
