"""``hf:NAME_OR_PATH[@REVISION]``: classification heads of the transformers library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.foreign import during_inference, loading
from scope.models.batching import batches_of_equal_length
from scope.models.checkpoint import fetch_checkpoint
from scope.models.inference import Inference
from scope.models.options import ModelOptions
from scope.models.safety import within_bounds
from scope.models.threads import choose_threads
from scope.models.torch_setup import choose_device, load_torch, quiet_transformers
from scope.records import Prediction

DECIMALS = 6
"""Probabilities are rounded here: finer digits are noise of the hardware."""


class HuggingFaceClassifier:
    """A sequence-classification checkpoint; texts beyond its limit are cut and counted."""

    def __init__(
        self, model: Any, tokenizer: Any, *, spec: str, fingerprint: str, token_budget: int
    ) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._token_budget = token_budget
        self._limit = longest_input(model, tokenizer)
        self._inference = Inference(model, lambda tokens: self._logits(input_ids=tokens))
        self.spec = spec
        self.fingerprint = fingerprint
        names = model.config.id2label
        self.labels = tuple(
            str(names.get(index, f"LABEL_{index}")) for index in range(model.config.num_labels)
        )

    @property
    def reproducible(self) -> str:
        """How equal an answer is in any batch; see `scope.models.inference`."""
        return self._inference.reproducible

    @during_inference
    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text; the probabilities are rounded to six decimals."""
        encodings, truncated = self._encode(texts)
        predictions: dict[int, Prediction] = {}
        lengths = [len(encoding["input_ids"]) for encoding in encodings]
        for batch in batches_of_equal_length(lengths, self._token_budget):
            rows = self._probabilities([encodings[index] for index in batch])
            for index, row in zip(batch, rows, strict=True):
                if not np.isfinite(row).all():
                    raise _not_a_number(self.spec, texts[index])
                predictions[index] = Prediction(
                    probabilities=tuple(row.tolist()), truncated=truncated[index]
                )
        return [predictions[index] for index in range(len(texts))]

    def _encode(self, texts: Sequence[str]) -> tuple[list[dict[str, list[int]]], list[bool]]:
        if not texts:
            return [], []
        whole = self._tokenizer(list(texts), return_attention_mask=False, verbose=False)
        encodings = [{key: whole[key][i] for key in whole} for i in range(len(texts))]
        truncated = [len(encoding["input_ids"]) > self._limit for encoding in encodings]
        for index in (i for i, cut in enumerate(truncated) if cut):
            encodings[index] = dict(
                self._tokenizer(
                    texts[index],
                    truncation=True,
                    max_length=self._limit,
                    return_attention_mask=False,
                )
            )
        return encodings, truncated

    def _probabilities(self, encodings: list[dict[str, list[int]]]) -> NDArray[np.float64]:
        torch = load_torch()
        inputs = {
            key: torch.tensor([encoding[key] for encoding in encodings], device=self._model.device)
            for key in encodings[0]
        }
        logits = self._inference.run(self._logits, **inputs)
        # Not every device has float64.
        probabilities = logits.cpu().double().softmax(dim=-1).numpy()
        return np.asarray(np.round(probabilities, DECIMALS))

    def _logits(self, **inputs: Any) -> Any:
        return self._model(**inputs).logits


def load(rest: str, options: ModelOptions) -> HuggingFaceClassifier:
    """Load a checkpoint as a classifier.

    Raises
    ------
    ModelError
        When it is not there, is a pickle, cannot be read, or has no trained classification head.
    """
    checkpoint = fetch_checkpoint(rest, options)
    transformers = quiet_transformers()
    torch = load_torch()
    device = choose_device(options.device)
    with loading(rest), within_bounds(rest, checkpoint.folder):
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            checkpoint.folder, trust_remote_code=options.trust_remote_code
        )
        model, report = transformers.AutoModelForSequenceClassification.from_pretrained(
            checkpoint.folder,
            dtype=getattr(torch, options.dtype),
            use_safetensors=None if options.allow_pickle else True,
            trust_remote_code=options.trust_remote_code,
            output_loading_info=True,
        )
    if missing := sorted(report["missing_keys"]):
        raise _untrained(rest, missing)
    with loading(rest):
        parts = model.to(device).eval(), tokenizer, checkpoint.fingerprint
    return of_parts(*parts, f"hf:{rest}", options)


def of_parts(
    model: Any, tokenizer: Any, fingerprint: str, spec: str, options: ModelOptions
) -> HuggingFaceClassifier:
    """A classifier that is loaded already, on its device.

    Raises
    ------
    ModelError
        When its probabilities do not exclude each other.
    """
    name = spec.removeprefix("hf:")
    if model.config.problem_type == "multi_label_classification":
        raise ModelError(
            f"`{name}` is a multi-label classifier: each label has its own probability",
            expected="a classifier whose probabilities sum to 1 over its labels",
            fix="name a single-label model, or wrap this one as python:MODULE:ATTRIBUTE",
        )
    if model.config.pad_token_id is None:
        # Causal classifiers read the last token that is no padding, and refuse a batch where the
        # token is unknown. Nothing is padded here: a number that no token has keeps them on the
        # last one, as for a text on its own.
        model.config.pad_token_id = -1
    choose_threads(model, options.threads)
    with loading(name):
        return HuggingFaceClassifier(
            model,
            tokenizer,
            spec=spec,
            fingerprint=fingerprint,
            token_budget=options.token_budget,
        )


def _untrained(rest: str, missing: Sequence[str]) -> ModelError:
    return ModelError(
        f"`{rest}` lacks trained weights for {', '.join(missing[:4])}",
        expected="a checkpoint with a trained classification head",
        fix="name a fine-tuned classifier; a base model's untrained head answers at random",
    )


def longest_input(model: Any, tokenizer: Any) -> int:
    """Most tokens of a text that the model reads.

    Raises
    ------
    ModelError
        When the tokenizer's own limit is not a number, or leaves no room for a token of a text
        beside the special ones.
    """
    most = _tokenizer_limit(tokenizer)
    positions = getattr(model.config, "max_position_embeddings", None)
    # Some models have no limit of their own, and XLNet says so with -1.
    if positions is None or positions < 1:
        return most
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        # RoBERTa and its kin number positions from behind the padding index: the first ones are
        # never used.
        if name.endswith("position_embeddings") and padding is not None:
            positions -= padding + 1
    return int(min(positions, most))


def _tokenizer_limit(tokenizer: Any) -> int:
    most = tokenizer.model_max_length
    count = getattr(tokenizer, "num_special_tokens_to_add", None)
    least = 1 if count is None else count() + 1
    if isinstance(most, int | float) and math.isfinite(most) and most >= least:
        return int(most)
    name = getattr(tokenizer, "name_or_path", "the model")
    raise ModelError(
        f"the tokenizer of `{name}` has the model_max_length {most!r}",
        expected=f"a number of tokens, at least {least}",
        fix="fix model_max_length in the checkpoint's tokenizer_config.json",
    )


def _not_a_number(spec: str, text: str) -> ModelError:
    return ModelError(
        f"`{spec}` answers NaN or infinity to the text {text[:80]!r}",
        expected="finite probabilities",
        fix="try --dtype float32, or check the checkpoint: its weights may be damaged",
    )
