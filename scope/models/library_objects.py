"""Objects of other libraries as models: of transformers, sentence-transformers and scikit-learn.

They are recognised by the modules of their classes, so that none of the libraries is imported.
Models of transformers are run by the same adapters as checkpoints, not by pipelines: batches, row
rules and limits are the same. Where all their code is that of these libraries, a hash of weights
and settings says what they answer.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from scope.data.fields import plain_label
from scope.errors import ModelError
from scope.models.guarded import labels_as_texts
from scope.models.heads import CLASSIFIER, Head, HeadKind, kind_of, longest_input
from scope.models.options import ModelOptions
from scope.models.torch_setup import choose_threads, load_torch, quiet_transformers
from scope.records.result import OBJECT
from scope.untrusted import loading

_CLASSIFIES = "ForSequenceClassification"

_LIBRARIES = ("torch", "transformers", "sentence_transformers")

_CHANGED_BY_HAND = ("forward", "_forward_hooks", "_forward_pre_hooks")
"""Attributes by which an object's code differs from that of its class."""

_STEPS = ("max_length", "stride", "doc_stride", "add_special_tokens", "function_to_apply")
"""Settings of pipelines that change what a text or its probabilities are."""

_SETTINGS_OF_TOKENIZERS = (
    *("model_max_length", "chat_template", "special_tokens_map", "model_input_names"),
    *("padding_side", "truncation_side", "clean_up_tokenization_spaces"),
)


def is_known(candidate: object) -> bool:
    """Whether it is of transformers (a pipeline, or a model with its tokenizer), or an encoder."""
    return _is_encoder(candidate) or _parts(candidate) is not None


def _is_encoder(candidate: object) -> bool:
    return _derives(candidate, "sentence_transformers", "SentenceTransformer")


def name_of(candidate: Any) -> str:
    """The name of the checkpoint of an object that is known; empty where it has none."""
    known = str(getattr(_config(model_in(candidate)), "_name_or_path", ""))
    return known.rstrip("/").rpartition("/")[2] or (
        type(model_in(candidate)).__name__ if is_known(candidate) else ""
    )


def model_in(candidate: Any) -> Any:
    """The model in a pipeline or in a pair of a model and its tokenizer; any other object itself.

    Raises
    ------
    ModelError
        When a model has no tokenizer.
    """
    return candidate if _parts(candidate) is None else _pair(candidate)[0]


def hash_of_weights(candidate: Any) -> str | None:
    """A hash of the weights and settings of an object that is known.

    None where other code than that of the libraries plays a part, or a tokenizer cannot be read as
    a whole.
    """
    if not is_known(candidate):
        return None
    model = model_in(candidate)
    tokenizer = candidate.tokenizer if _is_encoder(candidate) else _pair(candidate)[1]
    if not _is_of_libraries(model, tokenizer):
        return None
    settings = [getattr(candidate, name, None) for name in ("prompts", "default_prompt_name")]
    generation = getattr(model, "generation_config", None)
    parts = (
        json.dumps(settings if _is_encoder(candidate) else None, default=repr),
        str(model),
        _configuration(_config(model)),
        _configuration(generation) if generation is not None else "",
        _tokens(tokenizer),
    )
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "backslashreplace"))
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
    return digest.hexdigest()[:16]


def _is_of_libraries(model: Any, tokenizer: Any) -> bool:
    """Whether the libraries' own code alone turns a text into an answer."""
    parts = [*model.modules(), *([] if tokenizer is None else [tokenizer])]
    return (
        all(type(part).__module__.partition(".")[0] in _LIBRARIES for part in parts)
        and not any(vars(part).get(name) for part in parts for name in _CHANGED_BY_HAND)
        and (tokenizer is None or hasattr(tokenizer, "backend_tokenizer"))
    )


def _config(model: Any) -> Any:
    inner = getattr(model[0], "auto_model", None) if _is_encoder(model) else model
    return getattr(inner, "config", None)


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
    known = json.loads(tokenizer.backend_tokenizer.to_str())
    known = {key: value for key, value in known.items() if key not in ("truncation", "padding")}
    limits = [getattr(tokenizer, name, None) for name in _SETTINGS_OF_TOKENIZERS]
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
        if fingerprint.startswith(OBJECT):
            raise ModelError(
                "a SentenceTransformer with code of its own, or a tokenizer that cannot be read as "
                "a whole",
                expected="an encoder whose vectors are known in the next process, too",
                fix="give it a `fingerprint`, such as encoder.fingerprint = 'v1', that changes "
                "with its vectors",
            )
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
        _refuse_other_steps(candidate)
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


def _refuse_other_steps(pipeline: Any) -> None:
    """Refuse a pipeline that changes texts or probabilities: its model alone is asked."""
    settings = {**pipeline._preprocess_params, **pipeline._postprocess_params}
    steps = [name for name in settings if name in _STEPS]
    if type(pipeline).__module__.partition(".")[0] != "transformers":
        steps = ["code of its own"]
    if steps:
        raise ModelError(
            f"a {type(pipeline).__name__} with {' and '.join(steps)}, which SCoPE would leave out",
            expected="a pipeline that adds nothing to its model and tokenizer",
            fix="set `tokenizer.model_max_length` for a length; else pass a function of a list of "
            "texts, with `labels`, that calls the pipeline",
        )


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
