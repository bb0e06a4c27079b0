"""Chooses the encoder that compares words in context, and caches its comparisons."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.answers.cache import shared_table
from scope.answers.searches import compares_words
from scope.errors import ModelError, ResourceError, RunError
from scope.jobs.preparation import ChosenCapability
from scope.jobs.shared_fields import SharesAnswers
from scope.models.certainty import carry_mark, identity_of
from scope.models.loading import load_encoder
from scope.models.options import SENTENCE_ENCODER, ModelOptions
from scope.paths import cache_folder
from scope.progress import remark
from scope.protocols import ComparesWords, Encoder, Swap, WordEncoder


def _packaged() -> str:
    from scope.demo_models.bases import packaged_minilm

    return packaged_minilm()


AT_HAND: tuple[Callable[[], str], ...] = (lambda: SENTENCE_ENCODER, _packaged)
"""Specs of the encoders that are tried where none is named: SemScore's, then the demo's."""


class ForSearch(NamedTuple):
    """The encoder of a search, if any, and the capabilities adapted to it."""

    encoder: Encoder | None
    capabilities: tuple[ChosenCapability, ...]


def encoder_at_hand(
    chosen: Sequence[ChosenCapability], options: ModelOptions, request: SharesAnswers
) -> ForSearch:
    """The first encoder that can be loaded, if a capability compares words.

    If none can be loaded, synonyms are those of the most frequent sense.
    """
    if not any(compares_words(choice.capability) for choice in chosen):
        return ForSearch(None, tuple(chosen))
    for find in AT_HAND:
        try:
            encoder = of_words(load_encoder(find(), options), cache=request.cache)
        except (ModelError, ResourceError):
            continue
        return for_encoder(encoder, chosen)
    missing = "no sentence encoder at hand: synonyms are those of the most frequent sense"
    remark(request.progress, f"{missing} ({SENTENCE_ENCODER} would compare them in their place)")
    return for_encoder(None, chosen)


def for_encoder(encoder: Encoder | None, chosen: Sequence[ChosenCapability]) -> ForSearch:
    """The capabilities as they are with this encoder, or without one."""
    spec = None if encoder is None else encoder.spec
    return ForSearch(
        encoder,
        tuple(
            replace(choice, capability=choice.capability.for_encoder(spec))
            if isinstance(choice.capability, ComparesWords)
            else choice
            for choice in chosen
        ),
    )


def of_words(encoder: Encoder, *, cache: bool) -> KeptComparisons:
    """An encoder that compares words in context and caches the comparisons.

    Raises
    ------
    ModelError
        When it gives vectors of whole texts alone.
    """
    if not isinstance(encoder, WordEncoder):
        raise ModelError(
            f"the encoder `{encoder.spec}` gives vectors of whole texts alone",
            expected="an encoder whose tokens can be read: synonyms are compared in their place",
            fix=f"name an encoder such as {SENTENCE_ENCODER}, or write --setting "
            "synonym.sense=frequent",
        )
    encoder.compare_words([])  # refuses an encoder without vectors of words
    return KeptComparisons(encoder, cache=cache)


class KeptComparisons:
    """A word encoder that computes each comparison once, for all references and runs.

    Parameters
    ----------
    encoder
        The encoder; only comparisons of one that its bytes identify are cached on disk.
    cache
        Whether the disk is used.
    """

    def __init__(self, encoder: WordEncoder, *, cache: bool) -> None:
        self._encoder = encoder
        self._owner = identity_of(encoder) if cache else None
        self.spec, self.fingerprint = encoder.spec, encoder.fingerprint
        self.reproducible = getattr(encoder, "reproducible", "")
        self.encode = encoder.encode
        carry_mark(self, encoder)

    def compare_words(self, swaps: Sequence[Swap]) -> NDArray[np.float64]:
        """As the encoder's own."""
        if self._owner is not None:
            try:
                return self._from_disk(self._owner, swaps)
            except RunError:
                self._owner = None  # a cache that cannot be read or written does not end the run
        return self._encoder.compare_words(swaps)

    def _from_disk(self, owner: str, swaps: Sequence[Swap]) -> NDArray[np.float64]:
        contents = {swap: json.dumps(swap) for swap in swaps}
        with shared_table(cache_folder()) as table:
            values = table.get("vectors", owner, contents.values(), float)
            missing = [swap for swap, content in contents.items() if content not in values]
            if missing:
                cosines = self._encoder.compare_words(missing)
                named = zip(missing, cosines, strict=True)
                computed = {contents[swap]: float(cosine) for swap, cosine in named}
                table.put("vectors", owner, {key: repr(cosine) for key, cosine in computed.items()})
                values |= computed
        return np.array([values[contents[swap]] for swap in swaps])
