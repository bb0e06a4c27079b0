"""``hf:NAME_OR_PATH[@REVISION]``: classification heads of the transformers library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scope.errors import ModelError
from scope.models.batching import batches_of_equal_length
from scope.models.heads import Head
from scope.models.inference import Computed, Inference
from scope.models.options import ModelOptions
from scope.models.torch_setup import load_torch
from scope.records import Prediction
from scope.untrusted import during_inference

DECIMALS = 6
"""Probabilities are rounded here: finer digits are noise of the hardware."""


_UNFIT = -2.0
"""The greatest logit of a label that does not fit: a probability of .12 of its own."""


def _label_names(spec: str, config: Any) -> tuple[str, ...]:
    """The names of a head's labels, if both tables of its configuration agree."""
    names, numbers, count = config.id2label, config.label2id, config.num_labels
    labels = tuple(str(names.get(index, f"LABEL_{index}")) for index in range(count))
    items = numbers.items() if isinstance(numbers, dict) else ()
    # Names such as LABEL_0 are what the library writes where nobody has named the labels.
    stated = {(name, str(at)) for name, at in items if not name.startswith("LABEL_")}
    named = any(not label.startswith("LABEL_") for label in labels)
    clash = named and not stated <= {(label, str(at)) for at, label in enumerate(labels)}
    if clash or not set(names) <= set(range(count)):
        raise ModelError(
            f"`{spec.removeprefix('hf:')}` has id2label {names!r:.200}, label2id {numbers!r:.200}",
            expected="the same names of the labels 0, 1, … in both",
            fix="correct its config.json: which label a number stands for decides every result",
        )
    return labels


class HuggingFaceClassifier(Computed):
    """A sequence-classification checkpoint; texts beyond its limit are cut and counted.

    Raises
    ------
    ModelError
        When its labels are not mutually exclusive.
    """

    def __init__(self, head: Head, spec: str, options: ModelOptions) -> None:
        self._model, self._tokenizer, self.fingerprint, self._limit = head
        self._token_budget = options.token_budget
        self._inference = Inference(self._model, lambda tokens: self._logits(input_ids=tokens))
        self.spec = spec
        config = self._model.config
        if self._is_multi_label():
            raise ModelError(
                f"`{spec.removeprefix('hf:')}` is a multi-label classifier: each label has its own "
                f"probability{'' if config.problem_type else ' (no label fits a plain text)'}",
                expected="a classifier whose probabilities sum to 1 over its labels",
                fix="name a single-label model, wrap this one as python:MODULE:ATTRIBUTE, or, if "
                "its labels are alternatives, set problem_type to single_label_classification in "
                "its config.json",
            )
        if config.pad_token_id is None:
            # Causal classifiers read the last token that is not padding, and refuse a batch where
            # the padding token is unknown. Nothing is padded here: with an id that no token has
            # they read the last one, as for a single text.
            config.pad_token_id = -1
        self.labels = _label_names(spec, config)

    def _is_multi_label(self) -> bool:
        """Whether its configuration says so or, where that is silent, no label fits a plain text.

        A head trained for alternatives gives logits that sum to about 0: its loss moves none
        without the others.
        """
        config, torch = self._model.config, load_torch()
        if config.problem_type is not None or config.num_labels < 3:
            return bool(config.problem_type == "multi_label_classification")
        tokens = self._tokenizer("This is a text.", return_tensors="pt", verbose=False)
        with torch.inference_mode():
            logits = self._logits(**tokens.to(self._model.device))
        return bool((logits < _UNFIT).all())

    @during_inference
    def classify(self, texts: Sequence[str]) -> list[Prediction]:
        """Answer every text; the probabilities are rounded to six decimals, and may be NaN."""
        encodings, truncated = self._encode(texts)
        predictions: dict[int, Prediction] = {}
        lengths = [len(encoding["input_ids"]) for encoding in encodings]
        for batch in batches_of_equal_length(lengths, self._token_budget):
            rows = self._probabilities([encodings[index] for index in batch])
            for index, row in zip(batch, rows, strict=True):
                predictions[index] = Prediction(
                    probabilities=tuple(row.tolist()), truncated=truncated[index]
                )
        return [predictions[index] for index in range(len(texts))]

    def _encode(self, texts: Sequence[str]) -> tuple[list[dict[str, list[int]]], list[bool]]:
        if not texts:
            return [], []
        bare = {"return_attention_mask": False, "verbose": False}
        whole = self._tokenizer(list(texts), **bare)
        encodings = [{key: whole[key][i] for key in whole} for i in range(len(texts))]
        truncated = [len(encoding["input_ids"]) > self._limit for encoding in encodings]
        for index in (i for i, cut in enumerate(truncated) if cut):
            short = self._tokenizer(texts[index], truncation=True, max_length=self._limit, **bare)
            encodings[index] = dict(short)
        return encodings, truncated

    def _probabilities(self, encodings: list[dict[str, list[int]]]) -> NDArray[np.float64]:
        inputs = {key: self._tensor([row[key] for row in encodings]) for key in encodings[0]}
        logits = self._inference.run(self._logits, **inputs)
        # Not every device has float64.
        probabilities = logits.cpu().double().softmax(dim=-1).numpy()
        return np.asarray(np.round(probabilities, DECIMALS))

    def _logits(self, **inputs: Any) -> Any:
        return self._model(**inputs).logits
