"""One training loop for all: fine-tuning, distillation, and training from random weights.

The target of a text is a row of probabilities. A gold label is a row with a single 1; a teacher's
answer is its own row.

The upper layers of a classifier are trained on the kept output of its frozen lower layers. The
frozen layers run once for each text, not once for each step, and no gradient passes them.

The hyper-parameters of the demo's models: one recipe, seed and data give the same models.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.models.torch_setup import gives_tuple, load_torch
from scope.protocols import Advance

Encoding = list[int]
"""One text as the numbers of its tokens."""

_POOL = 32
"""Batches that are drawn together and sorted by length; larger pads less and mixes less."""


@contextmanager
def seeded_torch(seed: int) -> Iterator[None]:
    """Draw torch's random numbers from ``seed`` inside, and restore the caller's generator."""
    torch = load_torch()
    with torch.random.fork_rng(devices=[]):
        torch.random.default_generator.manual_seed(seed)
        yield


def encode_texts(tokenizer: Any, texts: Sequence[str], longest: int) -> list[Encoding]:
    """The tokens of each text, with the marks of its beginning and end, cut at ``longest``."""
    encoded = tokenizer(
        list(texts), truncation=True, max_length=longest, return_attention_mask=False
    )
    return list(encoded["input_ids"])


def count_steps(texts: int, recipe: TrainingRecipe) -> int:
    """Optimiser steps of a whole training.

    Examples
    --------
    >>> count_steps(65, TrainingRecipe(texts=65, epochs=2, learning_rate=1e-4))
    6
    """
    return recipe.epochs * count_batches(texts, recipe)


def count_batches(texts: int, recipe: TrainingRecipe) -> int:
    """Batches in which each text stands once."""
    return -(-texts // recipe.batch_size)


def train_classifier(
    model: Any,
    encodings: Sequence[Encoding],
    targets: NDArray[np.float32],
    recipe: TrainingRecipe,
    seed: int,
    advance: Advance,
    *,
    pad_token: int,
) -> list[float]:
    """Train all weights in place; the loss of each step.

    The loss is the cross-entropy against the target probabilities. It differs from their KL
    divergence by the targets' entropy alone, so both have the same gradient.

    Parameters
    ----------
    model
        A sequence classifier of the transformers library; it is left in evaluation mode.
    encodings, targets
        The texts and their probabilities, shape (texts, labels), in the same order.
    seed
        Decides the order of the texts and what dropout drops.
    """
    torch = load_torch()
    total = count_steps(len(encodings), recipe)
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=recipe.learning_rate, weight_decay=recipe.weight_decay, fused=True
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: _rate_share(step, total, recipe.warm_up)
    )
    order = _batches(encodings, recipe, np.random.default_rng(seed))
    losses: list[float] = []
    model.train()
    with seeded_torch(seed):
        for batch in order:
            logits = model(**pad([encodings[index] for index in batch], pad_token)).logits
            loss = torch.nn.functional.cross_entropy(logits, torch.from_numpy(targets[batch]))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            losses.append(loss.item())
            advance(1)
    model.eval()
    return losses


def answer(
    model: Any, encodings: Sequence[Encoding], batch_size: int, advance: Advance, *, pad_token: int
) -> NDArray[np.float32]:
    """Probabilities of a model that is in evaluation mode, shape (texts, labels)."""
    torch = load_torch()
    rows = np.zeros((len(encodings), model.config.num_labels), dtype=np.float32)
    for batch in batches_by_length(encodings, batch_size):
        with torch.inference_mode():
            logits = model(**pad([encodings[index] for index in batch], pad_token)).logits
        rows[batch] = logits.softmax(dim=-1).numpy()
        advance(1)
    return rows


def batches_by_length(encodings: Sequence[Encoding], size: int) -> Iterator[list[int]]:
    """The positions of all texts, the shortest text first, in batches.

    Examples
    --------
    >>> list(batches_by_length([[5, 6], [7], [8, 9, 1]], size=2))
    [[1, 0], [2]]
    """
    by_length = sorted(range(len(encodings)), key=lambda index: len(encodings[index]))
    for start in range(0, len(by_length), size):
        yield by_length[start : start + size]


def pad(encodings: Sequence[Encoding], pad_token: int) -> dict[str, Any]:
    """Encodings of one batch as tensors of the longest one's length.

    Examples
    --------
    >>> batch = pad([[5, 6], [7]], pad_token=0)
    >>> batch["input_ids"].tolist(), batch["attention_mask"].tolist()
    ([[5, 6], [7, 0]], [[1, 1], [1, 0]])
    """
    torch = load_torch()
    width = max(map(len, encodings))
    return {
        "input_ids": torch.tensor([row + [pad_token] * (width - len(row)) for row in encodings]),
        "attention_mask": torch.tensor(
            [[1] * len(row) + [0] * (width - len(row)) for row in encodings]
        ),
    }


def _rate_share(step: int, total: int, warm_up: float) -> float:
    """Share of the highest learning rate at a step: up to 1, then down towards 0.

    Examples
    --------
    >>> [_rate_share(step, total=6, warm_up=1 / 3) for step in range(6)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25]
    """
    rising = max(1, round(total * warm_up))
    return min((step + 1) / rising, (total - step) / max(1, total - rising))


def _batches(
    encodings: Sequence[Encoding], recipe: TrainingRecipe, generator: np.random.Generator
) -> Iterator[list[int]]:
    """Random batches of texts of about one length, in random order."""
    size = recipe.batch_size
    for _ in range(recipe.epochs):
        shuffled = generator.permutation(len(encodings)).tolist()
        batches = []
        for start in range(0, len(shuffled), size * _POOL):
            pool = sorted(
                shuffled[start : start + size * _POOL], key=lambda index: len(encodings[index])
            )
            batches += [pool[begin : begin + size] for begin in range(0, len(pool), size)]
        for position in generator.permutation(len(batches)):
            yield batches[position]


_PADDING = 0
"""The row that fills a batch: any row will do, since the attention mask leaves it out."""


class LowerOutput(NamedTuple):
    """The output of a classifier's lower layers for the tokens of some texts.

    Parameters
    ----------
    rows
        For each text, the rows that hold its tokens' vectors.
    after
        For a number of layers, their output: one row a token, shape (tokens, width).
    """

    rows: list[Encoding]
    after: Mapping[int, Any]

    def first(self, texts: int) -> LowerOutput:
        """The same for the first ``texts`` texts."""
        return LowerOutput(self.rows[:texts], self.after)


def read_lower_layers(
    model: Any,
    encodings: Sequence[Encoding],
    depths: Sequence[int],
    advance: Advance,
    *,
    pad_token: int,
    batch_size: int,
) -> LowerOutput:
    """The output of a BERT-like classifier's lower layers, one unit of progress a batch.

    Parameters
    ----------
    depths
        After how many layers it is kept, each at least 1.
    """
    torch = load_torch()
    ends = np.cumsum([len(encoding) for encoding in encodings]).tolist()
    rows = [
        list(range(end - len(encoding), end)) for end, encoding in zip(ends, encodings, strict=True)
    ]
    after = {depth: torch.empty(ends[-1], model.config.hidden_size) for depth in set(depths)}
    body = model.eval().base_model
    layers, outputs = body.encoder.layer[: max(depths)], {}

    def keep(depth: int, _layer: Any, _given: Any, output: Any) -> None:
        outputs[depth] = output[0] if isinstance(output, tuple) else output

    with _parts(body, body.embeddings, layers), ExitStack() as hooks:
        for depth in after:
            hook = layers[depth - 1].register_forward_hook(partial(keep, depth))
            hooks.callback(hook.remove)
        for batch in batches_by_length(encodings, batch_size):
            inputs = pad([encodings[index] for index in batch], pad_token)
            with torch.inference_mode():
                body(**inputs)
            # The mask picks the tokens of one text after another, padding left out.
            tokens = inputs["attention_mask"].bool()
            places = [row for index in batch for row in rows[index]]
            for depth, kept in after.items():
                kept[places] = outputs[depth][tokens]
            advance(1)
    return LowerOutput(rows, after)


def train_upper_layers(
    model: Any,
    lower: LowerOutput,
    targets: NDArray[np.float32],
    recipe: TrainingRecipe,
    seed: int,
    advance: Advance,
    *,
    frozen: int,
) -> None:
    """Train all but the embeddings and the lowest ``frozen`` layers, in place."""
    with _upper_part(model, frozen, lower.after[frozen]):
        train_classifier(model, lower.rows, targets, recipe, seed, advance, pad_token=_PADDING)


def answer_from(
    model: Any, lower: LowerOutput, batch_size: int, advance: Advance, *, frozen: int
) -> NDArray[np.float32]:
    """Probabilities of a model that is in evaluation mode, shape (texts, labels)."""
    with _upper_part(model, frozen, lower.after[frozen]):
        return answer(model, lower.rows, batch_size, advance, pad_token=_PADDING)


@contextmanager
def _upper_part(model: Any, frozen: int, vectors: Any) -> Iterator[None]:
    """Inside, the classifier has only its upper layers, and reads rows in place of tokens."""
    torch = load_torch()
    body = model.base_model
    *layers, last = body.encoder.layer[frozen:]
    layers = torch.nn.ModuleList([*layers, _for_first_token(last)])
    with _parts(body, _rows_of(vectors), layers):
        yield


@contextmanager
def _parts(body: Any, embeddings: Any, layers: Any) -> Iterator[None]:
    """Inside, a BERT-like encoder has these embeddings and these layers."""
    before = body.embeddings, body.encoder.layer
    body.embeddings, body.encoder.layer = embeddings, layers
    try:
        yield
    finally:
        body.embeddings, body.encoder.layer = before


def _rows_of(vectors: Any) -> Any:
    """A module in the place of embeddings that looks up vectors, and has no weights to train."""
    torch = load_torch()

    class Rows(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, input_ids: Any, **ignored: Any) -> Any:
            return vectors[input_ids]

    return Rows()


def _for_first_token(layer: Any) -> Any:
    """A BERT layer's output for the first token, which is all that a classifier reads of the last.

    The same numbers for a third of the work: only attention is needed of other tokens.
    """
    torch = load_torch()
    as_tuple = gives_tuple(layer)

    class FirstToken(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, vectors: Any, mask: Any, *_: Any, **__: Any) -> Any:
            context, *_ = layer.attention.self(vectors, attention_mask=mask)
            attended = layer.attention.output(context[:, :1], vectors[:, :1])
            output = layer.feed_forward_chunk(attended)
            return (output,) if as_tuple else output

    return FirstToken()


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
