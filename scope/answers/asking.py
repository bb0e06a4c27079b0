"""Asks the models of a job, and recognises those whose bytes cannot be hashed.

The fingerprint of a model of Python covers its module, that of an endpoint its address: other
weights may have the same name. So whenever a run is opened that holds answers of such a
model, `REPEATED` stored answers are requested again, not looked up; of an endpoint whose answers
do not vary, one. Probabilities within `DRIFT` and equal words are the same model, which is
reported. Anything else is another model, and nothing of the run is used or changed.

If an answer differs, it is requested up to three times, and one match is enough: a server may
break ties differently.

A classifier, or an endpoint in any role, that is new to a run answers `REPEATED` texts alone and
in one batch. If the answers of a classifier of Python differ, it is asked text by text, also when
the run is resumed. Those of an endpoint depend on what it is asked by others at the time: their
`Spread` is kept, and what lies within it is the same model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from scope.answers.answers import AnswerStore, Memory
from scope.answers.run import Run
from scope.errors import ModelError, RunError
from scope.models.questions import KINDS, ask, in_order
from scope.models.saved import MissingPredictionsError, TableColumn
from scope.models.scheme import Model, scheme_of
from scope.protocols import Progress, Role, Task
from scope.records import OBJECT, Answer, Prediction, Question
from scope.records.result import DIFFERENTLY

ASKINGS = 3
"""Attempts; one of them must give the stored answer."""

_WAYS_OUT = (
    "to use this model, choose another name with --run; to continue the run, restore "
    "the former model. The run is unchanged, and `scope report` still shows it"
)

REPEATED = 8
"""Texts that a new model is asked alone and in one batch, and answers that are asked for again."""

_SPREAD = "spread"

Numbers = NDArray[np.float32]


class Spread(NamedTuple):
    """How much an endpoint's answers vary: the greatest difference of a probability, and others."""

    greatest: float
    others: int


def answer_questions(
    model: Model, task: Task, questions: Sequence[Question], run: Run, progress: Progress
) -> tuple[Answer, ...]:
    """One model's answers to all questions, in their order; see `AnswerStore.get`."""
    if model.saved or isinstance(model.adapter, TableColumn):
        # Saved answers were checked as they were read.
        answers = getattr(model.adapter, KINDS[task.role].method)(questions)
        return tuple(in_order(model.adapter, questions, answers))
    title = f"{task.name}: {model.name}"
    return tuple(run.get(model.adapter, task.role, questions, progress=progress, title=title))


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


def recognise(model: Model, role: Role, items: Sequence[Any], run: Run, progress: Progress) -> None:
    """Check that a model is the one whose answers to texts or questions the run contains.

    A classifier that answers differently alone and in a batch is asked text by text
    (``asked_alone``).

    Raises
    ------
    RunError
        When it is another one.
    ModelError
        When it fails.
    """
    if not may_change(model.adapter):
        return
    items = list(dict.fromkeys(items))
    known = run.known(model.fingerprint, items, role)
    _noted_spread(model.adapter, run)
    if known and not _is_same(model, role, known, run, progress):
        model.adapter.fingerprint, known = f"{OBJECT}{uuid4().hex}", {}
    if not known:
        _compare_batches(model, role, items[:REPEATED], run, progress)
    _compare_served(model.adapter, run)


def _is_same(
    model: Model, role: Role, known: Mapping[Any, Any], run: Run, progress: Progress
) -> bool:
    """Ask for stored answers up to three times each, and judge their least differences.

    Whether it is the same model; another one that is no object of this process is an error.
    """
    spread = _noted_spread(model.adapter, run)
    within, most_others = (spread.greatest + DRIFT, spread.others) if spread else (DRIFT, 0)
    repeated = 1 if spread is None and _served(model.adapter) is not None else REPEATED
    stored = dict(islice(known.items(), repeated))
    with progress.task(f"{model.name}: comparing with cached answers", 1) as advance:
        least = _least_differences(model, role, stored, within, run)
        advance()
    others = [item for item, value in least.items() if value > within]
    greatest = max((value for value in least.values() if value <= within), default=0.0)
    if len(others) > min(most_others, len(least) - 1):
        if model.is_object:
            run.drifts.append(f"{model.name} answers differently than before: it is asked anew")
            return False
        raise _another_model(model.spec, others[0], least[others[0]], within, run)
    if greatest > 0:
        run.drifts.append(
            f"`{model.spec}` gives stored answers that were asked for again with probabilities "
            f"that differ by up to {greatest:.2g} (at most {within:.2g} is drift, not another "
            "model); the stored answers are kept"
        )
    return True


def _least_differences(
    model: Model, role: Role, stored: Mapping[Any, Any], within: float, run: Run
) -> dict[Any, float]:
    """How much each stored answer differs from the nearest of up to three new ones.

    Those at which the server fails are left out: they say nothing of the model.
    """
    difference: Any = KINDS[role].difference
    least, left, failed = dict.fromkeys(stored, math.inf), [*stored], []
    for _ in range(ASKINGS):
        run.asked_again += len(left)
        answers = ask(model.adapter, role, left)
        again = {left[place]: answer for place, answer in answers}
        for item, answer in again.items():
            least[item] = min(least[item], difference(stored[item], answer))
        failed = [item for item, answer in again.items() if answer.missing == "server"]
        left = [item for item in left if least[item] > within]
        if not left:
            break
    if len(failed) == len(stored):
        raise ModelError(
            f"the server of `{model.spec}` fails at {_text(failed[0])!r}, by whose answer the "
            "model is recognised",
            expected="an answer to a question that the run contains",
            fix="check the server's log; the same command resumes the run",
        )
    return {item: value for item, value in least.items() if item not in failed}


def _another_model(spec: str, item: Any, least: float, within: float, run: Run) -> RunError:
    how = f"probabilities that differ by {least:.2g}" if least < math.inf else "another choice"
    return RunError(
        f"`{spec}` is not the model whose answers the run `{run.name}` contains: it now "
        f"answers {_text(item)!r} with {how}",
        expected="the model with which the run was started: the same choices, and "
        f"probabilities within {within:.2g} of the stored ones",
        fix=_WAYS_OUT,
    )


def _text(item: Any) -> str:
    return (item if isinstance(item, str) else item.text)[:80]


def _compare_batches(
    model: Model, role: Role, items: Sequence[Any], run: Run, progress: Progress
) -> None:
    """Compare answers alone and in a batch, of a classifier or an endpoint that is new to a run."""
    adapter, served = model.adapter, _served(model.adapter) is not None
    exact = str(getattr(adapter, "reproducible", "")).startswith("to the byte")
    if exact or not items or not (served or role == "classifier"):
        return
    with progress.task(f"{model.name}: comparing answers alone and in a batch", 1) as advance:
        # Those of an endpoint are wanted anyway, and kept as soon as they are there.
        store: AnswerStore = run if served else Memory()
        together = store.get(adapter, role, items)
        if len(items) > 1 and not (served and run.fact(_SPREAD, adapter.fingerprint)):
            alone = [Memory().get(adapter, role, [item])[0] for item in items]
            _note(model, role, together, alone, run)
            together = alone if getattr(adapter, "asked_alone", False) else together
        advance()
    if not served:
        run.keep(adapter.fingerprint, dict(zip(items, together, strict=True)))


def _note(
    model: Model, role: Role, together: Sequence[Any], alone: Sequence[Any], run: Run
) -> None:
    """Note that a classifier is asked text by text, or how much an endpoint's answers vary."""
    pairs = zip(together, alone, strict=True)
    # What the server fails at says nothing of the model.
    told = [pair for pair in pairs if "server" not in (pair[0].missing, pair[1].missing)]
    difference: Any = KINDS[role].difference
    differences = [difference(*pair) for pair in told]
    others = differences.count(math.inf)
    spread = Spread(max((value for value in differences if value < math.inf), default=0.0), others)
    if max(differences, default=0.0) > DRIFT:
        run.keep_fact(_SPREAD, model.fingerprint, json.dumps(spread))
        _noted_spread(model.adapter, run)


def _noted_spread(adapter: Any, run: Run) -> Spread | None:
    """The spread of an endpoint that the run has noted; other models are asked text by text."""
    noted = run.fact(_SPREAD, adapter.fingerprint)
    if noted is None:
        return None
    if _served(adapter) is None:
        adapter.asked_alone = True
        return None
    spread = Spread(*json.loads(noted))
    adapter.varies = (
        f"{DIFFERENTLY}among other requests: probabilities by up to {spread.greatest:.2g}, and "
        f"{spread.others} of {REPEATED} answers were others"
    )
    return spread


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
    kept: Mapping[str, Numbers],
    compute: Callable[[list[str]], Numbers],
    *,
    progress: Progress,
    fix: str,
) -> None:
    """Check that a model still computes the cached vectors of texts.

    Numbers within `DRIFT`, as a share of the text's maximum, count as drift, shown as progress.

    Parameters
    ----------
    kept
        Vectors by text, of which the first is computed again; maybe none.
    compute
        The vectors of texts, a row each.
    fix
        What to do if it is another.

    Raises
    ------
    ModelError
        When it is another one.
    """
    if not kept:
        return
    text = next(iter(kept))
    with progress.task(f"{spec}: checking that the model is unchanged", 1) as advance:
        computed = compute([text])
        advance()
    if len(computed) != 1:
        return  # Whoever computes the others refuses it.
    greatest = difference_of_numbers(kept[text], computed[0])
    if greatest > DRIFT:
        raise ModelError(
            f"`{spec}` is not the model of the cached vectors: computed again, those of "
            f"{text[:80]!r} are different",
            expected="the model of the cached vectors, with numbers within "
            f"{DRIFT:g} of each vector's maximum, or another `fingerprint`",
            fix=fix,
        )
    if greatest > 0:
        message = f"drift: {spec}: cached and recomputed vectors differ by up to {greatest:.2g}"
        with progress.task(message, 1, 1):
            pass


DRIFT = 1e-3
"""Greatest difference of a probability that other hardware, batches or libraries cause."""


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
