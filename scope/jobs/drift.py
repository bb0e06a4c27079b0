"""How far the later language models of a job drift from its first one, along its texts.

Along the answers that the first model writes, where answers in words are asked for, and along the
sentences of a cloze as they stand.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from scope.answers import Run
from scope.answers.answers import content_of
from scope.answers.table import as_row, read_row
from scope.estimation.drift import drift_measurements
from scope.jobs.runner import Planned, vectors_work
from scope.models.drift import Drift, Followed
from scope.models.language_models import CausalModel
from scope.models.questions import ask
from scope.models.scheme import Model
from scope.models.written import writer_of
from scope.protocols import Progress
from scope.records import BLANK, Example, GivenAnswer, Measurement, TaskAnswers, TextDrift

MOST_TEXTS = 300
"""More texts are sampled evenly: each costs a pass of both models."""


def drift_along(
    texts: Mapping[str, Followed],
    models: Sequence[Model],
    capability: str | None,
    run: Run,
    progress: Progress,
) -> Iterator[Measurement]:
    """The drift of each later model from the first, if both are language models that run here."""
    some = {name: texts[name] for name in _some(sorted(texts))}
    reference, *others = (writer_of(model.adapter) for model in models)
    first, *names = (model.name for model in models)
    for name, other in zip(names, others, strict=True):
        if some and isinstance(reference, CausalModel) and isinstance(other, CausalModel):
            title = f"{name} along the texts of {first}"
            along = _kept(Drift(reference, other), some, run, progress, title)
            yield from drift_measurements(along, name, first, capability)


def drift_work(models: Sequence[Model], examples: Sequence[Example]) -> Iterator[Planned]:
    """The passes of each pair of language models along the answers with which the texts end."""
    reference, *others = models
    for other in others:
        pair = (reference, other)
        if all(isinstance(writer_of(model.adapter), CausalModel) for model in pair):
            yield from (_passes(model, f"drift of {other.name}", _some(examples)) for model in pair)


def _passes(model: Model, purpose: str, examples: Sequence[Example]) -> Planned:
    """A pass along each answer takes as long as its score."""
    asked = [model.adapter.question(example.text) for example in examples]
    items = [GivenAnswer(question=question, answer=question.draft) for question in asked]
    writer = writer_of(model.adapter)
    return vectors_work(
        model.name, purpose, lambda some: list(ask(writer, "answer_scorer", some)), items
    )


def _some(names: Sequence[Any]) -> Sequence[Any]:
    return names[:: max(1, math.ceil(len(names) / MOST_TEXTS))]


def texts_of(answers: TaskAnswers) -> Iterator[tuple[str, Followed]]:
    """The texts of a task that models follow, by the id of their question."""
    for item, answer in zip(answers.items, answers.answers[0], strict=True):
        question = item.question
        is_cloze = question.text.count(BLANK) == 1 and not question.options
        if is_cloze and item.gold:
            yield question.id, Followed(question.text.replace(BLANK, item.gold[0]))
        elif answer.text and not is_cloze:
            yield question.id, Followed(answer.text, question)


def _kept(
    drift: Drift, texts: Mapping[str, Followed], run: Run, progress: Progress, title: str
) -> dict[str, TextDrift]:
    """How both models follow each text; what the run holds is not computed again."""
    contents = {
        name: json.dumps([text, question and content_of("answerer", question)])
        for name, (text, question) in texts.items()
    }
    owner, read = f"drift {drift.fingerprint}", partial(read_row, TextDrift)
    known = run.table.get("answers", owner, contents.values(), read)
    waiting = {key: texts[name] for name, key in contents.items() if key not in known}
    with progress.task(title, len(texts), len(texts) - len(waiting)) as advance:
        keys = list(waiting)
        for place, followed in drift.along(list(waiting.values())):
            run.table.put("answers", owner, {keys[place]: as_row(followed)})
            known[keys[place]] = followed
            advance()
    return {name: known[key] for name, key in contents.items()}
