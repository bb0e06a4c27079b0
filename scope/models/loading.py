"""Turns ``scheme:rest`` into a model in the role that is asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

from scope.errors import ModelError, SpecError
from scope.foreign import ForeignCode
from scope.models.guarded import GuardedModel, guard_methods, is_complete
from scope.models.options import ModelOptions
from scope.protocols import (
    Answerer,
    ChoiceScorer,
    Classifier,
    Encoder,
    LatentReader,
    MaskFiller,
    NextToken,
    Role,
)
from scope.registry import BUILT_IN, find

if TYPE_CHECKING:
    from scope.models.latents import Readout

PROTOCOLS: Mapping[Role, type] = MappingProxyType(
    {
        "classifier": Classifier,
        "mask_filler": MaskFiller,
        "answerer": Answerer,
        "choice_scorer": ChoiceScorer,
        "next_token": NextToken,
        "encoder": Encoder,
        "latent_reader": LatentReader,
    }
)
"""What a model must offer in each role."""

METHODS: Mapping[Role, str] = MappingProxyType(
    {
        "classifier": "classify",
        "mask_filler": "fill",
        "answerer": "answer",
        "choice_scorer": "choose",
        "next_token": "predict_next",
        "encoder": "encode",
        "latent_reader": "latents",
    }
)
"""How a model is asked in each role."""

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
    match = None if _is_path(spec) else _SCHEME.fullmatch(spec)
    scheme, rest = (match["scheme"], match["rest"]) if match else ("hf", spec)
    if not rest.strip():
        raise SpecError(
            f"the model spec `{spec}`",
            expected=f"SCHEME:REST with a scheme of {', '.join(BUILT_IN['models'])}",
            fix="write for example hf:distilbert-base-uncased-finetuned-sst-2-english",
        )
    return scheme, rest


def _is_path(spec: str) -> bool:
    try:
        return Path(spec).exists()
    # A spec may be longer than the name of any file, or hold what none can.
    except (OSError, ValueError):
        return False


def load_model(spec: str, role: Role, options: ModelOptions | None = None) -> Any:
    """The model behind a spec, which offers what the role's protocol asks.

    A language model is a classifier when the options give it label words.

    Raises
    ------
    SpecError
        When no scheme has that name.
    ModelError
        When the model cannot be loaded or lacks the role.
    """
    options = options or ModelOptions()
    if role == "encoder":
        return load_encoder(spec, options)
    if role == "latent_reader":
        return load_latent_reader(spec, options)
    return in_role(_loaded(spec, options), spec, role, options)


def _loaded(spec: str, options: ModelOptions) -> Any:
    """The model of any scheme; where foreign code is run for it, behind the boundary."""
    scheme, rest = split_spec(spec)
    load = find("models", scheme).target
    if scheme in BUILT_IN["models"]:
        if not options.trust_remote_code or scheme == "python":
            return load(rest, options)
        code = ForeignCode(spec)
        return guard_methods(code.call("loading", load, rest, options), code)
    code = ForeignCode(spec)
    model = code.call("loading", load, rest, options)
    with code.entered("its attributes"):
        complete = is_complete(model)
    return GuardedModel(model, code) if complete else model


def in_role(model: object, spec: str, role: Role, options: ModelOptions) -> Any:
    """The model itself if it has the role, or what gives it the role.

    Raises
    ------
    ModelError
        When it lacks the role; the message lists those that it has.
    """
    if isinstance(model, PROTOCOLS[role]):
        return model
    if role == "classifier" and isinstance(model, ChoiceScorer):
        if split_spec(spec)[0] == "predictions":
            raise ModelError(
                f"`{spec}` contains answers to questions, not labels of texts",
                expected="for labels, one JSON line per text with `text`, `probabilities` and, "
                "in the first line, `labels`",
                fix="save the file in this form; or choose the task of the answers, such as "
                "--task choice",
            )
        from scope.models.label_words import LabelWordClassifier

        return LabelWordClassifier(model, options)
    kind = getattr(model, "kind", type(model)).__name__
    has = ", ".join(name for name, offered in PROTOCOLS.items() if isinstance(model, offered))
    raise ModelError(
        f"`{spec}` is a {kind} with the roles: {has or 'none'}",
        expected=f"a model in the role of {role}: with `spec`, `fingerprint` and `{METHODS[role]}`",
        fix="choose another model, or use one of this model's roles (see `scope list models`)",
    )


def load_classifier(spec: str, options: ModelOptions | None = None) -> Classifier:
    """The model behind a spec in the role of classifier.

    Raises
    ------
    SpecError
        When no scheme has that name.
    ModelError
        When the model cannot be loaded, has fewer than two labels, or no such role.
    """
    return require_labels(load_model(spec, "classifier", options))


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
            fix="name a model that was trained to classify; a regression head has no labels",
        )
    return model


def load_encoder(spec: str, options: ModelOptions | None = None) -> Encoder:
    """The sentence encoder behind a spec; encoders are served by the scheme ``hf`` alone."""
    scheme, rest = split_spec(spec)
    if scheme != "hf":
        raise SpecError(
            f"an encoder of the scheme `{scheme}`",
            expected="hf:NAME or a folder that sentence-transformers can load",
            fix="write for example hf:sentence-transformers/all-MiniLM-L6-v2",
        )
    from scope.models.encoder import load

    return cast(Encoder, load(rest, options or ModelOptions()))


def load_latent_reader(
    spec: str, options: ModelOptions | None = None, readout: Readout | None = None
) -> LatentReader:
    """The model behind a spec, read layer by layer; its weights are loaded when they are needed.

    Parameters
    ----------
    readout
        How a text becomes one vector per layer; by default a prompt's last token for causal models,
        the mean for others. Models of ``python:`` are read in a way of their own.

    Raises
    ------
    SpecError
        When no scheme has that name, or its models are read in a way of their own.
    ModelError
        When the model cannot be found, or has no hidden states; the message lists its roles.
    """
    options = options or ModelOptions()
    scheme, rest = split_spec(spec)
    if scheme in ("hf", "gguf"):
        from scope.models.latents import read_checkpoint, read_gguf

        return (read_checkpoint if scheme == "hf" else read_gguf)(rest, options, readout)
    if readout is not None:
        raise SpecError(
            f"the readout {readout.kind} for the scheme `{scheme}`",
            expected="a model of the scheme hf or gguf: other schemes have no choice of readout",
            fix="leave the readout out, or choose another model",
        )
    if scheme == "openai":
        raise ModelError(
            f"`{spec}` runs on a server, which does not expose its layers",
            expected="a model that is loaded here, as hf:NAME or gguf:FILE, or an object with "
            f"`{METHODS['latent_reader']}` as python:MODULE:ATTRIBUTE",
            fix="use the checkpoint itself",
        )
    return cast(LatentReader, in_role(_loaded(spec, options), spec, "latent_reader", options))
