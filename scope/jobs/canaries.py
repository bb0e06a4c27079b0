"""Recognises a model whose bytes cannot be hashed by asking for a stored answer again.

The fingerprint of a model of Python covers its module, that of an endpoint its address: other
weights may stand behind the same one. So whenever a run is opened that holds answers of such a
model, the first stored answer is asked for once more, and never looked up. The same choice and
probabilities within `DRIFT` are drift, which is reported. Anything else is another model, and
nothing of the run is used or changed.

What differs is asked three times before it counts: a server may decide a tie either way, in
words, which have no probabilities, as in a choice. An answer that once is the stored one again is
no evidence of another model.

A classifier that a run has not asked yet answers eight texts alone and together: one whose answers
depend on the batch is asked text by text from then on, as the run keeps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError, RunError
from scope.jobs.identity import NamedModel
from scope.jobs.inference import ask, checked_answers
from scope.metrics.sameness import (
    DRIFT,
    difference_of_answers,
    difference_of_numbers,
    difference_of_predictions,
)
from scope.models.cached import CachedClassifier, MemoryStore
from scope.models.loading import split_spec
from scope.progress import Silent
from scope.protocols import Progress, Task
from scope.records import Answer, Question
from scope.store import Run

ASKINGS = 3
"""An answer differs if none of so many is the stored one."""

TOGETHER = 8
"""Texts that a new classifier is asked alone and in one batch."""

HASHED = ("hf", "gguf", "predictions")
"""Schemes whose fingerprint covers the bytes of weights or answers. An object that is passed from
Python, whose ``spec`` names no scheme, answers for its own fingerprint."""

_ID_OF_MODEL = Question(id="served", text="the id that the server gives the model")
"""The key under which the store keeps it."""

_ASKED_ALONE = Question(id="alone", text="asked text by text")
"""The key under which the store keeps that a model is."""

_WAYS_OUT = (
    "to use this model, choose another name with --run; to continue the run, restore "
    "the former model. The run is unchanged, and `scope report` still shows it"
)

Numbers = NDArray[np.float32]

Answered = TypeVar("Answered")


def may_change(model: object) -> bool:
    """Whether other weights may stand behind the model's fingerprint."""
    spec = getattr(model, "spec", "")
    return bool(spec) and split_spec(spec)[0] not in HASHED


def recognise_classifier(
    model: NamedModel, texts: Sequence[str], run: Run, progress: Progress
) -> None:
    """Check that a classifier is the one whose answers to these texts the run contains.

    One that answers differently alone and in a batch is asked text by text (``asked_alone``).

    Raises
    ------
    RunError
        When it is another one.
    ModelError
        When it fails.
    """
    classifier = model.model
    if not may_change(classifier):
        return
    distinct = list(dict.fromkeys(texts))
    known = run.get(classifier.fingerprint, distinct)
    _choose_batches(model, () if known else distinct[:TOGETHER], run, progress)
    if known:
        text = next(text for text in distinct if text in known)

        def difference() -> float:
            [again] = CachedClassifier(classifier, MemoryStore()).classify([text])
            return difference_of_predictions(known[text], again)

        _compare(model, text, difference, run, progress)
    elif _served(classifier) is not None:
        # The id is known once a server has replied; this answer is wanted anyway.
        CachedClassifier(classifier, run).classify(distinct[:1])
    _compare_served(classifier, run)


def _choose_batches(model: NamedModel, texts: Sequence[str], run: Run, progress: Progress) -> None:
    """Have a classifier asked text by text if its answers to these texts depend on the batch.

    Endpoints get one text a request, and equal answers in any batch are certain of some models.
    """
    classifier = model.model
    exact = str(getattr(classifier, "reproducible", "")).startswith("to the byte")
    if exact or _served(classifier) is not None:
        return
    key = f"{classifier.fingerprint} alone"
    classifier.asked_alone = bool(run.get_answers(key, "answerer", [_ASKED_ALONE]))
    if classifier.asked_alone or len(texts) < 2:
        return
    with progress.task(f"{model.name}: comparing answers alone and in a batch", len(texts)):
        answers = []
        for classifier.asked_alone in (False, True):
            answers.append(CachedClassifier(classifier, MemoryStore()).classify(texts))
    differences = map(difference_of_predictions, *answers)
    classifier.asked_alone = max(differences) > DRIFT
    if classifier.asked_alone:
        run.put_answers(key, "answerer", [(_ASKED_ALONE, Answer(text="yes"))])
    run.put(classifier.fingerprint, dict(zip(texts, answers[classifier.asked_alone], strict=True)))


def recognise_answerer(
    answering_model: NamedModel,
    task: Task,
    questions: Sequence[Question],
    run: Run,
    progress: Progress,
) -> None:
    """Check that a model is the one whose answers to these questions the run contains.

    Raises
    ------
    RunError
        When it is another one.
    ModelError
        When it fails.
    """
    model = answering_model.model
    if not may_change(model):
        return
    known = run.get_answers(model.fingerprint, task.role, questions)

    if known:
        place = min(known)
        question = questions[place]

        def difference() -> float:
            again = dict(checked_answers(answering_model, task.role, [question]))
            return difference_of_answers(known[place], again.get(0, Answer()))

        _compare(answering_model, question.text, difference, run, progress)
    elif _served(model) is not None:
        ask(answering_model, task, questions[:1], store=run, progress=Silent())
    _compare_served(model, run)


def recognise_numbers(
    spec: str,
    text: str | None,
    stored: Callable[[Sequence[str]], Numbers],
    compute: Callable[[Sequence[str]], Numbers],
    *,
    progress: Progress,
    fix: str,
) -> None:
    """Check that a model still computes the cached vectors of texts.

    Numbers within `DRIFT`, as a share of the text's maximum, count as drift, shown as progress.

    Parameters
    ----------
    spec
        The model's.
    text
        A text of which vectors are kept; None where there is none.
    stored, compute
        The kept vectors of texts, a row each, and the same computed anew.
    fix
        What to do if it is another.

    Raises
    ------
    ModelError
        When it is another one.
    """
    if text is None:
        return
    with progress.task(f"{spec}: checking that the model is unchanged", 1) as advance:
        computed = compute([text])
        advance()
    if len(computed) != 1:
        return  # Whoever computes the others refuses it.
    difference = difference_of_numbers(stored([text])[0], computed[0])
    if difference > DRIFT:
        raise ModelError(
            f"`{spec}` is not the model of the cached vectors: computed again, those of "
            f"{text[:80]!r} are different",
            expected="the model of the cached vectors, with numbers within "
            f"{DRIFT:g} of each vector's maximum, or another `fingerprint`",
            fix=fix,
        )
    if difference > 0:
        message = f"drift: {spec}: cached and recomputed vectors differ by up to {difference:.2g}"
        with progress.task(message, 1, 1):
            pass


def _compare(
    model: NamedModel, text: str, difference: Callable[[], float], run: Run, progress: Progress
) -> None:
    """Ask for a stored answer up to three times, and judge the least difference."""
    least = math.inf
    with progress.task(f"{model.name}: comparing with a cached answer", 1) as advance:
        for _ in range(ASKINGS):
            run.asked_again += 1
            least = min(least, difference())
            if least <= DRIFT:
                break
        advance()
    spec = model.model.spec
    if least > DRIFT:
        how = f"probabilities that differ by {least:.2g}" if least < math.inf else "another choice"
        raise RunError(
            f"`{spec}` is not the model whose answers the run `{run.name}` contains: it now "
            f"answers {text[:80]!r} with {how}",
            expected="the model with which the run was started: the same choices, and "
            f"probabilities within {DRIFT:g} of the stored ones",
            fix=_WAYS_OUT,
        )
    if least > 0:
        run.drifts.append(
            f"`{spec}` gives a stored choice that was asked for again with probabilities that "
            f"differ by up to {least:.2g} (at most {DRIFT:g} is drift, not another model); the "
            "stored answers are kept"
        )


def _compare_served(model: object, run: Run) -> None:
    """Compare the id that a server gives its model with the stored one, or store the first."""
    served = _served(model)
    if not served:
        return
    key = f"{getattr(model, 'fingerprint', '')} served"
    known = run.get_answers(key, "answerer", [_ID_OF_MODEL]).get(0)
    if known is None:
        run.put_answers(key, "answerer", [(_ID_OF_MODEL, Answer(text=served))])
    elif known.text != served:
        raise RunError(
            f"the server of `{getattr(model, 'spec', '')}` answers with the model `{served}`; the "
            f"answers in the run `{run.name}` are from `{known.text}`",
            expected="the model with which the run was started",
            fix=_WAYS_OUT,
        )


def _served(model: object) -> str | None:
    """The id that a server gives the model, empty where it has not replied; or no server."""
    served: str | None = getattr(model, "served", None)
    return served
