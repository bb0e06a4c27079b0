"""The words of a probe's report: steps, positions, and spreads over seeds."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from scope.records import Estimate, ProbeFindings, StepScore, Undefined
from scope.sections.wording import number

RAW = "raw"
"""The step that only selects a layer."""

STEP_MEANINGS: Mapping[str, str] = MappingProxyType(
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

POSITIONS: Mapping[str, str] = MappingProxyType(
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


def scores_by_model(findings: ProbeFindings) -> Iterator[tuple[str, tuple[StepScore, ...]]]:
    """The scores of each model that has any, in the order of the findings."""
    for name in dict.fromkeys(score.model for score in findings.scores):
        yield name, of_model(findings, name)


def last_scores(findings: ProbeFindings) -> tuple[StepScore, ...]:
    """The score of each model's last step, in the order of the models."""
    found = (of_model(findings, model.name) for model in findings.models)
    return tuple(scores[-1] for scores in found if scores)


def read_apart(findings: ProbeFindings, first: str, second: str) -> bool:
    """Whether two models are read at different positions of a text or with different prompts."""
    read = {model.name: (model.readout, model.prompt) for model in findings.models}
    return first in read and second in read and read[first] != read[second]


def some_read_apart(findings: ProbeFindings) -> bool:
    """Whether some models that are compared are not read in the same way."""
    return any(read_apart(findings, one.first, one.second) for one in findings.differences)


def some_seen(findings: ProbeFindings) -> bool:
    """Whether some test pairs share a sentence with the training pairs; False for a saved probe."""
    return findings.train > 0 and findings.unseen < findings.test


def lowered(scores: Sequence[StepScore]) -> tuple[Estimate, Estimate] | None:
    """The correlations of a model's step ``raw`` and of its last step if that is lower."""
    raw = next((score.pearson for score in scores[:-1] if score.step == RAW), None)
    last = scores[-1].pearson
    if isinstance(raw, Estimate) and isinstance(last, Estimate) and last.value < raw.value:
        return raw, last
    return None


def side_of_chance(difference: Estimate | Undefined | None) -> str | None:
    """The side of 0 of an interval: ``more``, ``less`` or ``unclear``; None without an interval.

    >>> side_of_chance(Estimate(value=0.1, low=0.05, high=0.2, n=90, method="Zou"))
    'more'
    >>> side_of_chance(Estimate(value=0.1, low=-0.05, high=0.2, n=90, method="Zou"))
    'unclear'
    """
    return difference.side if isinstance(difference, Estimate) else None


def most_seeds(scores: Sequence[StepScore]) -> int:
    """The largest number of seeds of a step."""
    return max((len(score.pearsons) for score in scores), default=0)


def spread(values: Sequence[float | None]) -> str:
    """Mean and standard deviation over several seeds; empty for fewer than two seeds.

    Undefined values are counted separately.

    >>> spread([0.75, 0.78, 0.81]), spread([0.75])
    ('3 seeds: 0.780\xa0±\xa00.030', '')
    >>> spread([0.75, None, 0.81])
    '2 of 3 seeds: 0.780\xa0±\xa00.042; 1 undefined'
    >>> spread([0.75, None]), spread([None, None])
    ('1 of 2 seeds: 0.750; 1 undefined', '2 seeds: undefined')
    """
    known = [value for value in values if value is not None]
    if len(values) < 2:
        return ""
    if not known:
        return f"{len(values)} seeds: undefined"
    words = number(statistics.mean(known))
    if len(known) > 1:
        words += f"\xa0±\xa0{number(statistics.stdev(known))}"
    lacking = len(values) - len(known)
    if not lacking:
        return f"{len(values)} seeds: {words}"
    return f"{len(known)} of {len(values)} seeds: {words}; {lacking} undefined"


def ranges(numbers: Sequence[int]) -> str:
    """Ascending whole numbers, consecutive ones as a range.

    >>> ranges([3, 4, 5, 9]), ranges([0, 1]), ranges([])
    ('3–5, 9', '0, 1', '')
    """
    runs: list[list[int]] = []
    for one in numbers:
        if runs and one == runs[-1][-1] + 1:
            runs[-1].append(one)
        else:
            runs.append([one])
    words = (f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
    return ", ".join(words)
