"""How large and how fast the models of a pair are, and how alike their layers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from scope.answers.vectors import stored_latents
from scope.errors import ScopeError
from scope.jobs.audit.matrix import whole_spec
from scope.jobs.pair.parts import left_out
from scope.jobs.pair.request import PairRequest
from scope.jobs.probe.steps import aligned
from scope.models.loading import load_latent_reader
from scope.records import AuditResult, CompareResult, EstimatedResult, LayerAlignment, NotRun
from scope.records.examples import BLANK
from scope.records.result import ModelCard


def asked_in(part: EstimatedResult) -> tuple[str, list[Any]]:
    """What a part asked a model unchanged, behind the method by which it did."""
    if isinstance(part, AuditResult):
        return "classify", [example.example.text for example in part.examples]
    items = part.tasks[0].items if isinstance(part, CompareResult) else ()
    questions = [item.question for item in items]
    if any(question.options for question in questions):
        return "choose", questions
    return "fill" if any(BLANK in question.text for question in questions) else "answer", questions


def aligned_layers(
    request: PairRequest, cards: Sequence[ModelCard], part: EstimatedResult
) -> Iterator[LayerAlignment | NotRun]:
    """The layers of each two models on some texts of a part, by linear CKA."""
    texts = sorted({getattr(one, "text", one) for one in asked_in(part)[1]})
    most = min(len(texts), request.sizes["n"])
    drawn = random.Random(request.seed).sample(texts, most)  # noqa: S311 - no secret
    given = {whole_spec(model): model for model in request.models}
    for first, second in combinations(cards, 2):
        names = (first.name, second.name)
        try:
            latents = []
            for one in (first, second):
                reader = load_latent_reader(given.get(one.spec, one.spec), request.model_options)
                latents.append(stored_latents(drawn, reader, request.progress).rows(drawn))
            yield aligned(names, latents, request.seed)
        except ScopeError as error:
            part_name = f"similarity of the layers of {' and '.join(names)}"
            yield left_out(part_name, "probe", error)
