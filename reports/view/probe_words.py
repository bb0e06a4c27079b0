"""The words of a report on probes: the steps, the places that were read, and spreads."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from types import MappingProxyType

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

READOUTS: Mapping[str, str] = MappingProxyType(
    {
        "last": "at the last token",
        "mean": "as the mean of the tokens",
        "prompt": "at the last token of a prompt",
    }
)
"""Where a model is read, in words."""


def of_model(findings: ProbeFindings, model: str) -> tuple[StepScore, ...]:
    """A model's scores in the order of its steps."""
    return tuple(score for score in findings.scores if score.model == model)


def last_scores(findings: ProbeFindings) -> tuple[StepScore, ...]:
    """The score of each model's last step, in the order of the models."""
    found = (of_model(findings, model.name) for model in findings.models)
    return tuple(scores[-1] for scores in found if scores)


def read_apart(findings: ProbeFindings, first: str, second: str) -> bool:
    """Whether two models were read at different places of a text or with different prompts."""
    read = {model.name: (model.readout, model.prompt) for model in findings.models}
    return first in read and second in read and read[first] != read[second]


def some_seen(findings: ProbeFindings) -> bool:
    """Whether some test pairs hold a sentence that was learned from; unknown of a saved probe."""
    return findings.train > 0 and findings.unseen < findings.test


def side_of_chance(difference: Estimate | Undefined | None) -> str | None:
    """What the interval of a difference says: ``more``, ``less`` or ``unclear``; None without one.

    >>> side_of_chance(Estimate(value=0.1, low=0.05, high=0.2, n=90, method="Zou"))
    'more'
    >>> side_of_chance(Estimate(value=0.1, low=-0.05, high=0.2, n=90, method="Zou"))
    'unclear'
    """
    return difference.side if isinstance(difference, Estimate) else None


def spread(values: Sequence[float | None]) -> str | None:
    """The mean of several seeds' values and their standard deviation; None of fewer than two seeds.

    Seeds without a value are counted apart.

    >>> spread([0.75, 0.78, 0.81]), spread([0.75])
    ('3 seeds: 0.780\xa0±\xa00.030', None)
    >>> spread([0.75, None, 0.81])
    '2 of 3 seeds: 0.780\xa0±\xa00.042; 1 undefined'
    >>> spread([0.75, None]), spread([None, None])
    ('1 of 2 seeds: 0.750; 1 undefined', '2 seeds: undefined')
    """
    known = [value for value in values if value is not None]
    if len(values) < 2:
        return None
    if not known:
        return f"{len(values)} seeds: undefined"
    told = wording.number(statistics.mean(known))
    if len(known) > 1:
        told += f"\xa0±\xa0{wording.number(statistics.stdev(known))}"
    lacking = len(values) - len(known)
    if not lacking:
        return f"{len(values)} seeds: {told}"
    return f"{len(known)} of {len(values)} seeds: {told}; {lacking} undefined"


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
