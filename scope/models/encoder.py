"""Sentence encoders of the sentence-transformers library."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.models.batching import batches_of_equal_length
from scope.models.checkpoint import fetch_checkpoint, first_line
from scope.models.options import ModelOptions
from scope.models.torch_setup import choose_device, load_torch, quiet_transformers


class SentenceEncoder:
    """Text in, one vector of length 1 out; texts beyond the model's limit are cut."""

    def __init__(self, model: Any, *, spec: str, fingerprint: str, token_budget: int) -> None:
        self._model = model
        # The earlier releases of sentence-transformers 5 have `tokenize` alone.
        self._tokenize = getattr(model, "preprocess", None) or model.tokenize
        self._prompt = model.prompts.get(model.default_prompt_name) or ""
        self._token_budget = token_budget
        self.spec = spec
        self.fingerprint = fingerprint

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row a text; a row never depends on the other texts."""
        vectors: dict[int, NDArray[np.float64]] = {}
        lengths = [self._length(text) for text in texts]
        for batch in batches_of_equal_length(lengths, self._token_budget):
            rows = self._model.encode(
                [texts[index] for index in batch], batch_size=len(batch), show_progress_bar=False
            )
            vectors.update(zip(batch, np.asarray(rows, dtype=np.float64), strict=True))
        if not vectors:
            return np.zeros((0, 0))
        matrix = np.stack([vectors[index] for index in range(len(texts))])
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        return np.asarray(matrix / np.maximum(norms, np.finfo(float).tiny))

    def _length(self, text: str) -> int:
        return int(self._tokenize([self._prompt + text])["input_ids"].numel())


def load(rest: str, options: ModelOptions) -> SentenceEncoder:
    """Load a sentence encoder from a folder or the hub.

    Raises
    ------
    ModelError
        When it is not there, is a pickle, or is no sentence encoder.
    """
    checkpoint = fetch_checkpoint(rest, options)
    quiet_transformers()
    torch = load_torch()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer
    try:
        model = SentenceTransformer(
            str(checkpoint.folder),
            device=str(choose_device(options.device)),
            trust_remote_code=options.trust_remote_code,
            model_kwargs={} if options.allow_pickle else {"use_safetensors": True},
        )
    # Damaged files raise whatever the library that reads them raises; tokenizers a bare Exception.
    except Exception as error:
        raise ModelError(
            f"`{rest}` does not load as a sentence encoder ({first_line(error)})",
            expected="a model that sentence-transformers can read",
            mend="write for example hf:sentence-transformers/all-MiniLM-L6-v2",
        ) from error
    return SentenceEncoder(
        model.to(getattr(torch, options.dtype)).eval(),
        spec=f"hf:{rest}",
        fingerprint=checkpoint.fingerprint,
        token_budget=options.token_budget,
    )
