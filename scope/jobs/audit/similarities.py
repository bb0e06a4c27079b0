"""The sentence encoder of an audit: for the search, and for the similarity of the texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

import numpy as np

from scope.demo_models.bases import packaged_minilm
from scope.errors import ModelError, ResourceError
from scope.jobs.audit.request import AuditRequest
from scope.jobs.kept_comparisons import KeptComparisons
from scope.jobs.preparation import ChosenCapability
from scope.jobs.sharing import compares_words
from scope.models import load_encoder
from scope.models.options import SENTENCE_ENCODER
from scope.progress import remark
from scope.protocols import ComparesWords, Encoder, Progress, WordEncoder
from scope.records import Example, ScoredPerturbation

PAIRS_AT_ONCE = 256


NO_ENCODER = "none"

AT_HAND: tuple[Callable[[], str], ...] = (lambda: SENTENCE_ENCODER, packaged_minilm)
"""Specs of the encoders that are tried where none is named."""


class ForSearch(NamedTuple):
    """The encoder of an audit, if there is one, and the capabilities that do with it."""

    encoder: Encoder | None
    capabilities: tuple[ChosenCapability, ...]


def encoder_for(request: AuditRequest, chosen: Sequence[ChosenCapability]) -> ForSearch:
    """The encoder that is named, or one that the search needs.

    Where none is named and none can be loaded, words of the most frequent sense count.

    Raises
    ------
    ModelError
        When the encoder that is named cannot be loaded, or cannot do what the search needs.
    """
    by_words = any(compares_words(one.capability) for one in chosen)
    if request.encoder not in (None, NO_ENCODER):
        encoder = load_encoder(request.encoder, request.model_options)
        return ForSearch(_of_words(encoder, request) if by_words else encoder, tuple(chosen))
    if request.min_similarity is not None:
        encoder = load_encoder(SENTENCE_ENCODER, request.model_options)
        return ForSearch(_of_words(encoder, request) if by_words else encoder, tuple(chosen))
    found = None if request.encoder == NO_ENCODER or not by_words else _at_hand(request)
    if found is not None or not by_words:
        return ForSearch(found, tuple(chosen))
    return ForSearch(None, tuple(map(_by_frequency, chosen)))


def _by_frequency(chosen: ChosenCapability) -> ChosenCapability:
    capability = chosen.capability
    if not isinstance(capability, ComparesWords):
        return chosen
    return replace(chosen, capability=capability.without_encoder())


def _at_hand(request: AuditRequest) -> Encoder | None:
    """SemScore's encoder, or else the demo's, which comes as a package."""
    for find in AT_HAND:
        try:
            return _of_words(load_encoder(find(), request.model_options), request)
        except (ModelError, ResourceError):
            continue
    remark(
        request.progress,
        "no sentence encoder at hand: synonyms are those of the most frequent sense "
        f"(--encoder names one, such as {SENTENCE_ENCODER})",
    )
    return None


def _of_words(encoder: Encoder, request: AuditRequest) -> Encoder:
    """An encoder that compares words in context, and keeps what it has compared.

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
    return KeptComparisons(encoder, cache=request.cache)


def with_similarities(
    found: Sequence[ScoredPerturbation],
    examples: Sequence[Example],
    encoder: Encoder | None,
    progress: Progress,
) -> tuple[ScoredPerturbation, ...]:
    """The perturbations with the cosine of each text's vector and its original's, six decimals.

    Unchanged without an encoder.
    """
    if encoder is None:
        return tuple(found)
    originals = {one.id: one.text for one in examples}
    with progress.task("similarity of pairs", len(found)) as advance:
        whole: list[ScoredPerturbation] = []
        for some in _portions(found):
            whole += _measured(some, originals, encoder)
            advance(len(some))
    return tuple(whole)


def _portions(found: Sequence[ScoredPerturbation]) -> Iterator[list[ScoredPerturbation]]:
    each = iter(found)
    while some := list(islice(each, PAIRS_AT_ONCE)):
        yield some


def _measured(
    some: Sequence[ScoredPerturbation], originals: dict[str, str], encoder: Encoder
) -> Iterator[ScoredPerturbation]:
    pairs = [(originals[one.perturbation.example_id], one.perturbation.text) for one in some]
    texts = sorted({text for pair in pairs for text in pair if text is not None and pair[1]})
    vectors = dict(zip(texts, np.asarray(encoder.encode(texts)), strict=True)) if texts else {}
    for one, (before, after) in zip(some, pairs, strict=True):
        if after is None:
            yield one
        else:
            cosine = float(vectors[before] @ vectors[after])
            yield replace(one, similarity=round(min(1.0, max(-1.0, cosine)), 6) + 0.0)
