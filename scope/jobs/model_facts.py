"""How large a model is, and how fast it answers here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scope.jobs.work import timed
from scope.models import ModelOptions
from scope.models.loading import split_spec
from scope.models.weights import weights_of
from scope.records import ModelCard, ModelFacts
from scope.registry import SAVED


def facts_of(
    card: ModelCard, model: Any, method: str, asked: Sequence[Any], options: ModelOptions
) -> ModelFacts:
    """The size of a model by its files, and the mean time of some of its answers.

    Parameters
    ----------
    model
        The model that answers; None where none is loaded. Endpoints and saved answers are not
        timed.
    method
        How it is asked for many answers at once, such as ``classify``.
    """
    size = weights_of(card.spec, options)
    answers = split_spec(card.spec)[0] not in ("openai", *SAVED)
    if model is None or not asked or not answers:
        return ModelFacts(model=card.name, **size._asdict())
    ask = getattr(model, method)
    found = timed(asked, lambda some: list(ask(some)))
    return ModelFacts(model=card.name, seconds=found.each, timed=found.answered, **size._asdict())
