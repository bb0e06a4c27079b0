"""The sentence encoder of an audit: for the search, and for the similarity of the texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from scope.answers.searches import compares_words
from scope.jobs.audit.request import AuditRequest
from scope.jobs.preparation import ChosenCapability
from scope.jobs.word_encoder import ForSearch, encoder_at_hand, for_encoder, of_words
from scope.models.loading import load_encoder
from scope.models.options import SENTENCE_ENCODER
from scope.protocols import Encoder, Progress
from scope.records import Example, ScoredPerturbation

PAIRS_AT_ONCE = 256


def encoder_for(request: AuditRequest, chosen: Sequence[ChosenCapability]) -> ForSearch:
    """The named encoder, or one that the search needs.

    Raises
    ------
    ModelError
        When the named encoder cannot be loaded, or lacks what the search needs.
    """
    if request.encoder == "none":
        return for_encoder(None, chosen)
    if not request.marks_similarity:
        return encoder_at_hand(chosen, request.model_options, request)
    encoder = load_encoder(request.encoder or SENTENCE_ENCODER, request.model_options)
    if any(compares_words(choice.capability) for choice in chosen):
        encoder = of_words(encoder, cache=request.cache)
    return for_encoder(encoder, chosen)


def with_similarities(
    perturbations: Sequence[ScoredPerturbation],
    examples: Sequence[Example],
    encoder: Encoder | None,
    progress: Progress,
) -> tuple[ScoredPerturbation, ...]:
    """The perturbations with the cosine of each text's vector and its original's, six decimals.

    Unchanged without an encoder.
    """
    if encoder is None:
        return tuple(perturbations)
    originals = {example.id: example.text for example in examples}
    measured: list[ScoredPerturbation] = []
    with progress.task("similarity of pairs", len(perturbations)) as advance:
        for start in range(0, len(perturbations), PAIRS_AT_ONCE):
            portion = perturbations[start : start + PAIRS_AT_ONCE]
            measured += _measured(portion, originals, encoder)
            advance(len(portion))
    return tuple(measured)


def _measured(
    some: Sequence[ScoredPerturbation], originals: dict[str, str], encoder: Encoder
) -> Iterator[ScoredPerturbation]:
    pairs = [(originals[row.perturbation.example_id], row.perturbation.text) for row in some]
    texts = sorted({text for pair in pairs for text in pair if text is not None and pair[1]})
    vectors = dict(zip(texts, np.asarray(encoder.encode(texts)), strict=True)) if texts else {}
    for row, (before, after) in zip(some, pairs, strict=True):
        if after is None:
            yield row
        else:
            cosine = float(vectors[before] @ vectors[after])
            yield replace(row, similarity=round(min(1.0, max(-1.0, cosine)), 6) + 0.0)
