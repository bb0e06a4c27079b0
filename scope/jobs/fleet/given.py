"""What a job on a fleet was given: matrices of answers, and a card of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np

from scope.errors import DataError, SpecError
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.reading import Questions, read_matrix, read_questions
from scope.printing import counted
from scope.records import DataCard


def read_answers(
    specs: Sequence[str], columns: Mapping[str, str]
) -> tuple[CorrectnessMatrix, DataCard]:
    """The matrix of all that is named, joined, and the card that stands for it.

    Raises
    ------
    SpecError
        When nothing is named.
    """
    if not specs:
        raise SpecError(
            "no answers to learn from",
            expected="a table, a folder of saved answers or a run of `scope compare`",
            mend="write for example --data answers.csv",
        )
    matrix = read_matrix(specs, columns=columns)
    return matrix, _card(", ".join(specs), matrix)


def read_asked(spec: str, columns: Mapping[str, str]) -> tuple[CorrectnessMatrix, DataCard]:
    """Questions, with the answers of whom the file knows them of, and the card for them."""
    found = read_questions(spec, columns=columns)
    matrix = found.matrix or _without_answers(found)
    return matrix, _card(spec, matrix)


def text_digest(text: str) -> str:
    """Sixteen digits that stand for a question's text, to find it again; none for no text.

    Space at its ends and how much of it stands between words is no part of a text.

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
    """A name for each question that those with its text share; its id where it has no text.

    What stands under several ids is one question in every interval.
    """
    pairs = zip(questions.ids, questions.texts, strict=True)
    return tuple(text_digest(text) or f"id {name}" for name, text in pairs)


def benchmarks_of(matrix: CorrectnessMatrix, purpose: str) -> tuple[str, ...]:
    """The benchmarks among the questions' categories, of which the purpose needs two or more.

    Raises
    ------
    DataError
        When there are fewer.
    """
    found = sorted({one for one in matrix.categories if one is not None})
    if len(found) < 2:
        raise DataError(
            f"{counted(len(found), 'benchmark')} among the categories of "
            f"{counted(len(matrix.ids), 'question')}",
            expected=f"two or more: {purpose}",
            mend="add a column with each question's benchmark, or name it: --column category=NAME",
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
    """What the manifest says of a matrix; ``labelled`` counts questions with an answer."""
    return DataCard(
        spec=spec,
        fingerprint=matrix.fingerprint,
        rows=len(matrix.ids),
        used=len(matrix.ids),
        labelled=int((~np.isnan(matrix.correct)).any(axis=1).sum()),
    )
