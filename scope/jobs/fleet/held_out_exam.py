"""A fleet learned from part of the questions, and put to the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from scope.errors import SpecError
from scope.fleet.forecasters.forecaster import Forecaster
from scope.fleet.forecasters.neighbours import NeighbourForecaster
from scope.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.exam import Exam, PlannedExam
from scope.jobs.fleet.given import read_answers, same_texts, text_digest
from scope.jobs.fleet.learning import Learned, Learning, learn, load_needed_encoder
from scope.jobs.fleet.requests import TEST_SHARE, ForecastRequest
from scope.jobs.fleet.stored_exam import table_of
from scope.printing import counted
from scope.protocols import Encoder, Progress

_STREAM = 0xE8A3
"""Keeps the drawing of held-out questions apart from all else that the seed decides."""


def plan_held_out_exam(request: ForecastRequest) -> PlannedExam:
    """Read the answers and load the encoder; draw the questions that are held out."""
    learning = Learning(embedder=request.embedder, seed=request.seed)
    matrix, card = read_answers(request.data, request.columns)
    held_out = held_out_rows(matrix.texts, request.test_share, request.seed)
    _require_enough(matrix, held_out, learning.folds)
    encoder = load_needed_encoder(learning, matrix, request.encoder, request.model_options)
    return PlannedExam(
        models=matrix.models,
        data=(card,),
        settings={**learning.settings(encoder), "test_share": request.test_share},
        begin=partial(_begin, matrix, held_out, learning, encoder, request.progress),
    )


def held_out_rows(texts: Sequence[str], share: float, seed: int) -> NDArray[np.bool_]:
    """Which of the questions are held out: the share of them, drawn at random.

    Questions with the same text stay together, or what is held out would be known; where they do
    not fit the share, somewhat fewer are held out.

    Parameters
    ----------
    texts
        One a question; those that are empty are of different questions.

    Raises
    ------
    SpecError
        When none would be held out, or none left.

    Examples
    --------
    >>> int(held_out_rows([f"{number} + 1?" for number in range(10)], 0.2, seed=0).sum())
    2
    >>> held_out_rows(["Who?", "Why?", " Who? "], 0.7, seed=0).tolist()
    [False, True, False]
    """
    numbers: dict[str, int] = {}
    names = (text_digest(text) or f"row {row}" for row, text in enumerate(texts))
    kinds = np.array([numbers.setdefault(name, len(numbers)) for name in names])
    sizes = np.bincount(kinds)
    drawn = np.random.default_rng([seed, _STREAM]).permutation(len(sizes))
    count = round(share * len(texts)) if 0 < share < 1 else 0
    taken, room = [], count
    for kind in drawn.tolist():
        if sizes[kind] <= room:
            taken.append(kind)
            room -= sizes[kind]
    if not 0 < len(taken) < len(sizes):
        raise SpecError(
            f"a share of {share:g} of {len(texts)} questions to hold out",
            expected="a share between 0 and 1 that leaves questions on both sides",
            mend=f"write for example --test-share {TEST_SHARE}",
        )
    return np.isin(kinds, taken)


def _require_enough(matrix: CorrectnessMatrix, held_out: NDArray[np.bool_], folds: int) -> None:
    """See that what is left can be drawn into the folds in which forecasters are tried.

    Raises
    ------
    SpecError
        When it cannot.
    """
    left = len(set(same_texts(matrix.take(~held_out))))
    if left < folds:
        raise SpecError(
            f"{counted(left, 'question')} to learn from, beside {int(held_out.sum())} held out",
            expected=f"{folds} or more with texts of their own: each is forecast from the others",
            mend="hold out fewer with --test-share, or add questions",
        )


def _begin(
    matrix: CorrectnessMatrix,
    held_out: NDArray[np.bool_],
    learning: Learning,
    encoder: Encoder | None,
    progress: Progress,
) -> Exam:
    # A whole matrix again: who has no answer left to learn from is told by name.
    known = replace(matrix.take(np.flatnonzero(~held_out)), part=False)
    asked = matrix.take(np.flatnonzero(held_out))
    learned = learn(known, learning, encoder, progress)
    return Exam(
        fleet=learned.fleet,
        questions=asked,
        table=table_of(learned.fleet, asked, encoder, progress),
        # No text of them was learned from: see `held_out_rows`.
        fresh=np.ones(len(asked.ids), dtype=np.bool_),
        others=_others(learned, known),
        conflicts=matrix.conflicts,
        notes=(
            *matrix.notes,
            f"{len(asked.ids)} of {len(matrix.ids)} questions were held out by the seed "
            f"{learning.seed}; all was learned and chosen on the others",
        ),
    )


def _others(learned: Learned, known: CorrectnessMatrix) -> tuple[Forecaster, ...]:
    """Nearest questions as published, fitted on the same questions, if they are not chosen."""
    chosen = learned.fleet.forecaster
    if not chosen.layout.vector or isinstance(chosen, NeighbourForecaster):
        return ()
    nearest = NeighbourForecaster(layout=chosen.layout)
    return (nearest.fit(learned.table, known.correct),)
