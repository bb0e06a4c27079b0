"""Builds the demo's models once and keeps them: a reference and five others.

Trained are the reference, its student, an independent model, and the reference with another seed:
from gold labels, or from a teacher's answers. Two are copies of the reference, with weights in 8
bits and with four in five weights set to 0.
"""

from __future__ import annotations

import copy
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from scope.data.sampling import load_data
from scope.demo_models import bases
from scope.demo_models.training import (
    DEMO,
    LABELS,
    DemoRecipe,
    LowerOutput,
    answer_from,
    count_batches,
    count_steps,
    encode_texts,
    read_lower_layers,
    train_classifier,
    train_upper_layers,
)
from scope.models.torch_setup import load_torch, releases
from scope.progress import Silent
from scope.protocols import Progress
from scope.records import Example


def student_of(teacher: Any, layers: Sequence[int]) -> Any:
    """A copy of a BERT-like classifier with only these of its layers, all weights included."""
    torch = load_torch()
    student = copy.deepcopy(teacher)
    encoder = student.base_model.encoder
    encoder.layer = torch.nn.ModuleList(encoder.layer[index] for index in layers)
    student.config.num_hidden_layers = len(layers)
    return student


def in_eight_bits(model: Any) -> Any:
    """A copy whose linear weights take 255 values a row, as a model in 8 bits has them."""
    copied = copy.deepcopy(model)
    for weight in _linear_weights(copied):
        step = weight.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / 127
        weight.copy_((weight / step).round() * step)
    return copied


def pruned(model: Any, share: float) -> Any:
    """A copy in which this share of each linear layer's weights, the smallest, is 0."""
    copied = copy.deepcopy(model)
    for weight in _linear_weights(copied):
        sizes = weight.abs().flatten()
        smallest = sizes.argsort(stable=True)[: int(share * len(sizes))]
        weight.view(-1)[smallest] = 0.0
    return copied


def _linear_weights(model: Any) -> list[Any]:
    linear = load_torch().nn.Linear
    return [module.weight.data for module in model.modules() if isinstance(module, linear)]


def gold_probabilities(examples: Sequence[Example]) -> NDArray[np.float32]:
    """Gold labels as probabilities, shape (examples, labels): each row has a single 1.

    Examples
    --------
    >>> gold_probabilities([Example(id="7", text="good", label="positive")]).tolist()
    [[0.0, 1.0]]
    """
    rows = np.zeros((len(examples), len(LABELS)), dtype=np.float32)
    for row, example in zip(rows, examples, strict=True):
        row[LABELS.index(str(example.label))] = 1.0
    return rows


TRAINING_DATA = "demo:tweets-train"

PRUNED = 0.8
"""The share of the reference's weights that the pruned copy lacks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoModels:
    """Folders of six checkpoints, each with its tokenizer.

    ``student`` was distilled from ``reference``; ``independent`` shares with it nothing but the
    training texts and their labels; ``another_seed`` is trained as the reference is, but for the
    seed of its head and of the order of the texts. ``eight_bits`` and ``pruned`` are copies of the
    reference.
    """

    reference: Path
    student: Path
    independent: Path
    another_seed: Path
    eight_bits: Path
    pruned: Path


def build_demo_models(
    folder: Path, *, seed: int = 0, progress: Progress | None = None
) -> DemoModels:
    """The demo's models, trained if they are not in the folder yet.

    A model appears under its name only when it is complete, so a build that was killed resumes with
    the first one missing. Another recipe, seed or data lie in another subfolder. A second process
    waits until the first is done.

    Parameters
    ----------
    folder
        Where models are kept, such as ``cache_folder() / "zoo"``.

    Raises
    ------
    ResourceError
        When the packages of the extra ``demo`` are missing or altered.
    RunError
        When the models cannot be written.
    """
    data = load_data(TRAINING_DATA, n=DEMO.texts(), seed=seed)
    key = DEMO.key(seed=seed, data=data.card.fingerprint)
    # Other libraries train other bits.
    home = folder / f"demo-{key}-{releases()}"
    return build_models(home, data.examples, DEMO, seed, progress)


def build_models(
    home: Path,
    examples: Sequence[Example],
    recipe: DemoRecipe,
    seed: int = 0,
    progress: Progress | None = None,
    *,
    base: Callable[[int], bases.Base] = bases.pretrained_base,
) -> DemoModels:
    """Make those of the models that are not in ``home`` yet.

    Parameters
    ----------
    base
        Returns, for a seed, the classifier from which the reference is fine-tuned.
    """
    models = DemoModels(
        reference=home / "reference",
        student=home / "student",
        independent=home / "independent",
        another_seed=home / "another-seed",
        eight_bits=home / "eight-bits",
        pruned=home / "pruned",
    )
    builder = _Builder(_shuffled(examples, seed), recipe, seed, progress or Silent(), base)
    with bases.explained_write_errors(home):
        home.mkdir(parents=True, exist_ok=True)
    with FileLock(home / ".lock"):
        # In this order: the student and the copies are made of the reference.
        makers: Mapping[Path, Callable[[], bases.Base]] = {
            models.reference: partial(builder.reference, "reference"),
            models.student: lambda: builder.student(bases.load_base(models.reference)),
            models.independent: builder.independent,
            models.another_seed: partial(builder.reference, "another seed"),
            models.eight_bits: partial(_copied, models.reference, in_eight_bits),
            models.pruned: partial(_copied, models.reference, partial(pruned, share=PRUNED)),
        }
        for place, make in makers.items():
            if not place.is_dir():
                bases.save_base(make(), place)
    return models


def _copied(reference: Path, change: Callable[[Any], Any]) -> bases.Base:
    base = bases.load_base(reference)
    return base._replace(model=change(base.model))


@dataclass(slots=True)
class _Builder:
    """The inputs of all trainings, with one method per recipe."""

    examples: Sequence[Example]
    recipe: DemoRecipe
    seed: int
    progress: Progress
    pretrained: Callable[[int], bases.Base]
    lower: LowerOutput | None = None

    def reference(self, name: str) -> bases.Base:
        recipe = self.recipe.reference
        seed = self._seed(name)
        examples = self.examples[: recipe.texts]
        base = self.pretrained(seed)
        lower = self._lower_output(base).first(recipe.texts)
        with self.progress.task(f"training {name}", count_steps(len(examples), recipe)) as advance:
            train_upper_layers(
                base.model,
                lower,
                gold_probabilities(examples),
                recipe,
                seed,
                advance,
                frozen=self.recipe.reference_frozen,
            )
        return base

    def student(self, teacher: bases.Base) -> bases.Base:
        """A smaller copy of the teacher, trained on nothing but the teacher's probabilities."""
        training = self.recipe.student.training
        lower = self._lower_output(teacher).first(training.texts)
        texts, frozen = len(lower.rows), self.recipe.student_frozen
        total = count_batches(texts, training) + count_steps(texts, training)
        with self.progress.task("distilling student", total) as advance:
            above = self.recipe.reference_frozen
            targets = answer_from(teacher.model, lower, training.batch_size, advance, frozen=above)
            model = student_of(teacher.model, self.recipe.student.layers)
            seed = self._seed("student")
            train_upper_layers(model, lower, targets, training, seed, advance, frozen=frozen)
        return bases.Base(model, teacher.tokenizer)

    def independent(self) -> bases.Base:
        recipe = self.recipe.independent
        training = recipe.training
        seed = self._seed("independent")
        examples = self.examples[: training.texts]
        texts = [example.text for example in examples]
        base = bases.new_base(texts, recipe, seed)
        total = count_steps(len(examples), training)
        with self.progress.task("training independent", total) as advance:
            train_classifier(
                base.model,
                encode_texts(base.tokenizer, texts, training.longest),
                gold_probabilities(examples),
                training,
                seed,
                advance,
                pad_token=base.tokenizer.pad_token_id,
            )
        return base

    def _lower_output(self, base: bases.Base) -> LowerOutput:
        """The output of the frozen layers, which are the pretrained model's in every training."""
        if self.lower is None:
            training = self.recipe.reference
            texts = [example.text for example in self.examples[: self.recipe.pretrained_texts()]]
            encodings = encode_texts(base.tokenizer, texts, training.longest)
            with self.progress.task(
                "reading training texts", count_batches(len(texts), training)
            ) as advance:
                self.lower = read_lower_layers(
                    base.model,
                    encodings,
                    (self.recipe.reference_frozen, self.recipe.student_frozen),
                    advance,
                    pad_token=base.tokenizer.pad_token_id,
                    batch_size=training.batch_size,
                )
        return self.lower

    def _seed(self, model: str) -> int:
        """The model's own seed, so that no two models see the texts in the same order."""
        return zlib.crc32(f"{self.seed}:{model}".encode())


def _shuffled(examples: Sequence[Example], seed: int) -> list[Example]:
    """Random order: data files are often sorted, and each model takes the first of them."""
    return [examples[index] for index in np.random.default_rng(seed).permutation(len(examples))]
