"""The probe: semantic similarity of two sentences from a frozen model's layers.

Of single layers, `layer_curve` gives the correlation with human scores, `leave_one_layer_out` the
decrease without it. `linear_cka` measures how similarly two models arrange the same sentences
every layer with every other; `align_layers` adds intervals and the level of chance.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from scope.errors import DataError, SpecError
from scope.jobs.probe import latents, measures, network
from scope.jobs.probe.latents import (
    Distances,
    Latents,
    Scores,
    checked_latents,
    checked_pairs,
    checked_scores,
    layer_normed,
    one_thread,
    pearson,
    pearson_difference,
    pearson_estimate,
    require_form,
)
from scope.records.estimates import Estimate, Undefined
from scope.statistics.intervals import LEVEL, jackknife_half

_COUNTS = ("seed", "hidden", "outputs", "components", "epochs", "batch", "patience")
_LEAST = {"seed": 0, "outputs": 2, "batch": 2}
"""Minimum of these parameters; 1 for the other counts."""


def check_parameters(probe: Any) -> None:
    """Raise a SpecError for a parameter that is invalid for any pairs."""
    network.checked_step(probe.step)
    if not (probe.low < probe.high and math.isfinite(probe.high - probe.low)):
        raise SpecError(
            f"scores from {probe.low:g} to {probe.high:g}",
            expected="a finite range, and `low` below `high`",
            fix="give the range of the scores, such as low=0, high=5",
        )
    for name in _COUNTS:
        value, least = getattr(probe, name), _LEAST.get(name, 1)
        if value is not None and value < least:
            raise SpecError(
                f"{name}={value}",
                expected=f"a number from {least}",
                fix=f"give another `{name}`, or leave it out",
            )
    if probe.loss is not None and probe.loss not in network.LOSSES:
        raise SpecError(
            f"the loss `{probe.loss}`",
            expected=f"one of {', '.join(network.LOSSES)}",
            fix="name one of these, or leave it out",
        )


def require_enough_pairs(
    pairs: int, layers: int, step: network.Step, hidden: int | None = None
) -> None:
    """Raise a DataError if there are fewer training pairs than parameters of the step's head.

    The encoders, which start from a closed form or from sentences without scores, do not count.
    ``hidden`` is the number of units of the head's hidden layer; None: the step's default.

    Examples
    --------
    >>> require_enough_pairs(30, 5, "mlp")
    >>> require_enough_pairs(30, 5, "final")
    Traceback (most recent call last):
    ...
    scope.errors.DataError: found:    30 pairs to train a head of 118 parameters (step final)
    expected: at least 118 pairs with scores
    fix:      give more pairs, or write --hidden 3, or --step raw, which trains none
    """
    if step == "raw":
        return
    smaller = 0
    if step == "mlp":
        parameters = layers + 1
    else:
        usual = network.RECIPES[step].hidden
        parameters = network.head_size(layers, usual and (hidden or usual))
        smaller = usual and max(
            (n for n in range(1, pairs) if network.head_size(layers, n) <= pairs), default=0
        )
    if pairs < parameters:
        way = f"or write --hidden {smaller}, " if smaller else ""
        raise DataError(
            f"{pairs} pairs to train a head of {parameters} parameters (step {step})",
            expected=f"at least {parameters} pairs with scores",
            fix=f"give more pairs, {way}or --step raw, which trains none",
        )


_WIDEST = 6.0
"""Scale and power lie between exp(-6) and exp(6)."""

_STARTS = ((0.0, 0.0), (-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0))
"""Starting points of the least-squares search: logarithms of scale and power."""


class Calibration(NamedTuple):
    """``exp(-(scale * z / unit) ** power)``, which falls with z and is 1 at 0.

    ``unit`` is a typical z, so that the scale is near 1 even if a model's distances are small.
    """

    scale: float = 1.0
    power: float = 1.0
    unit: float = 1.0

    @classmethod
    def fit(cls, dissimilarities: NDArray[np.float64], similarities: Scores) -> Calibration:
        """The scale and the power with the least squared error; the unit is the median above 0.

        Examples
        --------
        >>> z = np.array([0.1, 0.5, 1.0, 2.0])
        >>> scale, power, unit = Calibration.fit(z, np.exp(-((2 * z) ** 0.5)))
        >>> round(scale / unit, 2), round(power, 2), unit
        (2.0, 0.5, 0.75)
        """
        some = dissimilarities[dissimilarities > 0]
        unit = float(np.median(some)) if some.size else 1.0

        def at(logarithms: NDArray[np.float64]) -> Calibration:
            scale, power = np.exp(np.clip(logarithms, -_WIDEST, _WIDEST)).tolist()
            return cls(scale, power, unit)

        def error(logarithms: NDArray[np.float64]) -> float:
            scores = at(logarithms).scores(dissimilarities, 0.0, 1.0)
            return float(np.square(scores - similarities).mean())

        ends = [minimize(error, np.array(start), method="Nelder-Mead") for start in _STARTS]
        # Ties: the first.
        return at(min(ends, key=lambda end: float(end.fun)).x)

    def scores(self, dissimilarities: NDArray[np.float64], low: float, high: float) -> Scores:
        """Scores from ``low`` to ``high``, which fall with the dissimilarity; ``high`` at 0.

        Examples
        --------
        >>> Calibration().scores(np.array([0.0, np.log(2), 1e9]), 1.0, 5.0).tolist()
        [5.0, 3.0, 1.0]
        """
        # An overflow means the largest distance.
        with np.errstate(over="ignore"):
            powered = (self.scale * (dissimilarities / self.unit)) ** self.power
        return np.clip(high + (high - low) * np.expm1(-powered), low, high)


Development: TypeAlias = tuple[NDArray[Any], NDArray[Any], ArrayLike]
"""Latents of the first and of the second sentences, and their scores."""


class SimilarityProbe(BaseEstimator):
    """Scores the semantic similarity of two sentences from a frozen model's latents.

    Equal latents score exactly ``high``, except in the step ``published``, and scores are
    symmetric, to the bit. One seed gives the same probe to the byte, on any number of cores.

    Parameters
    ----------
    step
        How much is learned, in FREEZE's order. ``raw``: the cosine of one layer, the best on the
        development pairs. ``mlp``: one layer of numbers on the cosines of all layers, whose
        dimensions are standardised. ``siamese``: one encoder per layer, randomly initialized.
        ``autoencoder``: the encoders are initialized from autoencoders trained on sentences
        without scores. ``published``: FREEZE's last step, see `RECIPES`. ``final``: the encoders
        are initialized from whitened principal components, with ``log_variance_and_mean``.
    seed
        Random seed.
    low, high
        The range of the scores.
    loss
        ``squared``, ``log_variance`` or ``log_variance_and_mean``; None: the step's default.
    hidden
        Units of the head's hidden layer; None: the step's default, 32, or 16 in ``final``.
    outputs
        Width of the encodings; None: the step's default, 192, or 128 in ``final``.
    components
        Principal components of each layer that the encoders start from.
    epochs, batch, patience
        The maximum number of epochs, the batch size, and the number of epochs without a gain on
        the development pairs.

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
        step: network.Step = "final",
        seed: int = 0,
        low: float = 0.0,
        high: float = 5.0,
        loss: network.Loss | None = None,
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

        `fit` starts from these until the next call, whatever its seed. Without this call, `fit`
        takes the sentences of its own pairs; both together are best. ``final`` is deterministic
        here, so one call serves many seeds; an autoencoder depends on the `seed`, `components` and
        `outputs` at the time of the call.

        Raises
        ------
        SpecError
            If the step does not use them, or a parameter is invalid.
        DataError
            If the latents are invalid.
        """
        check_parameters(self)
        if self.step not in network.PRETRAINED:
            raise SpecError(
                f"sentences without scores for the step `{self.step}`",
                expected=f"one of the steps {', '.join(network.PRETRAINED)}",
                fix="leave `pretrain` out: this step learns from pairs alone",
            )
        with one_thread():
            self.pretrained_ = self._pretrained(self._inputs(checked_latents(latents)))
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
            If the pairs or their scores are invalid, or too few for the head.
        SpecError
            If a parameter is invalid.
        """
        check_parameters(self)
        pairs = self._scored(first, second, scores)
        tried = pairs if development is None else self._scored(*development)
        require_form(tried.first, *pairs.first.shape[1:])
        with one_thread():
            measure = self._measure(pairs, tried)
            dissimilarities = measure.dissimilarity(measure.distances(tried.first, tried.second))
        self.measure_ = measure
        self.calibration_ = Calibration()
        # The sigmoid of FREEZE's head is its own calibration.
        if self.step != "published":
            self.calibration_ = Calibration.fit(dissimilarities, tried.similarities)
        _, self.layers_, self.width_ = pairs.first.shape
        return self

    def predict(self, first: NDArray[Any], second: NDArray[Any]) -> Scores:
        """The score of each pair, from ``low`` to ``high``.

        Raises
        ------
        DataError
            If layers or width of the latents differ from those of the fit.
        """
        return self.scores_from(self.layer_distances(first, second))

    def score(self, first: NDArray[Any], second: NDArray[Any], scores: ArrayLike) -> float:
        """Pearson's correlation with human scores; NaN if all predictions are alike."""
        wanted = checked_scores(scores, len(first), self.low, self.high)
        return pearson(self.predict(first, second), wanted)

    def layer_distances(self, first: NDArray[Any], second: NDArray[Any]) -> Distances:
        """The distance of each pair in each layer, shape (pairs, layers), from 0 to 2."""
        check_is_fitted(self, "measure_")
        pair = [self._inputs(side) for side in checked_pairs(first, second)]
        require_form(pair[0], self.layers_, self.width_)
        with one_thread():
            return self.measure_.distances(*pair)

    def scores_from(self, distances: Distances, *, without: int | None = None) -> Scores:
        """Scores from the result of `layer_distances`, with all layers or without one of them.

        Without a layer, the dissimilarity is scaled to its mean over these pairs with all layers:
        the calibration fits that scale, and what counts is a layer's information on single pairs,
        not its contribution to all of them.
        """
        with one_thread():
            dissimilarities = self.measure_.dissimilarity(distances)
            if without is not None:
                whole = dissimilarities.mean()
                dissimilarities = self.measure_.dissimilarity(distances, without)
                if mean := dissimilarities.mean():
                    dissimilarities = dissimilarities * (whole / mean)
        return self.calibration_.scores(dissimilarities, self.low, self.high)

    def _inputs(self, latents: Latents) -> Latents:
        """The inputs of the step: FREEZE's encoders begin with a layer norm."""
        return layer_normed(latents) if self.step == "published" else latents

    def reconstruction_errors(self, latents: NDArray[Any]) -> NDArray[np.float64]:
        """`Pretrained.reconstruction_errors` of latents, after `pretrain` of autoencoders."""
        with one_thread():
            return self.pretrained_.reconstruction_errors(self._inputs(checked_latents(latents)))

    def _scored(
        self, first: NDArray[Any], second: NDArray[Any], scores: ArrayLike
    ) -> measures.ScoredPairs:
        first, second = map(self._inputs, checked_pairs(first, second))
        wanted = checked_scores(scores, len(first), self.low, self.high)
        return measures.ScoredPairs(first, second, (wanted - self.low) / (self.high - self.low))

    def _measure(
        self, pairs: measures.ScoredPairs, development: measures.ScoredPairs
    ) -> measures.Measure:
        count, layers, _ = pairs.first.shape
        if self.step == "raw":
            return measures.RawLayer.fit(development)
        require_enough_pairs(count, layers, self.step, self.hidden)
        if self.step == "mlp":
            return measures.AllCosines.fit(pairs, development)
        if hasattr(self, "pretrained_"):
            pretrained = self.pretrained_
            require_form(pairs.first, *pretrained.basis.centre.shape)
        else:
            pretrained = self._pretrained(pairs.first, pairs.second)
        # Torch rejects NumPy integers, which a parameter search passes.
        return measures.SiameseNetwork.fit(
            pairs, development, pretrained, self._recipe(), seed=int(self.seed)
        )

    def _pretrained(self, *parts: NDArray[np.float32]) -> measures.Pretrained:
        return measures.Pretrained.fit(
            parts, self._recipe(), components=self.components, seed=int(self.seed)
        )

    def _recipe(self) -> network.Recipe:
        recipe = network.RECIPES[network.checked_step(self.step)]
        return replace(
            recipe,
            loss=self.loss or recipe.loss,
            hidden=recipe.hidden and (self.hidden or recipe.hidden),
            outputs=self.outputs or recipe.outputs,
            epochs=self.epochs,
            batch=self.batch,
            patience=self.patience,
        )


def layer_curve(
    first: NDArray[Any],
    second: NDArray[Any],
    scores: ArrayLike,
    *,
    low: float = 0.0,
    high: float = 5.0,
    probe: SimilarityProbe | None = None,
    groups: NDArray[np.int64] | None = None,
) -> tuple[Estimate | Undefined, ...]:
    """Pearson's correlation of each layer's cosines with human scores.

    Parameters
    ----------
    first, second
        Latents, shape (pairs, layers, width).
    scores
        Shape (pairs,), from ``low`` to ``high``.
    probe
        Use the cosines of its encodings; None: of the raw latents.
    groups
        Shape (pairs,): one number for all pairs that share sentences; None: each by itself.

    Raises
    ------
    DataError
        If the pairs, their scores or groups are invalid.

    Examples
    --------
    >>> first = np.array([[[1.0, 0.0]]] * 4)
    >>> second = np.array([[[1.0, 0.0]], [[1.0, 1.0]], [[0.0, 1.0]], [[-1.0, 0.1]]])
    >>> print(*layer_curve(first, second, [5, 4, 2, 0]))
    0.994 [0.644, 1.000]
    """
    pair = latents.checked_pairs(first, second)
    wanted = latents.checked_scores(scores, len(pair[0]), low, high)
    if probe is None:
        with latents.one_thread():
            distances = latents.cosine_distances(*pair)
    else:
        distances = probe.layer_distances(*pair)
    return tuple(pearson_estimate(-column, wanted, groups) for column in distances.T)


def leave_one_layer_out(
    probe: SimilarityProbe,
    first: NDArray[Any],
    second: NDArray[Any],
    scores: ArrayLike,
    groups: NDArray[np.int64] | None = None,
) -> tuple[Estimate | Undefined, ...]:
    """The decrease of a fitted probe's correlation without each layer, without retraining.

    A layer with a small decrease may still contain much that its neighbours contain as well. Its
    distance is left out, and its cosine in the head's gate is 0; the step ``raw`` takes the next
    best layer. The remaining dissimilarity is scaled to the mean with all layers
    (`SimilarityProbe.scores_from`). Intervals are those of `pearson_difference`.

    Parameters
    ----------
    first, second, scores, groups
        As in `layer_curve`; the scores in the range of the probe.

    Raises
    ------
    DataError
        If the pairs, their scores or groups are invalid.
    """
    wanted = latents.checked_scores(scores, len(first), probe.low, probe.high)
    distances = probe.layer_distances(first, second)
    layers = distances.shape[1]
    whole = probe.scores_from(distances)
    without = (probe.scores_from(distances, without=layer) for layer in range(layers))
    return tuple(pearson_difference(whole, rest, wanted, groups) for rest in without)


_STILL = 1e-6


def linear_cka(first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
    """Centred kernel alignment of layers (Kornblith et al., 2019), from 0 to 1; 1 is the same.

    It compares which sentences are close to which: shifting or scaling a layer changes nothing.
    Each dimension first gets the variance 1; otherwise a few dimensions of a language model, with
    variances above those of all others together, decide alone. So the number is not invariant to
    rotation.

    Each layer is one matrix of the sentences' products, in double precision: 8 bytes times the
    layers times the square of the sentences. Some hundred sentences are enough.

    Parameters
    ----------
    first, second
        Latents of the same sentences, in the same order, by two models or one. Layers and widths
        may differ.

    Returns
    -------
    NDArray
        Shape (layers of the first, layers of the second).

    Raises
    ------
    DataError
        If the numbers of sentences differ, or a layer has the same latent for all.

    Examples
    --------
    Two corners of a line, and of a square:

    >>> line = np.array([[[0.0]], [[0.0]], [[1.0]], [[1.0]]])
    >>> square = np.array([[[0.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.0]], [[1.0, 1.0]]])
    >>> linear_cka(line, square).round(4).tolist(), linear_cka(line, 3 - line).tolist()
    ([[0.7071]], [[1.0]])
    """
    with latents.one_thread():
        ours, theirs = _unit_products(first, second)
        return np.clip(ours @ theirs.T, 0.0, 1.0)


def _unit_products(first: NDArray[Any], second: NDArray[Any]) -> list[NDArray[np.float64]]:
    """Each layer's matrix of products as a row of length 1, shape (layers, sentences ** 2)."""
    pair = (
        latents.checked_latents(first, "the first latents"),
        latents.checked_latents(second, "the second ones"),
    )
    count = len(pair[0])
    if len(pair[1]) != count:
        raise DataError(
            f"latents of {count} sentences beside latents of {len(pair[1])}",
            expected="latents of the same sentences, in the same order",
            fix="read the same texts with both models",
        )
    sides = []
    for side in pair:
        unit = np.empty((side.shape[1], count * count))
        for layer in range(len(unit)):
            rows = np.asarray(side[:, layer], dtype=np.float64)
            rows = rows - rows.mean(axis=0)
            deviation = rows.std(axis=0)
            varied = deviation > _STILL
            if not varied.any():
                raise DataError(
                    f"the same latent for all {count} sentences in layer {layer}",
                    expected="a layer that tells sentences apart",
                    fix="read another place in the text, or other sentences",
                )
            rows = rows[:, varied] / deviation[varied]
            products = (rows @ rows.T).ravel()
            unit[layer] = products / np.linalg.norm(products)
        sides.append(unit)
    return sides


_PARTS = 10
_SHUFFLES = 99
"""With the map itself there are 100, and 95 % of 100 is a whole number."""


class AlignedLayers(NamedTuple):
    """A map of shape (layers of the first, layers of the second), from 0 to 1.

    ``margins``, of the same shape, are the half widths of the 95 % intervals. ``chance`` bounds the
    maximum of a map in 95 of 100 maps with the sentences of one model shuffled.
    """

    values: NDArray[np.float64]
    margins: NDArray[np.float64]
    chance: float


def align_layers(
    first: NDArray[Any], second: NDArray[Any], *, seed: int, groups: NDArray[np.int64] | None = None
) -> AlignedLayers:
    """Standardised linear CKA of every layer of one model with every layer of the other.

    The margins are those of a jackknife that leaves a tenth of the sentences out in turn, with
    Student's t of 9 degrees. Few sentences in many dimensions look alike by chance, which the
    margins do not show: compare a value with ``chance``.

    Parameters
    ----------
    first, second
        Latents of the same sentences, in the same order, by two models.
    seed
        Seed of the tenths, and of the shuffled orders.
    groups
        Shape (sentences,): one number for all sentences that are left out together, such as those
        of one pair; None: each by itself.

    Raises
    ------
    DataError
        If there are fewer than 10 sentences or groups, or as for `linear_cka`.

    Examples
    --------
    >>> latents = np.random.default_rng(0).normal(size=(20, 2, 3))
    >>> aligned = align_layers(latents, latents[:, :1], seed=0)
    >>> aligned.values.round(2).tolist(), aligned.margins.round(2).tolist()
    ([[1.0], [0.13]], [[0.0], [0.16]])
    """
    with latents.one_thread():
        ours, theirs = _unit_products(first, second)
        generator = np.random.default_rng(seed)
        parts = _tenths(len(first), groups, generator)
        without = [
            linear_cka(first[parts != part], second[parts != part]) for part in range(_PARTS)
        ]
        chance = _chance(ours, theirs, len(first), generator)
        values = np.clip(ours @ theirs.T, 0.0, 1.0)
    return AlignedLayers(values, jackknife_half(without), chance)


def _tenths(
    count: int, groups: NDArray[np.int64] | None, generator: np.random.Generator
) -> NDArray[np.intp]:
    """The tenth of each sentence: each group, the largest first, joins the smallest tenth.

    Groups of equal size are in random order.
    """
    numbers = latents.checked_groups(groups, count, "sentence")
    sizes = np.bincount(numbers)
    if len(sizes) < _PARTS:
        raise DataError(
            f"{count} sentences" if groups is None else f"{len(sizes)} groups of sentences",
            expected=f"at least {_PARTS}, so that a tenth of them can be left out",
            fix="read more sentences with both models",
        )
    order = generator.permutation(len(sizes))
    filled = np.zeros(_PARTS, dtype=np.intp)
    tenth = np.empty(len(sizes), dtype=np.intp)
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        tenth[group] = filled.argmin()
        filled[tenth[group]] += sizes[group]
    return tenth[numbers]


def _chance(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    count: int,
    generator: np.random.Generator,
) -> float:
    """The 95th of the 99 maxima of maps with the sentences of the second model shuffled.

    Shuffling only permutes the products, each of which occurs twice; single precision is enough for
    a bound that is itself random.
    """
    rows, columns = np.triu_indices(count)
    times = np.where(rows == columns, 1.0, 2.0)
    still = (first[:, rows * count + columns] * times).astype(np.float32)
    # Sentences first, so that reads are contiguous in memory.
    moving = np.ascontiguousarray(second.T, dtype=np.float32)
    maxima = []
    for _ in range(_SHUFFLES):
        order = generator.permutation(count)
        maxima.append((still @ moving[order[rows] * count + order[columns]]).max())
    return float(np.quantile(maxima, LEVEL, method="weibull"))
