"""Trains the network of the matrix factorization on random pairs of a question and a model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.fleet.forecasters.adam import Adam
from scope.fleet.forecasters.bilinear import Batch, Bilinear, Gradient, Numbers
from scope.fleet.forecasters.noise import Noise
from scope.fleet.layout import Answers


class Settings(NamedTuple):
    """How to train; ``patience`` None goes through all epochs and keeps the last."""

    epochs: int
    batch: int
    learning_rate: float
    weight_decay: float
    noise: float
    patience: int | None


class Held(NamedTuple):
    """Questions that take no part in the training, on which it is judged."""

    vectors: Numbers
    answers: Answers


def descend(
    network: Bilinear,
    vectors: Numbers,
    answers: Answers,
    settings: Settings,
    generator: np.random.Generator,
    held: Held | None = None,
) -> float:
    """Train a network in place; return its log loss on the questions held out, or NaN.

    With ``patience``, the network is in the end as it was after its best epoch, and that loss is
    returned; training ends when that many epochs in a row were no better.
    """
    epoch = _Epoch(network, vectors, answers, settings, generator)
    best, loss, worse = network.flat.copy(), float("nan"), 0
    lowest = float("inf")
    for _ in range(settings.epochs):
        epoch.run()
        if held is None:
            continue
        loss = log_loss(network.logits(held.vectors), held.answers)
        if settings.patience is None:
            continue
        if loss < lowest:
            lowest, worse = loss, 0
            best[...] = network.flat
            continue
        worse += 1
        if worse >= settings.patience:
            break
    if held is None or settings.patience is None:
        return loss
    network.flat[...] = best
    return lowest


def log_loss(logits: Numbers, answers: Answers) -> float:
    """The mean of minus the logarithm of the probability given to each answer that is known.

    Examples
    --------
    >>> logits = np.zeros((1, 2), dtype=np.float32)
    >>> round(log_loss(logits, np.array([[1, np.nan]], dtype=np.float32)), 3)
    0.693
    """
    known = ~np.isnan(answers)
    found = logits[known].astype(np.float64)
    return float((np.logaddexp(0, found) - answers[known] * found).mean())


class _Epoch:
    """One way through all known answers in random order, with all it needs made beforehand."""

    def __init__(
        self,
        network: Bilinear,
        vectors: Numbers,
        answers: Answers,
        settings: Settings,
        generator: np.random.Generator,
    ) -> None:
        self._vectors, self._answers = vectors, answers
        self._generator, self._noisy = generator, settings.noise > 0
        self._cells = np.flatnonzero(~np.isnan(answers))
        self._size = min(settings.batch, len(self._cells))
        most = min(self._size, len(vectors))
        self._table = np.empty((most, vectors.shape[1]), dtype=np.float32)
        self._noise = Noise(settings.noise, self._table.size, generator)
        self._gradient = Gradient(network, self._size)
        self._adam = Adam(
            network.flat,
            learning_rate=settings.learning_rate,
            weight_decay=settings.weight_decay,
        )

    def run(self) -> None:
        self._generator.shuffle(self._cells)
        for start in range(0, len(self._cells), self._size):
            self._step(self._cells[start : start + self._size])

    def _step(self, cells: NDArray[np.int64]) -> None:
        rows, models = np.divmod(cells, self._answers.shape[1])
        distinct, questions = np.unique(rows, return_inverse=True)
        table = self._table[: len(distinct)]
        np.take(self._vectors, distinct, axis=0, out=table, mode="clip")
        if self._noisy:
            # The published code draws noise for every pair. One draw for all of a question's
            # pairs in a step lets each distinct question be projected once; every pair sees
            # noise of the same kind, only not independent of the others' in that step.
            table += self._noise.draw(*table.shape)
        batch = Batch(questions, models, self._answers[rows, models])
        self._adam.step(self._gradient.compute(table, batch))
