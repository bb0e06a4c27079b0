"""The stored sets that benchmarks read: questions, and many models' answers to them.

A line of `responses.tsv.gz` is a model's name, a tab, and one character a question, in the order of
the questions in `items.jsonl.gz`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from scope.errors import DataError
from scope.jobs.reuse.pool import NOT_GIVEN, AnswerMatrix


def stored_answers(folder: Path) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """The questions of a set, and by model one character for each.

    Raises
    ------
    DataError
        When a file is missing, or a model has more or fewer answers than there are questions.
    """
    items = [json.loads(line) for line in lines_of(folder / "items.jsonl.gz")]
    rows = dict(line.split("\t") for line in lines_of(folder / "responses.tsv.gz"))
    for model, row in rows.items():
        if len(row) != len(items):
            raise DataError(
                f"{len(row)} answers of {model} to {len(items)} questions",
                expected="one character a question",
                fix="gather the responses and items of one set again",
            )
    return items, rows


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a compressed file.

    Raises
    ------
    DataError
        When there is no such file.
    """
    if not path.is_file():
        raise DataError(
            f"no file {path}",
            expected="a folder with SET/items.jsonl.gz and SET/responses.tsv.gz for each set",
            fix="name it with --data or the variable SCOPE_BENCHMARK_DATA",
        )
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n")


class Pool(NamedTuple):
    """The models by name, in the order of the rows of their answers."""

    models: tuple[str, ...]
    answers: AnswerMatrix


def multiple_choice(folder: Path) -> Pool:
    """The models of ``folder/mmlu_pro_models``: letters, of 3 to 10 options a question.

    A letter beyond a question's options, like anything that is no answer, counts as not given.
    """
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
