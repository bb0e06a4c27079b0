"""Reads the answers, questions, costs and communities of a job on a fleet."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from scope.data.fields import Fields, read_fields
from scope.data.specs import open_file
from scope.errors import DataError, SpecError
from scope.jobs.fleet.matrix import CorrectnessMatrix, read_matrix, read_questions
from scope.jobs.fleet.requests import TEST_SHARE, FleetRequest
from scope.paths import expanded
from scope.printing import counted, did_you_mean, listed
from scope.records import DataCard


def load_answers(specs: Sequence[str], request: FleetRequest) -> tuple[CorrectnessMatrix, DataCard]:
    """The joined matrix of several sources, and its data card."""
    matrix = read_matrix(specs, columns=request.roles, most_unusable=request.most_unusable)
    return matrix, _card(", ".join(specs), matrix)


def load_questions(spec: str, request: FleetRequest) -> tuple[CorrectnessMatrix, DataCard]:
    """Questions, with the models' answers if the file has any, and their data card."""
    matrix = read_questions(spec, columns=request.roles, most_unusable=request.most_unusable)
    return matrix, _card(spec, matrix)


WHOLE = 16
"""Number of digits for the whole text in a digest; the other digits are for the first line."""

LONG_LINE = 8
"""Least number of words of a first line that identifies a question."""


def text_digest(text: str) -> str:
    """A hash of the words of a question's text, then of its first line; empty without words.

    Each has sixteen hexadecimal digits. White space, case and the punctuation around a word are
    ignored. A first line of fewer than `LONG_LINE` words does not identify a question, and has no
    hash.

    Examples
    --------
    >>> text_digest(" Who?  ") == text_digest("who"), text_digest(" ")
    (True, '')
    """
    lines = [_words(text), _words(text.strip().partition("\n")[0])]
    return "".join(
        blake2b(" ".join(words).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        for words, least in zip(lines, (1, LONG_LINE), strict=True)
        if len(words) >= least
    )


def _words(text: str) -> list[str]:
    stripped = (word.strip(".,;:?\"'“”‘’") for word in text.casefold().split())
    return [word for word in stripped if word]


def same_texts(questions: CorrectnessMatrix) -> tuple[str, ...]:
    """A name for each question, shared by questions of the same words; its id if it has no text.

    Intervals resample texts: a text with several ids counts as one question.
    """
    pairs = zip(questions.ids, questions.texts, strict=True)
    return tuple(text_digest(text)[:WHOLE] or f"id {name}" for name, text in pairs)


def benchmarks_of(matrix: CorrectnessMatrix, purpose: str) -> tuple[str, ...]:
    """The benchmarks, that is the questions' categories; two or more are required.

    Raises
    ------
    DataError
        If there are fewer.
    """
    benchmarks = sorted({category for category in matrix.categories if category is not None})
    if len(benchmarks) < 2:
        raise DataError(
            f"{counted(len(benchmarks), 'benchmark')} in the categories of "
            f"{counted(len(matrix.ids), 'question')}",
            expected=f"two or more: {purpose}",
            fix="add a column with each question's benchmark, or name it: --column category=NAME",
        )
    return tuple(benchmarks)


def _card(spec: str, matrix: CorrectnessMatrix) -> DataCard:
    """The data card of a matrix; ``labelled`` counts questions with an answer."""
    return DataCard(
        spec=spec,
        fingerprint=matrix.fingerprint,
        rows=len(matrix.ids),
        used=len(matrix.ids),
        labelled=int((~np.isnan(matrix.correct)).any(axis=1).sum()),
    )


_STREAM = 0xE8A3
"""Spawn key of this split's random generator."""


def held_out_rows(texts: Sequence[str], share: float, seed: int) -> NDArray[np.bool_]:
    """Mask of the held-out questions: a random share of them.

    Questions with the same text stay together, to prevent leakage; if they do not fit the share,
    somewhat fewer are held out.

    Parameters
    ----------
    texts
        One per question; empty ones are different questions.

    Raises
    ------
    SpecError
        If none would be held out, or none would remain.

    Examples
    --------
    >>> int(held_out_rows([f"{number} + 1?" for number in range(10)], 0.2, seed=0).sum())
    2
    >>> held_out_rows(["Who?", "Why?", " Who? "], 0.7, seed=0).tolist()
    [False, True, False]
    """
    import pandas

    names = [text_digest(text)[:WHOLE] or f"row {row}" for row, text in enumerate(texts)]
    kinds, _ = pandas.factorize(np.array(names, dtype=object))
    sizes = np.bincount(kinds)
    drawn = np.random.default_rng([seed, _STREAM]).permutation(len(sizes))
    taken, room = [], round(share * len(texts))
    for kind in drawn.tolist():
        if sizes[kind] <= room:
            taken.append(kind)
            room -= sizes[kind]
    if not 0 < len(taken) < len(sizes):
        raise SpecError(
            f"a share of {share:g} of {len(texts)} questions to hold out",
            expected="a share between 0 and 1, with questions in both parts",
            fix=f"write for example --test-share {TEST_SHARE}",
        )
    return np.isin(kinds, taken)


SHOWN = 10
"""The number of names shown in a message."""


def read_costs(path: str | Path) -> dict[str, float]:
    """The cost of each model, from a table with the columns ``model`` and ``cost``.

    Raises
    ------
    DataError
        If a column is missing, a cost is not a number, or a model occurs twice.
    """
    costs: dict[str, float] = {}
    for fields, model in _models(path, "cost"):
        try:
            costs[model] = float(fields.name("cost") or "")
        except ValueError as error:
            raise fields.wrong(
                f"`{fields.values['cost']}` as the cost of `{model}`", "a number"
            ) from error
    return costs


def read_communities(path: str | Path) -> dict[str, str]:
    """The communities of models, from a table with the columns ``model`` and ``community``.

    Raises
    ------
    DataError
        If a column is missing or a model occurs twice.
    """
    named = ((model, fields.name("community")) for fields, model in _models(path, "community"))
    return {model: community for model, community in named if community}


def _models(path: str | Path, meaning: str) -> Iterable[tuple[Fields, str]]:
    """Every row with the name of its model; models are unique."""
    source = open_file(expanded(path))
    seen: set[str] = set()
    names = {"model": ("model",), meaning: (meaning,)}
    for fields in read_fields(source, names, required=("model", meaning)):
        model = fields.name("model")
        if model is None or model in seen:
            raise fields.wrong(
                f"the model `{model}` again" if model else "no model", "each model once"
            )
        seen.add(model)
        yield fields, model


def digest_by_model(values: Mapping[str, object]) -> str | None:
    """Sixteen hexadecimal digits of a hash of the values of models; None if there are none."""
    return short_digest(sorted(values.items())) if values else None


def short_digest(values: object) -> str:
    """Sixteen hexadecimal digits of a hash of JSON-serialisable values."""
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def require_known(
    names: Iterable[str], known: Sequence[str], option: str, kind: str = "model"
) -> None:
    """Check that every name is one of the known models or benchmarks.

    Raises
    ------
    SpecError
        If one is not; the message suggests similar names.

    Examples
    --------
    >>> require_known(["yi-34"], ["yi-34b", "qwen-7b"], "--cost")
    Traceback (most recent call last):
        ...
    scope.errors.SpecError: found:    no model `yi-34` of --cost
    expected: one of the 2 models: `yi-34b`, `qwen-7b`
    fix:      did you mean `yi-34b`?
    """
    for name in names:
        if name not in known:
            raise SpecError(
                f"no {kind} `{name}` of {option}",
                expected=f"one of the {len(known)} {kind}s: {listed(known, SHOWN)}",
                fix=did_you_mean(name, known, "check the spelling", most=3),
            )


def checked_costs(costs: Mapping[str, float], models: Sequence[str]) -> list[float] | None:
    """The costs in the order of the models; None if there are none.

    Raises
    ------
    SpecError
        If a model is unknown, or a cost is negative or not a number.
    DataError
        If some models have a cost and others have none.
    """
    if not costs:
        return None
    for name, cost in costs.items():
        if not (math.isfinite(cost) and cost >= 0):
            raise SpecError(
                f"a cost of {cost} for `{name}`",
                expected="a finite number, 0 or more",
                fix=f"write for example --cost {name}=0.5",
            )
    without = [model for model in models if model not in costs]
    if without:
        raise DataError(
            f"no cost for {len(without)} of {len(models)} models: {listed(without, SHOWN)}",
            expected="a cost for every candidate model",
            fix="add --cost MODEL=COST or a row in the file of --costs, or restrict the "
            "candidates with --model",
        )
    return [costs[model] for model in models]
