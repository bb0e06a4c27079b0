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
        How many texts it is trained on, or all if there are fewer.
    epochs
        How often it sees each.
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
    """All three models of the demo; ``version`` rises when the code trains them differently."""

    reference: TrainingRecipe
    student: StudentRecipe
    independent: NewModelRecipe
    version: int = 1

    def texts(self) -> int:
        """The most texts that any of the models is trained on."""
        return max(
            self.reference.texts, self.student.training.texts, self.independent.training.texts
        )

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
    reference=TrainingRecipe(texts=5000, epochs=2, learning_rate=1e-4),
    student=StudentRecipe(
        layers=(0, 2, 5), training=TrainingRecipe(texts=8000, epochs=1, learning_rate=2e-4)
    ),
    # Tweets have at most 140 characters: with 128 tokens next to none of them is cut, so that
    # every position embedding which a tweet needs has been trained.
    independent=NewModelRecipe(
        vocabulary=6000,
        width=128,
        layers=2,
        heads=4,
        positions=128,
        dropout=0.1,
        training=TrainingRecipe(texts=10_000, epochs=3, learning_rate=1e-3, longest=128),
    ),
)
"""The recipe of ``scope demo``: about three and a half minutes of training on two cores."""
