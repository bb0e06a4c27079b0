"""Sentence encoders of the sentence-transformers library."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.models.checkpoint import fetch_encoder, require_all_read, stored_sizes
from scope.models.inference import Inference, batches_of_equal_length
from scope.models.options import ModelOptions
from scope.models.safety import within_bounds
from scope.models.torch_setup import choose_device, choose_threads, load_torch, quiet_transformers
from scope.protocols import Swap, during_inference, loading

_COUNTED_AT_ONCE = 256

_LEAST_STATIC = 0.15
"""Of the words that fit in context, 99 % have static embeddings of at least this cosine."""

_Place = tuple[str, int, int]


class SentenceEncoder:
    """Text in, one vector of length 1 out; texts beyond the model's limit are cut."""

    def __init__(self, model: Any, *, spec: str, fingerprint: str, token_budget: int) -> None:
        self._model = model
        # The earlier releases of sentence-transformers 5 have only `tokenize`.
        self._tokenize = getattr(model, "preprocess", None) or model.tokenize
        self._prompt = model.prompts.get(model.default_prompt_name) or ""
        self._token_budget = token_budget
        # An encoder that is no transformer, such as a word table, has no tokens for the trial.
        body = getattr(model[0], "auto_model", None)
        self._body: Any = body
        self._is_tried = body is not None or type(model[0]).__name__ == "StaticEmbedding"
        self._inference = Inference(model, self._of_tokens if body else None, body=body)
        self.spec = spec
        self.fingerprint = fingerprint

    @property
    def reproducible(self) -> str:
        """How reproducible a vector is across batches; see `scope.models.inference`.

        Empty for an encoder that is neither a transformer nor a word table.
        """
        return self._inference.reproducible if self._is_tried else ""

    @during_inference
    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """One row per text; a row never depends on the other texts."""
        vectors: dict[int, NDArray[np.float64]] = {}
        for batch in batches_of_equal_length(self._lengths(texts), self._token_budget):
            rows = self._inference.run(self._of_texts, texts=[texts[index] for index in batch])
            vectors.update(zip(batch, np.asarray(rows, dtype=np.float64), strict=True))
        if not vectors:
            return np.zeros((0, 0))
        return _unit_rows(np.stack([vectors[index] for index in range(len(texts))]))

    def _of_texts(self, texts: list[str]) -> Any:
        return self._model.encode(texts, batch_size=len(texts), show_progress_bar=False)

    def _of_tokens(self, tokens: Any) -> Any:
        everywhere = load_torch().ones_like(tokens)
        features = {"input_ids": tokens, "attention_mask": everywhere}
        return self._model(features)["sentence_embedding"]

    @during_inference
    def encode_words(self, words: Sequence[str]) -> NDArray[np.float64]:
        """One row per word, from the table of input embeddings alone: its static embedding.

        A row is the mean of the rows of the word's tokens, at length 1. ``word_cosine`` compares
        the words of a cloze in this way, without the sentence around them. A word without tokens,
        such as an empty one, has a row of zeros.

        Raises
        ------
        ModelError
            When the encoder has no such table.
        """
        if self._body is None:
            raise ModelError(
                f"`{self.spec}` begins with a {type(self._model[0]).__name__}",
                expected="an encoder that begins with a transformer with word embeddings",
                fix="choose another encoder, such as hf:sentence-transformers/all-mpnet-base-v2",
            )
        table = self._body.get_input_embeddings().weight.detach().cpu()
        rows = np.zeros((len(words), table.shape[1]))
        for row, word in zip(rows, words, strict=True):
            tokens = self._model.tokenizer(word, add_special_tokens=False, verbose=False)
            if tokens["input_ids"]:
                row[:] = table[tokens["input_ids"]].double().mean(dim=0).numpy()
        return _unit_rows(rows)

    @during_inference
    def compare_words(self, swaps: Sequence[Swap]) -> NDArray[np.float64]:
        """The cosine of each new word's vector in the text with that of the old word, -1 to 1.

        A word's vector is the mean over its tokens and the upper half of the layers. Words whose
        static embeddings have a cosine below 0.15 are not read in context: that cosine is returned.

        Raises
        ------
        ModelError
            When the encoder has no vectors of tokens, or its tokenizer no places of them.
        """
        if not (self._body and getattr(self._model.tokenizer, "is_fast", False)):
            raise ModelError(
                f"`{self.spec}` gives no vectors of words in their texts",
                expected="an encoder that begins with a transformer with a fast tokenizer",
                fix="choose another encoder, such as hf:sentence-transformers/all-mpnet-base-v2, "
                "or --setting synonym.sense=frequent",
            )
        words = [(swap.text[swap.start : swap.end], swap.word) for swap in swaps]
        distinct = list(dict.fromkeys(word for pair in words for word in pair))
        static = dict(zip(distinct, self.encode_words(distinct), strict=True))
        cosines = np.array([float(static[old] @ static[new]) for old, new in words])
        read = np.flatnonzero(cosines >= _LEAST_STATIC)
        pairs = list(map(_places, swaps))
        vectors = self._in_context(dict.fromkeys(place for at in read for place in pairs[at]))
        for at in read:
            before, after = pairs[at]
            cosines[at] = float(vectors[before] @ vectors[after])
        clipped: NDArray[np.float64] = np.clip(cosines, -1, 1)
        return clipped

    def _in_context(self, places: Iterable[_Place]) -> dict[_Place, NDArray[np.float64]]:
        """The vector of length 1 of the word at each place: a text, a start and an end."""
        places = list(places)
        tokens = [
            self._model.tokenizer(text, truncation=True, return_offsets_mapping=True, verbose=False)
            for text, _, _ in places
        ]
        vectors: dict[_Place, NDArray[np.float64]] = {}
        lengths = [len(token["input_ids"]) for token in tokens]
        for batch in batches_of_equal_length(lengths, self._token_budget):
            ids = load_torch().tensor([tokens[at]["input_ids"] for at in batch])
            rows = self._inference.run(self._upper_half, tokens=ids.to(self._model.device))
            for at, row in zip(batch, np.asarray(rows.cpu(), dtype=np.float64), strict=True):
                _, start, end = places[at]
                inside = [a < end and b > start for a, b in tokens[at]["offset_mapping"]]
                # A word beyond the limit of the encoder has no tokens, and no vector.
                mean = row[inside].mean(axis=0) if any(inside) else np.zeros(row.shape[1])
                vectors[places[at]] = _unit_rows(mean[None])[0]
        return vectors

    def _upper_half(self, tokens: Any) -> Any:
        everywhere = load_torch().ones_like(tokens)
        states = self._body(
            input_ids=tokens, attention_mask=everywhere, output_hidden_states=True
        ).hidden_states
        return load_torch().stack(states[len(states) // 2 :]).mean(dim=0)

    def _lengths(self, texts: Sequence[str]) -> list[int]:
        """The number of tokens of each text, without padding; many texts at once, for speed."""
        lengths: list[int] = []
        for start in range(0, len(texts), _COUNTED_AT_ONCE):
            portion = [self._prompt + text for text in texts[start : start + _COUNTED_AT_ONCE]]
            if (seen := self._tokenize(portion).get("attention_mask")) is not None:
                lengths += seen.sum(dim=1).tolist()
            else:  # an encoder such as a word table, which may put all texts in one row
                lengths += [int(self._tokenize([text])["input_ids"].numel()) for text in portion]
        return lengths


def _places(swap: Swap) -> tuple[_Place, _Place]:
    """The places of the word in its text, and of its replacement in the changed text."""
    changed = swap.text[: swap.start] + swap.word + swap.text[swap.end :]
    new = (changed, swap.start, swap.start + len(swap.word))
    return (swap.text, swap.start, swap.end), new


def load(rest: str, options: ModelOptions) -> SentenceEncoder:
    """Load a sentence encoder from a folder, the hub, or installed packages that hold it.

    Raises
    ------
    ModelError
        When it does not exist, is a pickle, or is not a sentence encoder.
    ResourceError
        When the packages that hold it are damaged.
    """
    checkpoint = fetch_encoder(rest, options)
    quiet_transformers()
    torch = load_torch()
    with loading(rest), within_bounds(rest, checkpoint.folder):
        model = _model(checkpoint.folder, options)
        _require_limit(rest, model)
        if body := getattr(model[0], "auto_model", None):
            stored = stored_sizes(checkpoint.folder).keys()
            require_all_read(rest, checkpoint.folder, body, stored - set(body.state_dict()))
        choose_threads(model, options.threads)
        return SentenceEncoder(
            model.to(getattr(torch, options.dtype)).eval(),
            spec=f"hf:{rest}",
            fingerprint=checkpoint.fingerprint,
            token_budget=options.token_budget,
        )


def _model(folder: Path, options: ModelOptions) -> Any:
    with warnings.catch_warnings(action="ignore"):
        from sentence_transformers import SentenceTransformer

    return SentenceTransformer(
        str(folder),
        device=str(choose_device(options.device)),
        trust_remote_code=options.trust_remote_code,
        # Code may lie in another repository; all else is in the folder.
        local_files_only=not options.trust_remote_code,
        model_kwargs={} if options.allow_pickle else {"use_safetensors": True},
    )


def _require_limit(rest: str, model: Any) -> None:
    """Refuse a limit that leaves no room for a token of a text: the tokenizer would panic."""
    most, tokenizer = model.max_seq_length, getattr(model[0], "tokenizer", None)
    count = getattr(tokenizer, "num_special_tokens_to_add", None)
    least = 1 if count is None else count(False) + 1
    if most is not None and not (isinstance(most, int | float) and most >= least):
        raise ModelError(
            f"`{rest}` reads texts of at most {most!r} tokens",
            expected=f"a number of tokens, at least {least}",
            fix="fix max_seq_length in the encoder's sentence_bert_config.json, or "
            "model_max_length in its tokenizer_config.json",
        )


def _unit_rows(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    return np.asarray(matrix / np.maximum(norms, np.finfo(float).tiny))
