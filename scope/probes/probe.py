"""The probe: semantic similarity of two sentences from a frozen model's layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from scope.errors import SpecError
from scope.probes.bases import Distances
from scope.probes.checks import (
    Scores,
    checked_latents,
    checked_pairs,
    checked_scores,
    one_thread,
    require_form,
)
from scope.probes.correlations import pearson
from scope.probes.fitting import (
    PretrainedEncoders,
    ScoredPairs,
    calibrate,
    fit_all_cosines,
    fit_network,
    fit_raw_layer,
    lay_pretrained,
    require_enough_pairs,
    scores_of,
)
from scope.probes.measures import Measure
from scope.probes.network import LOSSES, Schedule
from scope.probes.recipes import PRETRAINED, RECIPES, Loss, Recipe, Step, checked_step

_LEAST = {
    "seed": 0,
    "hidden": 1,
    "outputs": 2,
    "components": 1,
    "epochs": 1,
    "batch": 2,
    "patience": 1,
}


def check_parameters(probe: Any) -> None:
    """Raise a SpecError for a parameter of a probe that cannot be, whatever the pairs are."""
    checked_step(probe.step)
    if not (probe.low < probe.high and math.isfinite(probe.high - probe.low)):
        raise SpecError(
            f"scores from {probe.low:g} to {probe.high:g}",
            expected="a finite range, and `low` below `high`",
            fix="give the range of the scores, such as low=0, high=5",
        )
    for name, least in _LEAST.items():
        value = getattr(probe, name)
        if value is not None and value < least:
            raise SpecError(
                f"{name}={value}",
                expected=f"a number from {least}",
                fix=f"give another `{name}`, or leave it out",
            )
    if probe.loss is not None and probe.loss not in LOSSES:
        raise SpecError(
            f"the loss `{probe.loss}`",
            expected=f"one of {', '.join(LOSSES)}",
            fix="name one of these, or leave it out",
        )


Development: TypeAlias = tuple[NDArray[Any], NDArray[Any], ArrayLike]
"""Latents of the first sentences and of the second ones, and their scores."""


class SimilarityProbe(BaseEstimator):
    """Scores the semantic similarity of two sentences from a frozen model's latents.

    Equal latents score exactly ``high``, and two sentences the same both ways round, to the bit.
    One seed gives the same probe to the byte, on any number of cores.

    Parameters
    ----------
    step
        How much is learned, in the paper's order. ``raw``: the cosine of one layer, the best on
        the development pairs. ``mlp``: one layer of numbers on the cosines of all layers,
        whose dimensions are standardised.
        ``siamese``: one encoder per layer, randomly initialized. ``autoencoder``: the encoders
        are initialized from autoencoders trained on sentences without scores. ``final``: they
        are initialized from whitened principal components, and the loss is the errors' variance.
    seed
        Random seed.
    low, high
        The range of the scores.
    loss
        ``squared`` or ``log_variance``; None: as the step has it.
    hidden
        Units of the head's hidden layer; None: as the step has it, 32, or 16 in ``final``.
    outputs
        Width of the encodings; None: as the step has it, 192, or 128 in ``final``.
    components
        Principal components of each layer that the encoders start from.
    epochs, batch, patience
        At most so many rounds over the pairs, so many pairs at once, and so many rounds without
        a gain on the development pairs.

    Examples
    --------
    >>> latents = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.1]]])
    >>> probe = SimilarityProbe(step="raw").fit(latents[[0, 0, 1]], latents[[1, 2, 2]], [0, 5, 1])
    >>> probe.predict(latents[:1], latents[:1])
    array([5.])
    """

    def __init__(
        self,
        *,
        step: Step = "final",
        seed: int = 0,
        low: float = 0.0,
        high: float = 5.0,
        loss: Loss | None = None,
        hidden: int | None = None,
        outputs: int | None = None,
        components: int = 256,
        epochs: int = 8,
        batch: int = 128,
        patience: int = 3,
    ) -> None:
        self.step = step
        self.seed = seed
        self.low = low
        self.high = high
        self.loss = loss
        self.hidden = hidden
        self.outputs = outputs
        self.components = components
        self.epochs = epochs
        self.batch = batch
        self.patience = patience

    def pretrain(self, latents: NDArray[Any]) -> Self:
        """Learn each layer's statistics, or its autoencoder, from sentences without scores.

        `fit` starts from these until the next call, whatever its seed. In ``final`` nothing is
        drawn here, so that one call serves many seeds; an autoencoder is drawn with the `seed` of
        the time of the call, and is to be learned anew for each, where the spread over seeds is
        to hold all that is drawn. `components` and an autoencoder's `outputs` are those of the
        time of the call as well. Without it, `fit` takes the sentences of its own pairs. Best are
        both together.

        Raises
        ------
        SpecError
            When the step makes no use of them, or a parameter cannot be.
        DataError
            When they are no latents.
        """
        check_parameters(self)
        if self.step not in PRETRAINED:
            raise SpecError(
                f"sentences without scores for the step `{self.step}`",
                expected=f"one of the steps {', '.join(PRETRAINED)}",
                fix="leave `pretrain` out: this step learns from pairs alone",
            )
        with one_thread():
            self.pretrained_ = self._pretrained((checked_latents(latents),))
        self.pretrained_step_ = self.step
        return self

    def fit(
        self,
        first: NDArray[Any],
        second: NDArray[Any],
        scores: ArrayLike,
        *,
        development: Development | None = None,
    ) -> Self:
        """Fit to pairs with human scores.

        Parameters
        ----------
        first, second
            Shape (pairs, layers, width).
        scores
            Shape (pairs,), from ``low`` to ``high``.
        development
            Other pairs, which choose the layer, the penalty or the epoch, and calibrate the
            scores. Without them the training pairs do, which flatters the last epoch.

        Raises
        ------
        DataError
            When the pairs or their scores are not as they must be, or too few for the head.
        SpecError
            When a parameter cannot be.
        """
        check_parameters(self)
        pairs = self._scored(first, second, scores)
        tried = pairs if development is None else self._scored(*development)
        require_form(tried.first, *pairs.first.shape[1:])
        with one_thread():
            measure = self._measure(pairs, tried)
            dissimilarities = measure.dissimilarity(measure.distances(tried.first, tried.second))
        self.measure_ = measure
        self.calibration_ = calibrate(dissimilarities, tried.similarities, 0.0, 1.0)
        _, self.layers_, self.width_ = pairs.first.shape
        return self

    def predict(self, first: NDArray[Any], second: NDArray[Any]) -> Scores:
        """The score of each pair, from ``low`` to ``high``.

        Raises
        ------
        DataError
            When the latents are not of the layers and the width that it was fitted on.
        """
        return self.scores_from(self.layer_distances(first, second))

    def score(self, first: NDArray[Any], second: NDArray[Any], scores: ArrayLike) -> float:
        """Pearson's correlation with human scores; NaN where all forecasts are alike."""
        wanted = checked_scores(scores, len(first), self.low, self.high)
        return pearson(self.predict(first, second), wanted)

    def layer_distances(self, first: NDArray[Any], second: NDArray[Any]) -> Distances:
        """How far apart each pair is in each layer, shape (pairs, layers), from 0 to 2."""
        check_is_fitted(self, "measure_")
        pair = checked_pairs(first, second)
        require_form(pair[0], self.layers_, self.width_)
        with one_thread():
            return self.measure_.distances(*pair)

    def scores_from(self, distances: Distances, *, without: int | None = None) -> Scores:
        """Scores from what `layer_distances` gave, with all layers or without one of them.

        Without a layer, what is left of the dissimilarity is scaled to the mean over these pairs
        that it has with all layers: the calibration was made for dissimilarities of that size, and
        what a layer says of single pairs is to be missed, not what it adds to all of them.
        """
        with one_thread():
            dissimilarities = self.measure_.dissimilarity(distances)
            if without is not None:
                dissimilarities = _brought_to(
                    dissimilarities.mean(), self.measure_.dissimilarity(distances, without)
                )
        return scores_of(dissimilarities, self.calibration_, self.low, self.high)

    def _scored(self, first: NDArray[Any], second: NDArray[Any], scores: ArrayLike) -> ScoredPairs:
        pair = checked_pairs(first, second)
        wanted = checked_scores(scores, len(pair[0]), self.low, self.high)
        return ScoredPairs(*pair, (wanted - self.low) / (self.high - self.low))

    def _measure(self, pairs: ScoredPairs, development: ScoredPairs) -> Measure:
        count, layers, _ = pairs.first.shape
        if self.step == "raw":
            return fit_raw_layer(development)
        require_enough_pairs(count, layers, self.step, self.hidden)
        if self.step == "mlp":
            return fit_all_cosines(pairs, development)
        if getattr(self, "pretrained_step_", None) == self.step:
            pretrained = self.pretrained_
            require_form(pairs.first, *pretrained.basis.centre.shape)
        else:
            pretrained = self._pretrained((pairs.first, pairs.second))
        return fit_network(
            pairs,
            development,
            pretrained,
            self._recipe(),
            Schedule(self.epochs, self.batch, self.patience),
            # Torch takes no integer of NumPy's, as a search over parameters gives.
            seed=int(self.seed),
        )

    def _pretrained(self, parts: Sequence[NDArray[np.float32]]) -> PretrainedEncoders:
        return lay_pretrained(
            parts, self._recipe(), components=self.components, seed=int(self.seed)
        )

    def _recipe(self) -> Recipe:
        return RECIPES[checked_step(self.step)].changed(
            loss=self.loss, hidden=self.hidden, outputs=self.outputs
        )


def _brought_to(mean: float, dissimilarities: NDArray[np.float64]) -> NDArray[np.float64]:
    """The dissimilarities times what gives them the mean; those without any as they are."""
    own = dissimilarities.mean()
    brought: NDArray[np.float64] = dissimilarities * (mean / own) if own else dissimilarities
    return brought


def trained_parameters(probe: SimilarityProbe) -> int:
    """How many numbers were trained on scored pairs: 0 of the step ``raw``, which only chooses.

    Statistics of the latents, such as principal components, do not count; encoders do, with as
    many inputs as they had in training.

    Raises
    ------
    NotFittedError
        When the probe is not fitted.

    Examples
    --------
    >>> import numpy as np
    >>> latents = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.1]]])
    >>> probe = SimilarityProbe(step="mlp").fit(latents[[0, 0, 1]], latents[[1, 2, 2]], [0, 5, 1])
    >>> trained_parameters(probe)
    2
    """
    check_is_fitted(probe, "measure_")
    return probe.measure_.trained
