"""What a job on a fleet was given: matrices of answers, and a card of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np

from scope.errors import SpecError
from scope.fleet.matrix import CorrectnessMatrix
from scope.fleet.reading import Questions, read_matrix, read_questions
from scope.records import DataCard


def read_answers(
    data: str | Sequence[str], columns: Mapping[str, str] | None
) -> tuple[CorrectnessMatrix, DataCard]:
    """The matrix of all that is named, joined, and the card that stands for it."""
    specs = listed_specs(data)
    matrix = read_matrix(specs, columns=columns or {})
    return matrix, _card(", ".join(specs), matrix)


def read_asked(spec: str, columns: Mapping[str, str] | None) -> tuple[CorrectnessMatrix, DataCard]:
    """Questions, with the answers of whom the file knows them of, and the card for them."""
    found = read_questions(spec, columns=columns or {})
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


def listed_specs(data: str | Sequence[str]) -> tuple[str, ...]:
    """One spec or several, as several.

    Raises
    ------
    SpecError
        When there is none.
    """
    specs = (data,) if isinstance(data, str) else tuple(data)
    if not specs:
        raise SpecError(
            "no answers to learn from",
            expected="a table, a folder of saved answers or a run that says who answered what",
            mend="write for example --data answers.csv",
        )
    return specs


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
