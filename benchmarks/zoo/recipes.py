"""The hyper-parameters of the zoo: one recipe, seed and data give the same models."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass

from scope.demo_models.training import NewModelRecipe, StudentRecipe, TrainingRecipe


@dataclass(frozen=True, kw_only=True, slots=True)
class BaseRecipe:
    """How the models of one base are trained.

    Parameters
    ----------
    name
        Of the base.
    thief
        Another base: that of the model trained on the reference's labels alone.
    training
        Of the reference, of the independents, and of a thief that starts from this base.
    further
        Of the further-tuned model, on the other half of the texts.
    kept_layers
        Which of the reference's layers the model with fewer layers keeps.
    repair
        Its training after that.
    student
        Which of the base's layers the distilled model starts from, and its training.
    pretrained
        Whether the base has public pretrained weights.
    noise
        Size of the noise as a share of each weight matrix's standard deviation: as much as costs
        a few points of accuracy at most, of which deep pretrained layers bear less.
    frozen_embeddings
        Whether the embeddings of tokens stay as they are in all training.
    """

    name: str
    thief: str
    training: TrainingRecipe
    further: TrainingRecipe
    kept_layers: tuple[int, ...]
    repair: TrainingRecipe
    student: StudentRecipe
    pretrained: bool
    noise: float = 0.3
    frozen_embeddings: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ZooRecipe:
    """All models of the zoo; ``version`` rises when the code makes them differently.

    Parameters
    ----------
    new_models
        The architectures of the bases that are made from random weights, by name.
    pruned
        Share of each weight matrix that pruning sets to zero.
    same_data, other_data
        Independents of each base, trained on the reference's texts and on the other half.
    """

    bases: tuple[BaseRecipe, ...]
    new_models: tuple[tuple[str, NewModelRecipe], ...] = ()
    pruned: float = 0.4
    same_data: int = 3
    other_data: int = 2
    version: int = 1

    def __getitem__(self, name: str) -> BaseRecipe:
        for base in self.bases:
            if base.name == name:
                return base
        raise KeyError(name)

    def key(self, *, seed: int, data: str) -> str:
        """Twelve hexadecimal digits that change with anything that changes the models.

        Parameters
        ----------
        data
            Fingerprint of the training texts.
        """
        content = json.dumps([asdict(self), seed, data], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:12]


_ALL = 1_000_000
"""More texts than there are."""

_SMOLLM = TrainingRecipe(texts=2400, epochs=2, learning_rate=3e-4)
_SMOLLM_FURTHER = TrainingRecipe(texts=800, epochs=1, learning_rate=1e-4)

_MINILM = TrainingRecipe(texts=1600, epochs=2, learning_rate=1.5e-4)
_MINILM_STUDENT = TrainingRecipe(texts=2400, epochs=2, learning_rate=2e-4)
_MINILM_FURTHER = TrainingRecipe(texts=800, epochs=1, learning_rate=5e-5)
_MINILM_REPAIR = TrainingRecipe(texts=800, epochs=1, learning_rate=1e-4)

_NEW = TrainingRecipe(texts=_ALL, epochs=4, learning_rate=1e-3, longest=128)
_NEW_FURTHER = TrainingRecipe(texts=1600, epochs=1, learning_rate=3e-4, longest=128)

ZOO = ZooRecipe(
    bases=(
        BaseRecipe(
            name="smollm",
            thief="roberta",
            training=_SMOLLM,
            further=_SMOLLM_FURTHER,
            kept_layers=(0, 1, 3),
            repair=_SMOLLM_FURTHER,
            student=StudentRecipe(layers=(0, 1, 2), training=_SMOLLM),
            pretrained=True,
            noise=0.15,
            frozen_embeddings=True,
        ),
        BaseRecipe(
            name="minilm",
            thief="roberta",
            training=_MINILM,
            further=_MINILM_FURTHER,
            kept_layers=(0, 1, 3, 5),
            repair=_MINILM_REPAIR,
            student=StudentRecipe(layers=(0, 2, 5), training=_MINILM_STUDENT),
            pretrained=True,
        ),
        BaseRecipe(
            name="roberta",
            thief="minilm",
            training=_NEW,
            further=_NEW_FURTHER,
            kept_layers=(0, 2),
            repair=_NEW_FURTHER,
            student=StudentRecipe(layers=(0, 1), training=_NEW),
            pretrained=False,
        ),
        BaseRecipe(
            name="bert",
            thief="minilm",
            training=_NEW,
            further=_NEW_FURTHER,
            kept_layers=(0, 2),
            repair=_NEW_FURTHER,
            student=StudentRecipe(layers=(0, 1), training=_NEW),
            pretrained=False,
        ),
    ),
    # With 128 tokens next to no tweet is cut, so that every position has been trained.
    new_models=(
        (
            "roberta",
            NewModelRecipe(
                vocabulary=4000,
                width=128,
                layers=3,
                heads=4,
                positions=128,
                dropout=0.1,
                training=_NEW,
            ),
        ),
        (
            "bert",
            NewModelRecipe(
                vocabulary=3000,
                width=96,
                layers=3,
                heads=3,
                positions=128,
                dropout=0.1,
                training=_NEW,
            ),
        ),
    ),
)
"""The recipe of ``benchmarks/build_zoo.py``."""
