"""Which stored models descend from each other, which have nothing to do with each other.

A pair that is neither, such as two other models of one family, counts for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError

BASE_AND_TUNED = (
    ("Meta-Llama-3_1-70B", "Meta-Llama-3_1-70B-Instruct"),
    ("Meta-Llama-3_1-8B", "Meta-Llama-3_1-8B-Instruct"),
    ("Mistral-7B-v0.1", "Mistral-7B-Instruct-v0.1"),
    ("Mistral-7B-v0.2-hf", "Mistral-7B-Instruct-v0.2"),
    ("Mixtral-8x7B-v0.1", "Mixtral-8x7B-Instruct-v0.1"),
    ("Yi-6B", "Yi-6b-Chat"),
    ("Mistral-7B-v0.1", "mathstral-7B"),
)
"""A base and what was trained from it, by the makers' own model cards.

Of Mathstral they say that it is built on Mistral 7B, and not on which version; it is compared with
the first. The others name their base, or bear its name and version.
"""

FAMILIES = {
    "Llama-2": "Llama 2",
    "Meta-Llama-3": "Llama 3",
    "Mistral": "Mistral",
    "Mixtral": "Mistral",
    "mathstral": "Mistral",
    "Qwen": "Qwen",
    "Yi": "Yi",
    "gemini": "Google",
    "gemma": "Google",
}
"""By how a model's name begins; any other model is a family of its own."""


class Lineage(NamedTuple):
    """Every pair of the models by their places, shape (pairs, 2), and what is known of it."""

    pairs: NDArray[np.intp]
    related: NDArray[np.bool_]
    unrelated: NDArray[np.bool_]


def of_language_models(models: Sequence[str]) -> Lineage:
    """A base and what was trained from it are related, models of two families are not."""
    missing = sorted({one for pair in BASE_AND_TUNED for one in pair} - set(models))
    if missing:
        raise DataError(
            f"no answers of {', '.join(missing)}",
            expected="the models whose lineage is known",
            fix="name a folder that has them with --data",
        )
    known = {frozenset(pair) for pair in BASE_AND_TUNED}
    pairs = list(combinations(range(len(models)), 2))
    named = [(models[one], models[other]) for one, other in pairs]
    return Lineage(
        np.array(pairs),
        related=np.array([frozenset(pair) in known for pair in named]),
        unrelated=np.array([family(one) != family(other) for one, other in named]),
    )


def family(model: str) -> str:
    """Who a language model's kin are, by its name."""
    return next((kin for start, kin in FAMILIES.items() if model.startswith(start)), model)
