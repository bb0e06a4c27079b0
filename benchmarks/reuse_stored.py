"""Stored multiple-choice answers of many models, by letter.

A line of `responses.tsv.gz` ends in a string with one character a question, in the questions'
order. An answer beyond a question's options, like anything that is no answer, counts as not given.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from stored_lines import stored_lines

from scope.errors import DataError
from scope.jobs.reuse.answer_matrix import NOT_GIVEN, AnswerMatrix


class Pool(NamedTuple):
    """The models by name, in the order of the rows of their answers."""

    models: tuple[str, ...]
    answers: AnswerMatrix


def multiple_choice(folder: Path) -> Pool:
    """The models of ``folder/mmlu_pro_models``: letters, of 3 to 10 options a question."""
    folder = folder / "mmlu_pro_models"
    items = [json.loads(line) for line in stored_lines(folder / "items.jsonl.gz")]
    rows = dict(line.split("\t") for line in stored_lines(folder / "responses.tsv.gz"))
    options = np.array([len(item["options"]) for item in items])
    gold = np.array([ord(item["answer"]) - ord("A") for item in items])
    _require_equal_lengths(rows, len(options))
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


def _require_equal_lengths(rows: dict[str, str], items: int) -> None:
    for model, row in rows.items():
        if len(row) != items:
            raise DataError(
                f"{len(row)} answers of {model} to {items} questions",
                expected="one character a question",
                fix="name another folder with --data",
            )
