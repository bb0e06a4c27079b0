"""The hyper-parameters of the demo's models: one recipe, seed and data give the same models."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

LABELS = ("negative", "positive")
"""The labels of every demo model, in the order of its probabilities."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TrainingRecipe:
    """How a model is trained: by AdamW, with a linear warm-up and a linear decay to zero.

    Parameters
    ----------
    texts
        Number of training texts, or all if there are fewer.
    epochs
        Number of passes over the texts.
    learning_rate
        The highest, reached after the share ``warm_up`` of all steps.
    longest
        Number of tokens at which a training text is cut.
    """

    texts: int
    epochs: int
    learning_rate: float
    batch_size: int = 32
    warm_up: float = 0.1
    weight_decay: float = 0.01
    longest: int = 48


@dataclass(frozen=True, kw_only=True, slots=True)
class StudentRecipe:
    """Which of its teacher's layers a student starts from, and how it learns the answers."""

    layers: tuple[int, ...]
    training: TrainingRecipe


@dataclass(frozen=True, kw_only=True, slots=True)
class NewModelRecipe:
    """A model of random weights, with a vocabulary made from its training texts."""

    vocabulary: int
    width: int
    layers: int
    heads: int
    positions: int
    dropout: float
    training: TrainingRecipe


@dataclass(frozen=True, kw_only=True, slots=True)
class DemoRecipe:
    """All models of the demo; ``version`` rises when the code trains them differently.

    Parameters
    ----------
    reference_frozen, student_frozen
        Number of frozen lowest layers of the pretrained model, at least 1. All those of the student
        are frozen in the reference, too.
    """

    reference: TrainingRecipe
    reference_frozen: int
    student: StudentRecipe
    student_frozen: int
    independent: NewModelRecipe
    version: int = 2

    def texts(self) -> int:
        """The most texts that any of the models is trained on."""
        return max(self.pretrained_texts(), self.independent.training.texts)

    def pretrained_texts(self) -> int:
        """The most texts that the reference or its student is trained on."""
        return max(self.reference.texts, self.student.training.texts)

    def key(self, *, seed: int, data: str) -> str:
        """Twelve hexadecimal digits that change with anything that changes the models.

        Parameters
        ----------
        data
            Fingerprint of the training texts.
        """
        content = json.dumps([asdict(self), seed, data], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]


DEMO = DemoRecipe(
    reference=TrainingRecipe(texts=6000, epochs=1, learning_rate=3e-4),
    reference_frozen=4,
    student=StudentRecipe(
        layers=(0, 1, 2, 5), training=TrainingRecipe(texts=6000, epochs=3, learning_rate=6e-4)
    ),
    student_frozen=3,
    # Tweets have at most 140 characters: with 128 tokens almost none of them is cut, so that every
    # position embedding which a tweet needs has been trained.
    independent=NewModelRecipe(
        vocabulary=6000,
        width=96,
        layers=2,
        heads=3,
        positions=128,
        dropout=0.1,
        training=TrainingRecipe(texts=10_000, epochs=2, learning_rate=1.5e-3, longest=128),
    ),
)
"""The recipe of ``scope demo``: about a minute and a half of training on two cores."""
