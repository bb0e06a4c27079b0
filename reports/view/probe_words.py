"""The words of a report on probes: the steps, what was published of them, and spreads."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from reports.view import wording
from scope.records import Estimate, ProbeFindings, StepScore, Undefined

RAW = "raw"
"""The step that learns nothing but which layer to take."""

STEPS: Mapping[str, str] = MappingProxyType(
    {
        RAW: "the layers as they are: the cosine of one layer, the best on the development pairs",
        "mlp": "the cosines of all layers, weighed by one trained layer of numbers",
        "siamese": "an encoder a layer before the cosine, trained on the scored pairs from a start "
        "by chance: siamese networks",
        "autoencoder": "the same encoders, which start from autoencoders that were trained on "
        "sentences without scores",
        "final": "encoders that start from whitened principal components; what training lessens "
        "is the variance of the errors, log Var(ŷ − y)",
    }
)


class Published(NamedTuple):
    """Correlations with people's scores as a paper printed them."""

    pearson: str
    spearman: str


PUBLISHED: Mapping[str, Published] = MappingProxyType(
    {
        "mlp": Published("0.392", "0.4206"),
        "siamese": Published("0.7163", "0.6972"),
        "autoencoder": Published("0.7536", "0.7321"),
        "final": Published("0.7686", "0.7503"),
    }
)
"""FREEZE, with GPT2-medium frozen, on the test pairs of STS-B; it has no step without training."""


def of_model(findings: ProbeFindings, model: str) -> tuple[StepScore, ...]:
    """A model's scores in the order of its steps."""
    return tuple(score for score in findings.scores if score.model == model)


def last_scores(findings: ProbeFindings) -> tuple[StepScore, ...]:
    """The score of each model's last step, in the order of the models."""
    found = (of_model(findings, model.name) for model in findings.models)
    return tuple(scores[-1] for scores in found if scores)


def beyond_chance(difference: Estimate | Undefined | None) -> str | None:
    """What the interval of a difference says: ``more``, ``less`` or ``unclear``; None without one.

    >>> beyond_chance(Estimate(value=0.1, low=0.05, high=0.2, n=90, method="Zou"))
    'more'
    >>> beyond_chance(Estimate(value=0.1, low=-0.05, high=0.2, n=90, method="Zou"))
    'unclear'
    """
    if not isinstance(difference, Estimate):
        return None
    if difference.low > 0:
        return "more"
    return "less" if difference.high < 0 else "unclear"


def spread(values: Sequence[float]) -> str | None:
    """The mean of several seeds' values and their standard deviation; None of fewer than two.

    >>> spread([0.75, 0.78, 0.81]), spread([0.75])
    ('3 seeds: 0.780\xa0±\xa00.030', None)
    """
    if len(values) < 2:
        return None
    mean, deviation = statistics.mean(values), statistics.stdev(values)
    return f"{len(values)} seeds: {wording.number(mean)}\xa0±\xa0{wording.number(deviation)}"


def ranges(numbers: Sequence[int]) -> str:
    """Ascending whole numbers, those in a row as a range.

    >>> ranges([3, 4, 5, 9]), ranges([0, 1]), ranges([])
    ('3–5, 9', '0, 1', '')
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    told = (f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
    return ", ".join(told)
