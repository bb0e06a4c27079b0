"""Questions become a table of numbers: their vectors, their features, and their categories."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from scope.errors import DataError
from scope.fleet.layout import NO_CATEGORY, QuestionLayout, Table
from scope.fleet.matrix import SHOWN
from scope.fleet.text_features import FEATURES, text_features
from scope.printing import listed


def make_layout(
    *,
    vectors: NDArray[np.float32],
    encoder: str,
    categories: Sequence[str | None],
    features: bool,
) -> QuestionLayout:
    """The layout of a table of such questions.

    Parameters
    ----------
    vectors
        Shape (questions, width); a width of 0 where there are none.
    encoder
        The fingerprint of what made the vectors.
    categories
        They have a column where there are two or more; a question may have none.
    features
        Whether the features of the texts have columns.

    Examples
    --------
    >>> vectors = np.ones((2, 3), dtype=np.float32)
    >>> layout = make_layout(
    ...     vectors=vectors, encoder="e", categories=("gsm8k", "arc"), features=False
    ... )
    >>> layout.vector, layout.categories
    (3, ('arc', 'gsm8k'))
    """
    names = {category for category in categories if category is not None}
    return QuestionLayout(
        vector=vectors.shape[1],
        features=FEATURES if features else (),
        categories=tuple(sorted(names)) if len(names) > 1 else (),
        encoder=encoder,
    )


def question_table(
    layout: QuestionLayout,
    *,
    vectors: NDArray[np.float32],
    texts: Sequence[str],
    categories: Sequence[str | None],
    encoder: str,
) -> Table:
    """The table of these questions in that layout.

    A question without a category, or with one that the layout lacks, has the code -1.

    Parameters
    ----------
    vectors
        Shape (questions, ``layout.vector``).
    texts, categories
        One a question.
    encoder
        The fingerprint of what made the vectors.

    Raises
    ------
    DataError
        When the vectors are of another encoder or width, or not of these questions, or a text is
        missing of which features are needed.

    Examples
    --------
    >>> layout = QuestionLayout(vector=1, categories=("arc", "gsm8k"), encoder="e")
    >>> question_table(
    ...     layout,
    ...     vectors=np.array([[0.5], [0.25]]),
    ...     texts=("", ""),
    ...     categories=("gsm8k", "new"),
    ...     encoder="e",
    ... ).tolist()
    [[0.5, 1.0], [0.25, -1.0]]
    """
    _require_same_encoder(layout, vectors, encoder)
    if not len(vectors) == len(texts) == len(categories):
        raise DataError(
            f"{len(vectors)} vectors, {len(texts)} texts and {len(categories)} categories",
            expected="one of each a question",
            fix="give the vectors, texts and categories of the same questions",
        )
    parts = [np.asarray(vectors, dtype=np.float32)]
    if layout.features:
        require_texts(texts, "the features of its text")
        parts.append(text_features(texts))
    if layout.categories:
        code = {name: place for place, name in enumerate(layout.categories)}
        codes = [code.get(category or "", NO_CATEGORY) for category in categories]
        parts.append(np.array(codes, dtype=np.float32)[:, np.newaxis])
    return np.concatenate(parts, axis=1, dtype=np.float32)


def require_texts(
    texts: Sequence[str], wanted: str = "its vector", ids: Sequence[str] = ()
) -> None:
    """Check that every question has a text, for what is ``wanted`` of each.

    Raises
    ------
    DataError
        When one has none; with the ids of the first, or else their numbers.
    """
    without = [place for place, text in enumerate(texts) if not text.strip()]
    if without:
        names = [ids[place] if ids else str(place) for place in without]
        raise DataError(
            f"no text of {len(without)} of {len(texts)} questions: {listed(names, SHOWN)}"
            f"{'' if ids else ' (the first is 0)'}",
            expected=f"the text of every question, for {wanted}",
            fix="add a column with the text, or name it: --column text=NAME; without texts there "
            "are --embedder mean, `scope fleet predict` and `scope fleet map --data`",
        )


def _require_same_encoder(
    layout: QuestionLayout, vectors: NDArray[np.float32], encoder: str
) -> None:
    if encoder != layout.encoder:
        raise DataError(
            f"question vectors of the encoder {encoder or '(none)'}",
            expected=f"vectors of the encoder {layout.encoder or '(none)'}, of which the fleet's "
            "are",
            fix="encode the questions with that encoder, or embed the fleet again with this one",
        )
    if vectors.ndim != 2 or vectors.shape[1] != layout.vector:
        raise DataError(
            f"question vectors of shape {vectors.shape}",
            expected=f"one row a question, of {layout.vector} numbers",
            fix="encode the questions with the encoder that the fleet was embedded with",
        )
