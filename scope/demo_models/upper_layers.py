"""Trains the upper layers of a classifier on the kept output of its frozen lower layers.

The frozen layers run once for each text, not once for each step, and no gradient passes them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scope.demo_models.recipes import TrainingRecipe
from scope.demo_models.training import Encoding, answer, batches_by_length, pad, train_classifier
from scope.models.torch_setup import load_torch
from scope.protocols import Advance

_PADDING = 0
"""The row that fills a batch: any will do, for the attention mask leaves it out."""


class LowerOutput(NamedTuple):
    """What the lower layers of a classifier give for the tokens of some texts.

    Parameters
    ----------
    rows
        Of each text, the rows that hold its tokens' vectors.
    after
        For a number of layers, their output: one row a token, shape (tokens, width).
    """

    rows: list[Encoding]
    after: Mapping[int, Any]

    def first(self, texts: int) -> LowerOutput:
        """The same of the first so many texts."""
        return LowerOutput(self.rows[:texts], self.after)


def read_lower_layers(
    model: Any,
    encodings: Sequence[Encoding],
    depths: Sequence[int],
    *,
    pad_token: int,
    batch_size: int,
    advance: Advance,
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
    with _parts(body, body.embeddings, body.encoder.layer[: max(depths)]):
        for batch in batches_by_length(encodings, batch_size):
            inputs = pad([encodings[index] for index in batch], pad_token)
            with torch.inference_mode():
                outputs = body(**inputs, output_hidden_states=True).hidden_states
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
    *,
    frozen: int,
    seed: int,
    advance: Advance,
) -> None:
    """Train all but the embeddings and the lowest ``frozen`` layers, in place."""
    with _upper_part(model, frozen, lower.after[frozen]):
        train_classifier(
            model, lower.rows, targets, recipe, pad_token=_PADDING, seed=seed, advance=advance
        )


def answer_from(
    model: Any, lower: LowerOutput, *, frozen: int, batch_size: int, advance: Advance
) -> NDArray[np.float32]:
    """Probabilities of a model that is in evaluation mode, shape (texts, labels)."""
    with _upper_part(model, frozen, lower.after[frozen]):
        return answer(model, lower.rows, pad_token=_PADDING, batch_size=batch_size, advance=advance)


@contextmanager
def _upper_part(model: Any, frozen: int, vectors: Any) -> Iterator[None]:
    """Inside, the classifier has its upper layers alone, and reads rows in place of tokens."""
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

    The same numbers for a sixth of the work: only keys and values are needed of other tokens.
    """
    torch = load_torch()

    class FirstToken(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, vectors: Any, mask: Any, *_: Any, **__: Any) -> tuple[Any]:
            first = vectors[:, :1]
            seen = None if mask is None else mask[:, :, :1]
            attention = layer.attention
            # Attention to another text's tokens is built in; here, that text is the same.
            (context, *_) = attention.self(
                first, attention_mask=seen, encoder_hidden_states=vectors
            )
            return (layer.feed_forward_chunk(attention.output(context, first)),)

    return FirstToken()
