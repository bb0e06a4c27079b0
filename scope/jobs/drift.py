"""How far the later language models of a job drift from its first one, along its texts.

Along the answers that the first model writes, where a task asks for answers in words, and along the
sentences of a cloze as they stand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from scope.answers import Run
from scope.answers.table import as_row, read_row
from scope.estimation.drift import drift_measurements
from scope.models.drift import Drift, Followed
from scope.models.language_models import CausalModel
from scope.models.scheme import Model
from scope.protocols import Progress
from scope.records import BLANK, Measurement, TaskAnswers, TextDrift


def drift_along(
    texts: Mapping[str, Followed],
    models: Sequence[Model],
    capability: str,
    run: Run,
    progress: Progress,
) -> Iterator[Measurement]:
    """The drift of each later model from the first, if both are language models that run here."""
    first, *others = models
    for other in others if texts else ():
        if isinstance(first.adapter, CausalModel) and isinstance(other.adapter, CausalModel):
            drift = Drift(first.adapter, other.adapter)
            title = f"{capability}: {other.name} along the texts of {first.name}"
            along = _kept(drift, texts, run, progress, title)
            yield from drift_measurements(along, other.name, first.name, capability)


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
        name: json.dumps([text, *((question and (question.text, question.context)) or ())])
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
