"""The words of a report on probes: steps, readouts and spreads."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from reports.view import wording
from scope.records import Estimate, ProbeFindings, StepScore, Undefined

RAW = "raw"
"""The step that only selects a layer."""

STEPS: Mapping[str, str] = MappingProxyType(
    {
        RAW: "no training: the cosine similarity of the best layer on the development pairs",
        "mlp": "a trained linear layer on the cosine similarities of all layers",
        "siamese": "a siamese network: one encoder per layer before the cosine similarity, trained "
        "on the scored pairs from a random initialization",
        "autoencoder": "the same encoders, initialized from autoencoders trained on sentences "
        "without scores",
        "final": "encoders initialized from whitened principal components; the loss is the "
        "variance of the errors, log Var(ŷ − y)",
    }
)

READOUTS: Mapping[str, str] = MappingProxyType(
    {
        "last": "at the last token",
        "mean": "as the mean of the tokens",
        "prompt": "at the last token of a prompt",
    }
)
"""The readouts in words."""


def of_model(findings: ProbeFindings, model: str) -> tuple[StepScore, ...]:
    """A model's scores in the order of the steps."""
    return tuple(score for score in findings.scores if score.model == model)


def last_scores(findings: ProbeFindings) -> tuple[StepScore, ...]:
    """The score of each model's last step, in the order of the models."""
    found = (of_model(findings, model.name) for model in findings.models)
    return tuple(scores[-1] for scores in found if scores)


def read_apart(findings: ProbeFindings, first: str, second: str) -> bool:
    """Whether two models are read at different positions of a text or with different prompts."""
    read = {model.name: (model.readout, model.prompt) for model in findings.models}
    return first in read and second in read and read[first] != read[second]


def some_seen(findings: ProbeFindings) -> bool:
    """Whether some test pairs share a sentence with the training pairs; False for a saved probe."""
    return findings.train > 0 and findings.unseen < findings.test


def side_of_chance(difference: Estimate | Undefined | None) -> str | None:
    """The side of 0 of an interval: ``more``, ``less`` or ``unclear``; None without an interval.

    >>> side_of_chance(Estimate(value=0.1, low=0.05, high=0.2, n=90, method="Zou"))
    'more'
    >>> side_of_chance(Estimate(value=0.1, low=-0.05, high=0.2, n=90, method="Zou"))
    'unclear'
    """
    return difference.side if isinstance(difference, Estimate) else None


def spread(values: Sequence[float | None]) -> str | None:
    """Mean and standard deviation over several seeds; None for fewer than two seeds.

    Undefined values are counted separately.

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
    """Ascending whole numbers, consecutive ones as a range.

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
