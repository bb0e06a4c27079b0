"""Stored multiple-choice answers of many models, by letter.

A line of `responses.tsv.gz` ends in a string with one character a question, in the questions'
order. An answer beyond a question's options, like anything that is no answer, counts as not given.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from stored_answers import stored_answers

from scope.jobs.reuse.answer_matrix import NOT_GIVEN, AnswerMatrix


class Pool(NamedTuple):
    """The models by name, in the order of the rows of their answers."""

    models: tuple[str, ...]
    answers: AnswerMatrix


def multiple_choice(folder: Path) -> Pool:
    """The models of ``folder/mmlu_pro_models``: letters, of 3 to 10 options a question."""
    items, rows = stored_answers(folder / "mmlu_pro_models")
    options = np.array([len(item["options"]) for item in items])
    gold = np.array([ord(item["answer"]) - ord("A") for item in items])
    codes = np.array([np.frombuffer(row.encode("ascii"), dtype=np.uint8) for row in rows.values()])
    chosen = codes.astype(np.int64) - ord("A")
    is_answer = (chosen >= 0) & (chosen < options)
    answers = AnswerMatrix(
        answers=np.where(is_answer, chosen, NOT_GIVEN),
        options=options,
        gold=gold,
        units=np.arange(len(options)),
    )
    return Pool(tuple(rows), answers)
