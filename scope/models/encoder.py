"""Sentence encoders of the sentence-transformers library."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.models.batching import batches_of_equal_length
from scope.models.checkpoint import fetch_checkpoint
from scope.models.options import ModelOptions
from scope.models.torch_setup import choose_device, load_torch, quiet_transformers


class SentenceEncoder:
    """Text in, one vector of length 1 out."""

    def __init__(self, model: Any, *, spec: str, fingerprint: str, token_budget: int) -> None:
        self._model = model
        self._token_budget = token_budget
        self.spec = spec
        self.fingerprint = fingerprint

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row a text; a row never depends on the other texts."""
        torch = load_torch()
        encodings = [self._model.preprocess([text]) for text in texts]
        lengths = [encoding["input_ids"].shape[1] for encoding in encodings]
        vectors = np.zeros((len(texts), self._model.get_embedding_dimension()))
        for batch in batches_of_equal_length(lengths, self._token_budget):
            inputs = {
                key: torch.cat([encodings[index][key] for index in batch]).to(self._model.device)
                for key, value in encodings[batch[0]].items()
                if isinstance(value, torch.Tensor)
            }
            with torch.inference_mode():
                rows = self._model(inputs)["sentence_embedding"]
            vectors[batch] = rows.double().cpu().numpy()
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(norms, np.finfo(float).tiny))


def load(rest: str, options: ModelOptions) -> SentenceEncoder:
    """Load a sentence encoder from a folder or the hub.

    Raises
    ------
    ModelError
        When it is not there, is a pickle, or is no sentence encoder.
    """
    checkpoint = fetch_checkpoint(rest, options)
    quiet_transformers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer
    try:
        model = SentenceTransformer(
            str(checkpoint.folder),
            device=str(choose_device(options.device)),
            trust_remote_code=options.trust_remote_code,
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise ModelError(
            f"`{rest}` does not load as a sentence encoder ({type(error).__name__}: {error})",
            expected="a model that sentence-transformers can read",
            mend="write for example hf:sentence-transformers/all-MiniLM-L6-v2",
        ) from error
    return SentenceEncoder(
        model.eval(),
        spec=f"hf:{rest}",
        fingerprint=checkpoint.fingerprint,
        token_budget=options.token_budget,
    )
