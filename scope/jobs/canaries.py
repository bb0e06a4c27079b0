"""Recognises a model whose bytes cannot be hashed by repeating a few inputs.

The fingerprint of a model of Python covers its module, that of an endpoint its address: other
weights may stand behind the same one. So whenever a run is opened that holds answers of such a
model, the inputs with the least SHA-256 among those that have a stored answer are asked once
more, and never looked up. The same choices and probabilities within `DRIFT` are drift, which is
reported. Anything else is another model, and nothing of the run is used or changed.

What differs is asked three times before it counts: a server may decide a tie either way, in
words, which have no probabilities, as in a choice. An answer that once is the stored one again is
no evidence of another model.

A classifier that a run has not asked yet answers eight texts alone and together: one whose answers
depend on the batch is asked text by text from then on, as the run keeps.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError, RunError
from scope.evidence.sameness import (
    CANARIES,
    DRIFT,
    difference_of_answers,
    difference_of_numbers,
    difference_of_predictions,
)
from scope.jobs.identity import NamedModel
from scope.jobs.inference import ask, checked_answers
from scope.models.cached import CachedClassifier, MemoryStore
from scope.models.loading import split_spec
from scope.printing import counted
from scope.progress import Silent
from scope.protocols import Progress, Task
from scope.records import Answer, Question
from scope.store import Run

ASKINGS = 3
"""An answer differs if none of so many is the stored one."""

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

Input = TypeVar("Input", str, Question)
Answered = TypeVar("Answered")


@dataclass(frozen=True, kw_only=True)
class _Canaries(Generic[Input, Answered]):
    """The stored answer to each input, and how inputs are asked again and answers compared."""

    stored: Mapping[Input, Answered]
    ask: Callable[[Sequence[Input]], Sequence[Answered]]
    difference: Callable[[Answered, Answered], float]


def may_change(model: object) -> bool:
    """Whether other weights may stand behind the model's fingerprint."""
    spec = getattr(model, "spec", "")
    return bool(spec) and split_spec(spec)[0] not in HASHED


def least_by_content(inputs: Iterable[Input]) -> list[Input]:
    """The canaries among these inputs: the eight with the least SHA-256, or all if fewer.

    Examples
    --------
    >>> least_by_content(["a", "b", "a"])
    ['b', 'a']
    """
    return sorted(dict.fromkeys(inputs), key=_digest)[:CANARIES]


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
    known = run.get(classifier.fingerprint, list(dict.fromkeys(texts)))
    _choose_batches(model, () if known else least_by_content(texts), run, progress)
    if known:
        canaries = _Canaries(
            stored={text: known[text] for text in least_by_content(known)},
            ask=lambda again: CachedClassifier(classifier, MemoryStore()).classify(again),
            difference=difference_of_predictions,
        )
        _compare(model.name, classifier.spec, canaries, run, progress)
    elif _served(classifier) is not None:
        # The id is known once a server has replied; these answers are wanted anyway.
        CachedClassifier(classifier, run).classify(least_by_content(texts))
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

    def ask_again(again: Sequence[Question]) -> list[Answer]:
        answers = dict(checked_answers(answering_model, task.role, again))
        return [answers.get(place, Answer()) for place in range(len(again))]

    if known:
        stored = {questions[place]: answer for place, answer in known.items()}
        canaries = _Canaries(
            stored={one: stored[one] for one in least_by_content(stored)},
            ask=ask_again,
            difference=difference_of_answers,
        )
        _compare(answering_model.name, model.spec, canaries, run, progress)
    elif _served(model) is not None:
        ask(answering_model, task, least_by_content(questions), store=run, progress=Silent())
    _compare_served(model, run)


def recognise_numbers(
    spec: str,
    known: Sequence[str],
    stored: Callable[[Sequence[str]], Numbers],
    compute: Callable[[Sequence[str]], Numbers],
    *,
    progress: Progress,
    fix: str,
) -> None:
    """Check that a model still computes the cached vectors of texts.

    Numbers within `DRIFT`, as a share of a text's maximum, count as drift, shown as progress.

    Parameters
    ----------
    spec
        The model's.
    known
        The texts of which vectors are kept.
    stored, compute
        The kept vectors of texts, a row each, and the same computed anew.
    fix
        What to do if it is another.

    Raises
    ------
    ModelError
        When it is another one.
    """
    texts = least_by_content(known)
    if not texts:
        return
    with progress.task(f"{spec}: checking that the model is unchanged", len(texts)) as advance:
        given = compute(texts)
        advance(len(texts))
    if len(given) != len(texts):
        return  # Whoever computes the others refuses it.
    differences = list(map(difference_of_numbers, stored(texts), given))
    greatest = max(differences)
    if greatest > DRIFT:
        differing = [text for text, one in zip(texts, differences, strict=True) if one > DRIFT]
        raise ModelError(
            f"`{spec}` is not the model of the cached vectors: of "
            f"{counted(len(texts), 'text')} computed again, {len(differing)} have "
            f"different vectors, such as {differing[0][:80]!r}",
            expected="the model of the cached vectors, with numbers within "
            f"{DRIFT:g} of each vector's maximum, or another `fingerprint`",
            fix=fix,
        )
    if greatest > 0:
        message = f"drift: {spec}: cached and recomputed vectors differ by up to {greatest:.2g}"
        with progress.task(message, len(texts), len(texts)):
            pass


def _compare(
    name: str, spec: str, canaries: _Canaries[Input, Answered], run: Run, progress: Progress
) -> None:
    """Repeat the canaries, those that differ up to three times, and judge the differences."""
    differences = dict.fromkeys(canaries.stored, math.inf)
    left = list(canaries.stored)
    with progress.task(f"{name}: comparing with cached answers", len(left)) as advance:
        for _ in range(ASKINGS):
            run.asked_again += len(left)
            for one, given in zip(left, canaries.ask(left), strict=True):
                difference = canaries.difference(canaries.stored[one], given)
                differences[one] = min(differences[one], difference)
            left = [one for one in left if differences[one] > DRIFT]
            if not left:
                break
        advance(len(differences))
    if left:
        raise _another_model(spec, left, differences.values(), run)
    if (greatest := max(differences.values())) > 0:
        run.drifts.append(
            f"`{spec}` gives the stored choices on {counted(len(differences), 'input')} asked "
            f"again, with probabilities that differ by up to {greatest:.2g} (at most {DRIFT:g} is "
            "drift, not another model); the stored answers are kept"
        )


def _another_model(
    spec: str, differing: Sequence[str | Question], differences: Collection[float], run: Run
) -> RunError:
    other = sum(one == math.inf for one in differences)
    moved = [one for one in differences if DRIFT < one < math.inf]
    how = [f"{other} with another choice or text"] * bool(other)
    if moved:
        how.append(f"{len(moved)} with probabilities that differ by up to {max(moved):.2g}")
    example = differing[0] if isinstance(differing[0], str) else differing[0].text
    return RunError(
        f"`{spec}` is not the model whose answers the run `{run.name}` contains: it "
        f"now answers {len(differing)} of {counted(len(differences), 'input')} differently "
        f"({', '.join(how)}), such as {example[:80]!r}",
        expected="the model with which the run was started: the same choices, and probabilities "
        f"within {DRIFT:g} of the stored ones",
        fix=_WAYS_OUT,
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


def _digest(one: str | Question) -> str:
    content = one if isinstance(one, str) else repr((one.text, one.context, one.options))
    return hashlib.sha256(content.encode("utf-8", "backslashreplace")).hexdigest()
