"""Objects of other libraries as models: of transformers, sentence-transformers and scikit-learn.

They are recognised by the modules of their classes, so that none of the libraries is imported.
Models of transformers are run by the same adapters as checkpoints, not by pipelines: batches, row
rules and limits are the same. The fingerprint covers all weights, from any file.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, NamedTuple

from scope.data.fields import plain_label
from scope.errors import ModelError
from scope.models.guarded import labels_as_texts
from scope.models.heads import CLASSIFIER, Head, HeadKind, kind_of, longest_input
from scope.models.options import ModelOptions
from scope.models.torch_setup import choose_threads, load_torch, quiet_transformers
from scope.untrusted import loading

_CLASSIFIES = "ForSequenceClassification"


class Identity(NamedTuple):
    """A short name for an object, and a hash of its weights."""

    name: str
    fingerprint: str


def is_known(candidate: object) -> bool:
    """Whether it is of transformers (a pipeline, or a model with its tokenizer), or an encoder."""
    return _is_encoder(candidate) or _parts(candidate) is not None


def _is_encoder(candidate: object) -> bool:
    return _derives(candidate, "sentence_transformers", "SentenceTransformer")


def identity_of_object(candidate: Any) -> Identity:
    """The name and the fingerprint of an object that is known.

    Raises
    ------
    ModelError
        When a model has no tokenizer.
    """
    if _is_encoder(candidate):
        model, tokenizer = candidate, getattr(candidate, "tokenizer", None)
        settings: object = [candidate.prompts, candidate.default_prompt_name]
        config = getattr(getattr(candidate[0], "auto_model", None), "config", None)
    else:
        model, tokenizer = _pair(candidate)
        settings, config = None, model.config
    known = str(getattr(config, "_name_or_path", "")).rstrip("/").rpartition("/")[2]
    digest = hashlib.sha256(json.dumps(settings, default=repr).encode())
    for part in (str(model), _configuration(config), _tokens(tokenizer)):
        digest.update(part.encode("utf-8", "backslashreplace") + b"\0")
    torch = load_torch()
    for name, value in sorted(model.state_dict().items()):
        # A quantized layer has pairs of tensors, and values that are not tensors.
        for tensor in value if isinstance(value, tuple) else (value,):
            if not isinstance(tensor, torch.Tensor):
                digest.update(f"{name} {tensor}".encode())
                continue
            digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
            dense = tensor.dequantize() if tensor.is_quantized else tensor
            plain = dense.detach().cpu().contiguous().reshape(-1)
            digest.update(plain.view(torch.uint8).numpy())
    return Identity(known or type(model).__name__, digest.hexdigest()[:16])


def _configuration(config: Any) -> str:
    """The content of a configuration, without the place where it was read."""
    if config is None:
        return ""
    known = {key: value for key, value in config.to_dict().items() if key != "_name_or_path"}
    # An id that no token has means that there is none; see `scope.models.huggingface`.
    known["pad_token_id"] = None if known.get("pad_token_id") == -1 else known.get("pad_token_id")
    return json.dumps(known, sort_keys=True, default=repr)


def _tokens(tokenizer: Any) -> str:
    """The settings that decide how a text becomes tokens; padding changes from call to call."""
    if tokenizer is None:
        return ""
    inner = getattr(tokenizer, "backend_tokenizer", None)
    if inner is None:
        known: Any = sorted(getattr(tokenizer, "get_vocab", dict)().items())
    else:
        known = json.loads(inner.to_str())
        known = {key: value for key, value in known.items() if key not in ("truncation", "padding")}
    limits = [getattr(tokenizer, name, None) for name in ("model_max_length", "chat_template")]
    return json.dumps([type(tokenizer).__name__, known, *limits], default=repr)


def adapt(candidate: Any, spec: str, fingerprint: str, options: ModelOptions) -> Any:
    """The object in all the roles that its architecture has.

    A model of transformers is put into evaluation mode, as its pipelines do.

    Raises
    ------
    ModelError
        When a model has no tokenizer, or no head that SCoPE uses.
    """
    quiet_transformers()
    if _is_encoder(candidate):
        from scope.models.encoder import SentenceEncoder

        with loading(spec):
            return SentenceEncoder(
                candidate.eval(),
                spec=spec,
                fingerprint=fingerprint,
                token_budget=options.token_budget,
            )
    model, tokenizer = _pair(candidate)
    kind = _kind(model)
    with loading(spec):
        choose_threads(model, options.threads)
        head = Head(model.eval(), tokenizer, fingerprint, longest_input(model, tokenizer))
        return kind.adapt(head, spec, options)


def _kind(model: Any) -> HeadKind:
    """The head that a model has."""
    names = {base.__name__ for base in type(model).__mro__}
    if kind := kind_of(names):
        return kind
    if any(name.endswith(_CLASSIFIES) for name in names):
        return CLASSIFIER
    raise ModelError(
        f"a {type(model).__name__}, which has no head that SCoPE asks",
        expected="a transformers model that classifies, fills masks, answers questions or writes "
        "text, with its tokenizer",
        fix="load it with its head, such as AutoModelForSequenceClassification",
    )


def _pair(candidate: Any) -> tuple[Any, Any]:
    """A model and its tokenizer.

    Raises
    ------
    ModelError
        When one of them is missing.
    """
    model, tokenizer = _parts(candidate) or (None, None)
    if model is None or tokenizer is None:
        part, missing = (tokenizer, "model") if model is None else (model, "tokenizer")
        raise ModelError(
            f"a {type(part).__name__} without its {missing}",
            expected="a pair (model, tokenizer), or a transformers pipeline",
            fix="pass (model, tokenizer); in a list of models as [(model, tokenizer)]",
        )
    return model, tokenizer


def _parts(candidate: Any) -> tuple[Any, Any] | None:
    """The model and the tokenizer in an object of transformers; None for other objects."""
    if _derives(candidate, "transformers", "Pipeline"):
        return candidate.model, candidate.tokenizer
    if _is_model(candidate):
        return candidate, None
    if _is_tokenizer(candidate):
        return None, candidate
    if isinstance(candidate, list | tuple) and len(candidate) == 2:
        model, tokenizer = sorted(candidate, key=_is_tokenizer)
        if _is_model(model) and _is_tokenizer(tokenizer):
            return model, tokenizer
    return None


def _is_model(candidate: object) -> bool:
    return _derives(candidate, "transformers", "PreTrainedModel")


def _is_tokenizer(candidate: object) -> bool:
    return _derives(candidate, "transformers", "PreTrainedTokenizerBase")


def _derives(candidate: object, package: str, name: str) -> bool:
    """Whether the class of an object is that class of a package, or derives from it."""
    return any(
        base.__name__ == name and base.__module__.partition(".")[0] == package
        for base in type(candidate).__mro__
    )


def estimator_labels(candidate: Any) -> tuple[str, ...] | None:
    """The labels of a classifier with scikit-learn's interface; None for other objects.

    Raises
    ------
    ModelError
        When its labels have no order, or an estimator of scikit-learn gives no probabilities, or
        is not fitted.
    """
    if callable(getattr(candidate, "predict_proba", None)) and hasattr(candidate, "classes_"):
        classes = getattr(candidate.classes_, "tolist", lambda: candidate.classes_)()
        if not isinstance(classes, set | frozenset):
            classes = [plain_label(str(class_)) for class_ in classes]
        return labels_as_texts(classes, type(candidate).__name__)
    if not _derives(candidate, "sklearn", "BaseEstimator"):
        return None
    fitted = hasattr(candidate, "predict_proba")
    raise ModelError(
        f"a {type(candidate).__name__} "
        + ("that is not fitted" if fitted else "without `predict_proba`, or not fitted"),
        expected="a fitted scikit-learn classifier of texts with `predict_proba` and `classes_`",
        fix="fit it first; wrap one without probabilities in CalibratedClassifierCV",
    )
