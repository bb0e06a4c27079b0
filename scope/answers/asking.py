"""Asks the models of a job, and recognises those whose bytes cannot be hashed.

The fingerprint of a model of Python covers its module, that of an endpoint its address: other
weights may have the same name. So whenever a run is opened that holds answers of such a
model, the first stored answer is requested again, not looked up. The same choice and
probabilities within `DRIFT` are drift, which is reported. Anything else is another model, and
nothing of the run is used or changed.

If the answer differs, it is requested up to three times, and one match is enough: a server may
break ties differently.

A classifier that is new to a run answers eight texts alone and in one batch. If the answers differ,
it is asked text by text, also when the run is resumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.answers.answers import Memory, checked, in_order
from scope.answers.run import Run
from scope.errors import ModelError, RunError
from scope.models.answer_table import TableColumn
from scope.models.model import Model
from scope.models.saved import MissingPredictionsError
from scope.models.scheme import scheme_of
from scope.protocols import Progress, Role, Task
from scope.records import Answer, Prediction, Question

DRIFT = 1e-3
"""Greatest difference of a probability that other hardware, batches or libraries cause."""

ASKINGS = 3
"""Attempts; one of them must give the stored answer."""

TOGETHER = 8
"""Texts that a new classifier is asked alone and in one batch."""

_WAYS_OUT = (
    "to use this model, choose another name with --run; to continue the run, restore "
    "the former model. The run is unchanged, and `scope report` still shows it"
)

Numbers = NDArray[np.float32]


def ask(
    model: Model, task: Task, questions: Sequence[Question], store: Run, progress: Progress
) -> tuple[Answer, ...]:
    """One model's answers to all questions, in their order; see `Answers.get`."""
    if model.saved or isinstance(model.adapter, TableColumn):
        # The letters of a table were compared with the options as they were read.
        looked_up = (
            model.adapter.choose(questions)
            if isinstance(model.adapter, TableColumn)
            else checked(model.adapter, task.role, questions, own=model.own)
        )
        known = dict(looked_up)
        answers = [known.get(place) for place in range(len(questions))]
        return tuple(in_order(model.adapter, questions, answers))
    title = f"{task.name}: {model.name}"
    return tuple(
        store.get(
            model.adapter, task.role, questions, own=model.own, progress=progress, title=title
        )
    )


def answer_texts(
    model: Model, texts: Sequence[str], run: Run, progress: Progress
) -> dict[str, Prediction]:
    """One model's predictions by text, each asked for once.

    Raises
    ------
    ModelError
        When saved predictions lack texts; the run's folder then holds a file of them.
    """
    texts = list(dict.fromkeys(texts))
    if not model.saved:
        title = f"{model.name}: answering"
        answers = run.get(model.adapter, "classifier", texts, progress=progress, title=title)
        return dict(zip(texts, answers, strict=True))
    try:
        return dict(zip(texts, model.adapter.classify(texts), strict=True))
    except MissingPredictionsError as error:
        path = run.write_texts(model.name, error.texts)
        raise ModelError(
            error.found,
            expected=error.expected,
            fix=f"run the model on the texts in {path}, add the "
            "rows to its file, and run the same command again",
        ) from error


def may_change(model: object) -> bool:
    """Whether other weights may answer under the model's fingerprint.

    An object that is passed from Python, whose ``spec`` names no scheme, vouches for its own.
    """
    spec = getattr(model, "spec", "")
    scheme = scheme_of(spec) if spec else None
    return scheme is not None and not (scheme.computed or scheme.saved)


def recognise_classifier(model: Model, texts: Sequence[str], run: Run, progress: Progress) -> None:
    """Check that a classifier is the one whose answers to these texts the run contains.

    One that answers differently alone and in a batch is asked text by text (``asked_alone``).

    Raises
    ------
    RunError
        When it is another one.
    ModelError
        When it fails.
    """
    if may_change(model.adapter):
        texts = list(dict.fromkeys(texts))
        known = run.known(model.fingerprint, texts)
        _choose_batches(model, () if known else texts[:TOGETHER], run, progress)
        _recognise(model, "classifier", texts, known, run, progress)


def recognise_answerer(
    model: Model, task: Task, questions: Sequence[Question], run: Run, progress: Progress
) -> None:
    """Check that a model is the one whose answers to these questions the run contains.

    Raises
    ------
    RunError
        When it is another one.
    ModelError
        When it fails.
    """
    if may_change(model.adapter):
        known = run.known(model.fingerprint, questions, task.role)
        _recognise(model, task.role, questions, known, run, progress)


def _recognise(
    model: Model,
    role: Role,
    items: Sequence[Any],
    known: Mapping[Any, Any],
    run: Run,
    progress: Progress,
) -> None:
    first = next((item for item in items if item in known), None)
    if first is not None:
        _ask_again(model, role, first, known[first], run, progress)
    elif _served(model.adapter) is not None:
        # The id is known once a server has replied; this answer is wanted anyway.
        run.get(model.adapter, role, items[:1], own=model.own)
    _compare_served(model.adapter, run)


def _ask_again(
    model: Model, role: Role, item: Any, stored: Any, run: Run, progress: Progress
) -> None:
    """Ask for a stored answer up to three times, and judge the least difference."""
    difference_of = difference_of_predictions if role == "classifier" else difference_of_answers
    least = math.inf
    with progress.task(f"{model.name}: comparing with a cached answer", 1) as advance:
        for _ in range(ASKINGS):
            run.asked_again += 1
            again = dict(checked(model.adapter, role, [item], own=model.own)).get(0, Answer())
            least = min(least, difference_of(stored, again))
            if least <= DRIFT:
                break
        advance()
    spec = model.spec
    if least > DRIFT:
        how = f"probabilities that differ by {least:.2g}" if least < math.inf else "another choice"
        text = item if isinstance(item, str) else item.text
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


def _choose_batches(model: Model, texts: Sequence[str], run: Run, progress: Progress) -> None:
    """Have a classifier asked text by text if its answers to these texts depend on the batch.

    Endpoints get one text a request, and equal answers in any batch are certain of some models.
    """
    classifier = model.adapter
    exact = str(getattr(classifier, "reproducible", "")).startswith("to the byte")
    if exact or _served(classifier) is not None:
        return
    classifier.asked_alone = run.fact("asked text by text", classifier.fingerprint) is not None
    if classifier.asked_alone or len(texts) < 2:
        return
    with progress.task(f"{model.name}: comparing answers alone and in a batch", len(texts)):
        together = Memory().get(classifier, "classifier", texts)
        classifier.asked_alone = True
        alone = Memory().get(classifier, "classifier", texts)
    classifier.asked_alone = max(map(difference_of_predictions, together, alone)) > DRIFT
    if classifier.asked_alone:
        run.keep_fact("asked text by text", classifier.fingerprint, "yes")
    answers = alone if classifier.asked_alone else together
    run.keep(classifier.fingerprint, dict(zip(texts, answers, strict=True)))


def _compare_served(model: Any, run: Run) -> None:
    """Compare the id that a server gives its model with the stored one, or store the first."""
    served = _served(model)
    if not served:
        return
    known = run.fact("served", model.fingerprint)
    if known is None:
        run.keep_fact("served", model.fingerprint, served)
    elif known != served:
        raise RunError(
            f"the server of `{model.spec}` answers with the model `{served}`; the "
            f"answers in the run `{run.name}` are from `{known}`",
            expected="the model with which the run was started",
            fix=_WAYS_OUT,
        )


def _served(model: object) -> str | None:
    """The id that a server gives the model, empty where it has not replied; or no server."""
    served: str | None = getattr(model, "served", None)
    return served


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


def difference_of_predictions(first: Prediction, second: Prediction) -> float:
    """The greatest difference of a probability; infinite if another label or token is chosen.

    A token that only one prediction has counts, in the other, as at most the least probability
    there.

    Examples
    --------
    >>> one = Prediction(probabilities=(0.75, 0.25))
    >>> difference_of_predictions(one, Prediction(probabilities=(0.5, 0.5)))
    0.25
    >>> difference_of_predictions(one, Prediction(probabilities=(0.25, 0.75)))
    inf
    """
    if first.choice != second.choice:
        return math.inf
    if not (first.tokens or second.tokens):
        return _greatest(first.probabilities, second.probabilities)
    ones = dict(zip(first.tokens, first.probabilities, strict=True))
    others = dict(zip(second.tokens, second.probabilities, strict=True))
    return max(_beyond(ones, others), _beyond(others, ones))


def difference_of_answers(first: Answer, second: Answer) -> float:
    """The same for answers to a question; infinite for another option or other words.

    Words are compared without case and spaces; equal ones differ by 0. Two missing answers are
    equal, and differ from any other.

    Examples
    --------
    >>> difference_of_answers(Answer(text="In 1066"), Answer(text="in  1066"))
    0.0
    >>> difference_of_answers(Answer(text="in 1066"), Answer())
    inf
    """
    if (first.choice, _words(first)) != (second.choice, _words(second)):
        return math.inf
    if len(first.probabilities) != len(second.probabilities):
        return 0.0
    return _greatest(first.probabilities, second.probabilities)


def difference_of_numbers(first: NDArray[np.float32], second: NDArray[np.float32]) -> float:
    """The greatest difference of a number of two arrays, as a share of the first's greatest.

    Examples
    --------
    >>> difference_of_numbers(np.float32([4, 1]), np.float32([4, 2]))
    0.25
    """
    if first.shape != second.shape or not np.isfinite(second).all():
        return math.inf
    greatest = float(np.abs(first).max(initial=0.0)) or 1.0
    return float(np.abs(first - second).max(initial=0.0)) / greatest


def _words(answer: Answer) -> str | None:
    return None if answer.text is None else " ".join(answer.text.casefold().split())


def _greatest(first: tuple[float, ...], second: tuple[float, ...]) -> float:
    if len(first) != len(second):
        return math.inf
    return max((abs(a - b) for a, b in zip(first, second, strict=True)), default=0.0)


def _beyond(ones: dict[str, float], others: dict[str, float]) -> float:
    least = min(others.values(), default=0.0)
    return max(
        (
            abs(share - others[token]) if token in others else max(0.0, share - least)
            for token, share in ones.items()
        ),
        default=0.0,
    )
