"""Scores of new pairs by a saved probe."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError
from scope.jobs.probe.opening import open_probe
from scope.jobs.probe_similarity import ProbeSimilarity
from scope.models import ModelOptions
from scope.paths import expanded
from scope.protocols import Progress


def similarity(
    first: Sequence[str],
    second: Sequence[str],
    *,
    probe: str | Path,
    model: str | None = None,
    model_options: ModelOptions | None = None,
    progress: Progress | None = None,
) -> NDArray[np.float64]:
    """How alike in meaning each two texts are, as a saved probe finds.

    Parameters
    ----------
    first, second
        Texts in parallel. What the model has read of them is kept.
    probe
        The folder in which `probe` saved it.
    model
        Where its model is now; by default where it was then.
    model_options
        Where the model runs; its precision is the one that the probe knows.
    progress
        Progress display; none by default.

    Returns
    -------
    NDArray
        Shape (pairs,), in the range of the scores that the probe was fitted on: the greatest one
        exactly for equal texts, and the same both ways round. An empty text has the least score
        with any other.

    Raises
    ------
    ScopeError
        Whatever the user can fix: see `scope.errors`.
    """
    if isinstance(first, str) or isinstance(second, str) or len(first) != len(second):
        shown = [f"`{one[:40]}`" if isinstance(one, str) else len(one) for one in (first, second)]
        raise DataError(
            f"{shown[0]} beside {shown[1]}",
            expected="two lists of texts of the same length",
            fix="give a list of first texts and a list of second texts, in the same order",
        )
    folder = expanded(probe)
    opened = open_probe(folder, model_options or ModelOptions(), model)
    read = ProbeSimilarity(folder=folder, model=model, opened=opened).read(
        [*first, *second], progress
    )
    low, high = opened.probe.low, opened.probe.high
    shares = read.similarity(first, second)
    return np.where(shares == 1.0, high, low + (high - low) * shares)
