"""The network of the published matrix factorization, trained by torch.

The logits of a wrong and a right answer are W (p ∘ (A'x + a)) + c, with a model's vector p and a
question's x. The loss is the cross-entropy of random pairs of a question and a model.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.fleet.layout import Answers
from scope.models.torch_setup import load_torch, one_torch_thread

Numbers = NDArray[np.float32]


class Settings(NamedTuple):
    """How the network is made and trained."""

    dimensions: int
    epochs: int
    batch: int
    learning_rate: float
    weight_decay: float
    noise: float


class Bilinear(NamedTuple):
    """A trained network, with the output layer's weights inside the projection.

    The logit of a right answer is ``(vectors @ projection + shift) @ model_vectors.T + constant``:
    ``model_vectors`` has shape (models, dimensions), ``projection`` (width, dimensions), ``shift``
    (dimensions,).
    """

    model_vectors: Numbers
    projection: Numbers
    shift: Numbers
    constant: float


def train_bilinear(vectors: Numbers, answers: Answers, settings: Settings, seed: int) -> Bilinear:
    """Train the network by Adam on all known answers, by one thread.

    The first numbers are those of torch's layers, which the published code leaves as they are.
    """
    with one_torch_thread() as torch, torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = torch.nn.ModuleDict(
            {
                "models": torch.nn.Embedding(answers.shape[1], settings.dimensions),
                "projection": torch.nn.Linear(vectors.shape[1], settings.dimensions),
                "output": torch.nn.Linear(settings.dimensions, 2),
            }
        )
        optimizer = torch.optim.Adam(
            layers.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        table, given = torch.from_numpy(vectors), torch.from_numpy(answers)
        known = (~given.isnan()).nonzero()
        for _ in range(settings.epochs):
            for batch in torch.randperm(len(known)).split(settings.batch):
                loss = _loss(layers, table, given, known[batch], settings.noise)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return _kept(layers)


def _loss(layers: Any, table: Any, given: Any, cells: Any, noise: float) -> Any:
    torch = load_torch()
    functional = torch.nn.functional
    rows, models = cells.unbind(dim=1)
    distinct, questions = rows.unique(return_inverse=True)
    asked = table[distinct]
    # The published code draws noise for every pair. One draw for all of a question's pairs in a
    # step lets each distinct question be projected once; every pair sees noise of the same kind,
    # only not independent of the others' in that step.
    if noise:
        asked += noise * torch.randn_like(asked)
    projected = functional.embedding(questions, layers["projection"](asked))
    logits = layers["output"](projected * layers["models"](models))
    return functional.cross_entropy(logits, given[rows, models].long())


def _kept(layers: Any) -> Bilinear:
    output = layers["output"].weight[1] - layers["output"].weight[0]
    constant = layers["output"].bias[1] - layers["output"].bias[0]
    projection = layers["projection"]
    parts = (layers["models"].weight, (projection.weight * output[:, None]).T)
    model_vectors, turned, shift = (
        np.ascontiguousarray(part.detach().numpy()) for part in (*parts, projection.bias * output)
    )
    return Bilinear(model_vectors, turned, shift, float(constant.detach()))
