"""What a probe's errors cost in training."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scope.models.torch_setup import load_torch

_PULL = 0.1


def squared(errors: Any) -> Any:
    """The mean squared error.

    Examples
    --------
    >>> squared(load_torch().tensor([1.0, -3.0])).item()
    5.0
    """
    return errors.square().mean()


def log_variance(errors: Any) -> Any:
    """The logarithm of the errors' variance, with a tenth of their squared mean.

    The paper has the variance alone, which leaves the mean of the scores free; the second term
    holds it, so that scores stay in their range.

    Examples
    --------
    A variance of 1 and a mean of 2:

    >>> round(log_variance(load_torch().tensor([1.0, 2.0, 3.0])).item(), 3)
    0.4
    """
    return load_torch().log(errors.var() + 1e-6) + _PULL * errors.mean() ** 2


LOSSES: Mapping[str, Callable[[Any], Any]] = {"squared": squared, "log_variance": log_variance}
