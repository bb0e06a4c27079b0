"""Loads a checkpoint of the transformers library with the head that a role needs."""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from scope.errors import ModelError
from scope.foreign import loading
from scope.models.checkpoint import fetch_checkpoint
from scope.models.huggingface import longest_input
from scope.models.options import ModelOptions
from scope.models.sizes import refuse_false_sizes
from scope.models.torch_setup import choose_device, load_torch, quiet_transformers


class Head(NamedTuple):
    """A trained model on its device, its tokenizer, and the most tokens that it takes."""

    model: Any
    tokenizer: Any
    fingerprint: str
    limit: int


def load_head(rest: str, options: ModelOptions, kind: str) -> Head:
    """A checkpoint as one of the transformers library's automatic classes.

    Parameters
    ----------
    rest
        A folder, or ``NAME[@REVISION]`` on the hub.
    kind
        The automatic class without its prefix, such as ``MaskedLM``.

    Raises
    ------
    ModelError
        When it is not there, is a pickle, cannot be read, or its head was never trained.
    """
    head, missing = load_parts(rest, options, f"AutoModelFor{kind}")
    if missing:
        raise _untrained(rest, kind, missing)
    return head


def load_parts(rest: str, options: ModelOptions, automatic: str) -> tuple[Head, list[str]]:
    """A checkpoint as one of the automatic classes, and the weights that it does not hold.

    Raises
    ------
    ModelError
        When it is not there, is a pickle, or cannot be read.
    """
    checkpoint = fetch_checkpoint(rest, options)
    transformers, torch = quiet_transformers(), load_torch()
    device = choose_device(options.device)
    with loading(rest):
        refuse_false_sizes(rest, checkpoint.folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            checkpoint.folder, trust_remote_code=options.trust_remote_code
        )
        model, report = getattr(transformers, automatic).from_pretrained(
            checkpoint.folder,
            dtype=getattr(torch, options.dtype),
            use_safetensors=None if options.allow_pickle else True,
            trust_remote_code=options.trust_remote_code,
            output_loading_info=True,
        )
        head = Head(
            model.to(device).eval(),
            tokenizer,
            checkpoint.fingerprint,
            longest_input(model, tokenizer),
        )
    return head, sorted(report["missing_keys"])


def fingerprint_with(fingerprint: str, *settings: str | int) -> str:
    """A checkpoint's fingerprint together with the settings that change its answers.

    Examples
    --------
    >>> fingerprint_with("abc", 32) == fingerprint_with("abc", 32)
    True
    >>> fingerprint_with("abc", 32) == fingerprint_with("abc", 33)
    False
    """
    return hashlib.sha256(json.dumps([fingerprint, *settings]).encode()).hexdigest()[:16]


def refuse_nan(spec: str, logits: Any) -> None:
    """Refuse a model that answers what is no number.

    Raises
    ------
    ModelError
        When one of the logits is NaN.
    """
    if logits.isnan().any():
        raise ModelError(
            f"`{spec}` answers NaN",
            expected="numbers",
            fix="try --dtype float32, or check the checkpoint: its weights may be damaged",
        )


def _untrained(rest: str, kind: str, missing: list[str]) -> ModelError:
    return ModelError(
        f"`{rest}` lacks trained weights for {', '.join(missing[:4])}",
        expected=f"a checkpoint trained as a transformers model for {kind}",
        fix="name one with that head; an untrained head answers at random",
    )
