"""The two ways in which a demo model learns: from gold labels, and from a teacher's answers."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.demo_models.bases import Base
from scope.demo_models.recipes import LABELS, DemoRecipe, TrainingRecipe
from scope.demo_models.training import count_batches, count_steps, encode_texts, train_classifier
from scope.demo_models.upper_layers import LowerOutput, answer_from, train_upper_layers
from scope.errors import DataError
from scope.models.torch_setup import load_torch
from scope.protocols import Advance
from scope.records import Example


def teach_labels(
    base: Base, examples: Sequence[Example], recipe: TrainingRecipe, *, seed: int, advance: Advance
) -> None:
    """Train a classifier in place on the gold labels; ``count_steps`` units of progress.

    Raises
    ------
    DataError
        When an example's label is not one of the demo's.
    """
    texts = [example.text for example in examples]
    train_classifier(
        base.model,
        encode_texts(base.tokenizer, texts, recipe.longest),
        gold_probabilities(examples),
        recipe,
        pad_token=base.tokenizer.pad_token_id,
        seed=seed,
        advance=advance,
    )


def distil(
    teacher: Base,
    lower: LowerOutput,
    recipe: DemoRecipe,
    *,
    seed: int,
    advance: Advance,
) -> Base:
    """A smaller copy of the teacher, trained on nothing but the teacher's probabilities.

    ``count_distillation`` says how many units of progress it takes.

    Parameters
    ----------
    lower
        What the teacher's frozen layers, which the student has in part, give for the texts.
    """
    training = recipe.student.training
    targets = answer_from(
        teacher.model,
        lower,
        frozen=recipe.reference_frozen,
        batch_size=training.batch_size,
        advance=advance,
    )
    model = student_of(teacher.model, recipe.student.layers)
    train_upper_layers(
        model, lower, targets, training, frozen=recipe.student_frozen, seed=seed, advance=advance
    )
    return Base(model, teacher.tokenizer)


def count_distillation(texts: int, recipe: TrainingRecipe) -> int:
    """Units of progress of a distillation: the teacher's batches and the student's steps."""
    return count_batches(texts, recipe) + count_steps(texts, recipe)


def student_of(teacher: Any, layers: Sequence[int]) -> Any:
    """A copy of a BERT-like classifier with only these of its layers, all weights included."""
    torch = load_torch()
    student = copy.deepcopy(teacher)
    encoder = student.base_model.encoder
    encoder.layer = torch.nn.ModuleList(encoder.layer[index] for index in layers)
    student.config.num_hidden_layers = len(layers)
    return student


def gold_probabilities(examples: Sequence[Example]) -> NDArray[np.float32]:
    """Gold labels as probabilities, shape (examples, labels): each row has a single 1.

    Raises
    ------
    DataError
        When an example's label is not one of the demo's.

    Examples
    --------
    >>> gold_probabilities([Example(id="7", text="good", label="positive")]).tolist()
    [[0.0, 1.0]]
    """
    rows = np.zeros((len(examples), len(LABELS)), dtype=np.float32)
    for row, example in zip(rows, examples, strict=True):
        if example.label not in LABELS:
            raise DataError(
                f"example {example.id!r} has the label {example.label!r}",
                expected=f"one of: {', '.join(LABELS)}",
                fix="train the demo's models on demo:tweets-train",
            )
        row[LABELS.index(example.label)] = 1.0
    return rows
