"""How large and how fast the models of a pair are, and how alike their layers."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from scope.errors import DataError, ModelError, SpecError
from scope.jobs.audit.parts import whole_spec
from scope.jobs.latent_store import stored_latents
from scope.jobs.pair.request import PairRequest
from scope.jobs.work import timed
from scope.models.loading import load_latent_reader
from scope.models.weights import weights_of
from scope.probes import align_layers
from scope.protocols import METHODS, Role
from scope.records import (
    AuditResult,
    CompareResult,
    EstimatedResult,
    LayerAlignment,
    ModelCard,
    ModelFacts,
    NotRun,
    Question,
)
from scope.records.asked import BLANK


def facts_of(
    card: ModelCard, loaded: Sequence[Any], part: EstimatedResult, request: PairRequest
) -> ModelFacts:
    """The size of a model, and the time of its answers to what a part asked."""
    found = weights_of(card.spec, request.model_options)
    seconds, count = None, 0
    model = next((one for one in loaded if one.spec == card.spec), None)
    asked, method = _asked(part)
    if model is not None and asked and card.spec.partition(":")[0] not in ("openai", "predictions"):
        ask = getattr(model, method)
        _, seconds, count = timed(asked, lambda some: list(ask(some)))
    return ModelFacts(model=card.name, seconds=seconds, timed=count, **found._asdict())


def _asked(part: EstimatedResult) -> tuple[list[Any], str]:
    """What a part asked a model unchanged, and by which method."""
    if isinstance(part, AuditResult):
        return [one.example.text for one in part.examples], METHODS["classifier"]
    items = part.tasks[0].items if isinstance(part, CompareResult) and part.tasks else ()
    questions = [one.question for one in items]
    return questions, METHODS[_role(questions[0])] if questions else ""


def _role(question: Question) -> Role:
    if question.options:
        return "choice_scorer"
    return "mask_filler" if BLANK in question.text else "answerer"


def aligned_layers(
    request: PairRequest, cards: Sequence[ModelCard], part: EstimatedResult
) -> Iterator[LayerAlignment | NotRun]:
    """The layers of each two models on some texts of a part, by linear CKA."""
    texts = [getattr(one, "text", one) for one in _asked(part)[0]]
    texts = sorted(dict.fromkeys(texts))
    most = min(len(texts), request.sizes["n"])
    drawn = random.Random(request.seed).sample(texts, most)  # noqa: S311 - no secret
    given = {whole_spec(one): one for one in request.models}
    for first, second in combinations(cards, 2):
        try:
            readers = [
                load_latent_reader(given.get(one.spec, one.spec), request.model_options)
                for one in (first, second)
            ]
            rows = [stored_latents(drawn, one, request.progress).rows(drawn) for one in readers]
            values, margins, chance = align_layers(*rows, seed=request.seed)
        except (DataError, ModelError, SpecError) as error:
            name = f"similarity of the layers of {first.name} and {second.name}"
            yield NotRun(job="probe", part=name, reason=" ".join(error.found.split()))
            continue
        yield LayerAlignment(
            first=first.name,
            second=second.name,
            sentences=most,
            values=tuple(map(tuple, values.tolist())),
            margins=tuple(map(tuple, margins.tolist())),
            chance=chance,
        )
