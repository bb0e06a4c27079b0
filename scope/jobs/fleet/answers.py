"""Reads the answers and questions of a job on a fleet, and identifies their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np

from scope.errors import DataError, SpecError
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.reading import Questions, read_matrix, read_questions
from scope.printing import counted
from scope.records import DataCard


def load_answers(
    specs: Sequence[str], columns: Mapping[str, str]
) -> tuple[CorrectnessMatrix, DataCard]:
    """The joined matrix of several sources, and its data card.

    Raises
    ------
    SpecError
        If there is no source.
    """
    if not specs:
        raise SpecError(
            "no answers to fit on",
            expected="a table, a folder of saved answers or a run of `scope compare`",
            fix="write for example --data answers.csv",
        )
    matrix = read_matrix(specs, columns=columns)
    return matrix, _card(", ".join(specs), matrix)


def load_questions(spec: str, columns: Mapping[str, str]) -> tuple[CorrectnessMatrix, DataCard]:
    """Questions, with the models' answers if the file has any, and their data card."""
    found = read_questions(spec, columns=columns)
    matrix = found.matrix or _without_answers(found)
    return matrix, _card(spec, matrix)


def text_digest(text: str) -> str:
    """Sixteen hexadecimal digits of a hash of a question's text; empty for an empty text.

    Leading, trailing and repeated white space is ignored.

    Examples
    --------
    >>> text_digest(" Who?  ") == text_digest("Who?"), text_digest(" ")
    (True, '')
    """
    words = " ".join(text.split())
    return (
        blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() if words else ""
    )


def same_texts(questions: CorrectnessMatrix) -> tuple[str, ...]:
    """A name for each question, shared by questions of the same text; its id if it has no text.

    Intervals resample texts: a text with several ids counts as one question.
    """
    pairs = zip(questions.ids, questions.texts, strict=True)
    return tuple(text_digest(text) or f"id {name}" for name, text in pairs)


def benchmarks_of(matrix: CorrectnessMatrix, purpose: str) -> tuple[str, ...]:
    """The benchmarks, that is the questions' categories; two or more are required.

    Raises
    ------
    DataError
        If there are fewer.
    """
    found = sorted({one for one in matrix.categories if one is not None})
    if len(found) < 2:
        raise DataError(
            f"{counted(len(found), 'benchmark')} in the categories of "
            f"{counted(len(matrix.ids), 'question')}",
            expected=f"two or more: {purpose}",
            fix="add a column with each question's benchmark, or name it: --column category=NAME",
        )
    return tuple(found)


def _without_answers(found: Questions) -> CorrectnessMatrix:
    return CorrectnessMatrix(
        models=(),
        ids=found.ids,
        texts=found.texts,
        categories=found.categories,
        correct=np.zeros((len(found.ids), 0), dtype=np.float32),
        part=True,
    )


def _card(spec: str, matrix: CorrectnessMatrix) -> DataCard:
    """The data card of a matrix; ``labelled`` counts questions with an answer."""
    return DataCard(
        spec=spec,
        fingerprint=matrix.fingerprint,
        rows=len(matrix.ids),
        used=len(matrix.ids),
        labelled=int((~np.isnan(matrix.correct)).any(axis=1).sum()),
    )
