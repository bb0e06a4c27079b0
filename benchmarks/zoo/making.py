"""Makes one model of the zoo: what it starts from, what it learns, and what is done to it."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.demo_models.build import Base, gold_probabilities, load_base
from scope.demo_models.training import (
    LABELS,
    TrainingRecipe,
    answer,
    encode_texts,
    train_classifier,
)
from scope.records import Example
from zoo.altering import add_noise, freeze_embeddings, keep_layers, prune_magnitudes, round_to_int8
from zoo.lineage import Zoo, ZooModel
from zoo.recipes import ZooRecipe

MakeBase = Callable[[Sequence[str], Path, int], Base]
"""Gives, for the texts it will learn, a folder of its own and a seed, an untrained classifier."""

UNTRAINED = ("int8", "pruned", "noisy")
"""The kinds that are made from the reference's weights alone."""

_TUNED_ON = ("further-tuned", "fewer-layers")


class Halves(NamedTuple):
    """The training examples in two parts that share none."""

    ours: tuple[Example, ...]
    others: tuple[Example, ...]


class Lesson(NamedTuple):
    """Texts and the probabilities to be learned for them, shape (texts, labels)."""

    texts: list[str]
    targets: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, slots=True)
class Workshop:
    """What is needed to make any model of a zoo; goes from process to process.

    Parameters
    ----------
    bases
        Makers of the bases by name: functions of a module, so that another process finds them.
    """

    home: Path
    zoo: Zoo
    halves: Halves
    recipe: ZooRecipe
    bases: Mapping[str, MakeBase]
    seed: int

    def seed_of(self, model: ZooModel) -> int:
        """A seed of the model's own, the same whatever was made before it."""
        return zlib.crc32(f"{self.seed}:{model.name}".encode())

    def load_source(self, model: ZooModel) -> Base:
        """The reference that a model is derived from."""
        if model.source is None:
            raise ValueError(f"{model.name} is derived from no model")
        return load_base(self.zoo[model.source].path)


def split_halves(examples: Sequence[Example], seed: int) -> Halves:
    """Two random halves that share no example; an odd one is left out.

    Examples
    --------
    >>> halves = split_halves([Example(id=str(i), text=f"text {i}") for i in range(5)], seed=0)
    >>> len(halves.ours), len(halves.others), set(halves.ours) & set(halves.others)
    (2, 2, set())
    """
    order = np.random.default_rng(seed).permutation(len(examples)).tolist()
    half = len(examples) // 2
    return Halves(
        ours=tuple(examples[index] for index in order[:half]),
        others=tuple(examples[index] for index in order[half : 2 * half]),
    )


def make_model(model: ZooModel, workshop: Workshop) -> Base:
    """A model of the zoo; the reference it is derived from, if any, must be there."""
    if model.kind in UNTRAINED:
        return _altered(model, workshop)
    recipe = training_of(model, workshop.recipe)
    lesson = lesson_for(model, workshop)
    base = start_of(model, workshop, lesson.texts)
    if workshop.recipe[model.base].frozen_embeddings:
        freeze_embeddings(base.model)
    train_classifier(
        base.model,
        encode_texts(base.tokenizer, lesson.texts, recipe.longest),
        lesson.targets,
        recipe,
        pad_token=base.tokenizer.pad_token_id,
        seed=workshop.seed_of(model),
        advance=_ignore,
    )
    return base


def training_of(model: ZooModel, recipe: ZooRecipe) -> TrainingRecipe:
    """How a model is trained."""
    base = recipe[model.base]
    special = {
        "further-tuned": base.further,
        "fewer-layers": base.repair,
        "distilled": base.student.training,
    }
    return special.get(model.kind, base.training)


def start_of(model: ZooModel, workshop: Workshop, texts: Sequence[str]) -> Base:
    """What a model's training starts from.

    Only the further-tuned model and the one with fewer layers start from the reference's weights.
    The distilled one starts from some layers of the base, as it was before any training.
    """
    recipe = workshop.recipe[model.base]
    if model.kind in _TUNED_ON:
        base = workshop.load_source(model)
        if model.kind == "fewer-layers":
            keep_layers(base.model, recipe.kept_layers)
        return base
    folder = workshop.home / "bases" / model.base
    base = workshop.bases[model.base](texts, folder, workshop.seed_of(model))
    if model.kind == "distilled":
        keep_layers(base.model, recipe.student.layers)
    return base


def lesson_for(model: ZooModel, workshop: Workshop) -> Lesson:
    """What a model learns: gold labels, or what the reference says and nothing else."""
    texts = training_of(model, workshop.recipe).texts
    on_others = model.kind in ("further-tuned", "other-data", "stolen")
    examples = (workshop.halves.others if on_others else workshop.halves.ours)[:texts]
    read = [example.text for example in examples]
    match model.kind:
        case "distilled":
            return Lesson(read, _answers(model, workshop, read))
        case "stolen":
            labels = _answers(model, workshop, read).argmax(axis=1)
            return Lesson(read, np.eye(len(LABELS), dtype=np.float32)[labels])
        case _:
            return Lesson(read, gold_probabilities(examples))


def _answers(model: ZooModel, workshop: Workshop, texts: Sequence[str]) -> NDArray[np.float32]:
    source = workshop.load_source(model)
    recipe = training_of(workshop.zoo[str(model.source)], workshop.recipe)
    return answer(
        source.model.eval(),
        encode_texts(source.tokenizer, texts, recipe.longest),
        pad_token=source.tokenizer.pad_token_id,
        batch_size=recipe.batch_size,
        advance=_ignore,
    )


def _altered(model: ZooModel, workshop: Workshop) -> Base:
    base = workshop.load_source(model)
    match model.kind:
        case "int8":
            round_to_int8(base.model)
        case "pruned":
            prune_magnitudes(base.model, workshop.recipe.pruned)
        case _:
            add_noise(base.model, workshop.recipe[model.base].noise, workshop.seed_of(model))
    return base


def _ignore(units: int = 1, /) -> None:
    """Nobody is shown single steps: models are made in processes of their own."""
