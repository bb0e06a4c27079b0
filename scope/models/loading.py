"""Turns ``scheme:rest`` into a model in the role that is asked for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from scope.errors import ModelError, SpecError
from scope.models.options import ModelOptions
from scope.protocols import Classifier, Encoder
from scope.registry import BUILT_IN, find

_SCHEME = re.compile(r"(?P<scheme>[a-z][a-z0-9_+-]*):(?P<rest>.*)", re.DOTALL)


def split_spec(spec: str) -> tuple[str, str]:
    """Scheme and rest of a spec; a bare name or path belongs to ``hf``.

    Raises
    ------
    SpecError
        When the spec, or what follows its scheme, is empty.

    Examples
    --------
    >>> split_spec("predictions:answers.jsonl")
    ('predictions', 'answers.jsonl')
    >>> split_spec("google-bert/bert-base-uncased")
    ('hf', 'google-bert/bert-base-uncased')
    """
    match = None if Path(spec).exists() else _SCHEME.fullmatch(spec)
    scheme, rest = (match["scheme"], match["rest"]) if match else ("hf", spec)
    if not rest.strip():
        raise SpecError(
            f"the model spec `{spec}`",
            expected=f"SCHEME:REST with a scheme of {', '.join(BUILT_IN['models'])}",
            mend="write for example hf:distilbert-base-uncased-finetuned-sst-2-english",
        )
    return scheme, rest


def load_classifier(spec: str, options: ModelOptions | None = None) -> Classifier:
    """The model behind a spec in the role of classifier.

    Raises
    ------
    SpecError
        When no scheme has that name.
    ModelError
        When the model cannot be loaded, has fewer than two labels, or no such role.
    """
    scheme, rest = split_spec(spec)
    model = find("models", scheme).target(rest, options or ModelOptions())
    if not isinstance(model, Classifier):
        raise ModelError(
            f"`{spec}` is a {type(model).__name__} without the role of classifier",
            expected="an object with spec, fingerprint, labels and classify",
            mend="add what is missing, or name another model",
        )
    return require_labels(model)


def require_labels(model: Classifier) -> Classifier:
    """The classifier itself, if it has labels to choose from.

    Raises
    ------
    ModelError
        When it has fewer than two different labels.
    """
    if len(set(model.labels)) < 2:
        raise ModelError(
            f"`{model.spec}` has the labels {list(model.labels)}",
            expected="a classifier with at least two different labels",
            mend="name a model that was trained to classify; a regression head has no labels",
        )
    return model


def load_encoder(spec: str, options: ModelOptions | None = None) -> Encoder:
    """The sentence encoder behind a spec; encoders are served by the scheme ``hf`` alone."""
    scheme, rest = split_spec(spec)
    if scheme != "hf":
        raise SpecError(
            f"an encoder of the scheme `{scheme}`",
            expected="hf:NAME or a folder that sentence-transformers can load",
            mend="write for example hf:sentence-transformers/all-MiniLM-L6-v2",
        )
    from scope.models.encoder import load

    return cast(Encoder, load(rest, options or ModelOptions()))
