"""Which settings each module of a sentence encoder may have in its file, and which values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scope.errors import ModelError
from scope.foreign import unreadable
from scope.models.files import read_json

Known = Mapping[str, Callable[[Any], bool]]
"""Whether a value is one of the known ones, by the setting's name."""


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _is_count_or_none(value: Any) -> bool:
    return value is None or _is_count(value)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text_or_none(value: Any) -> bool:
    return isinstance(value, str | None)


def _is_anything(_: Any) -> bool:
    return True


def _one_of(*known: Any) -> Callable[[Any], bool]:
    return lambda value: value in known


def _some_of(known: Collection[str]) -> Callable[[Any], bool]:
    def are_known(value: Any) -> bool:
        several = value if isinstance(value, list) and value else [value]
        return all(isinstance(one, str) and one in known for one in several)

    return are_known


_FORWARD = {"method": "forward", "method_output_name": "last_hidden_state"}
_PASSES = (_FORWARD, *({**_FORWARD, "format": kind} for kind in ("auto", "flat", "structured")))


def _is_of_text(value: Any) -> bool:
    """Whether texts, plain or as messages, pass through ``forward`` and nothing else does."""
    return (
        isinstance(value, dict)
        and set(value) <= {"text", "message"}
        and all(one in _PASSES for one in value.values())
    )


def _is_of_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_text_or_none, value.values()))


_ARGUMENTS = ("model_args", "tokenizer_args", "config_args", "processing_kwargs")
_NEWER_ARGUMENTS = ("model_kwargs", "processor_kwargs", "config_kwargs")

TRANSFORMER: Known = MappingProxyType(
    {
        "max_seq_length": _is_count_or_none,
        "do_lower_case": _is_flag,
        "transformer_task": _one_of("feature-extraction"),
        "modality_config": _is_of_text,
        "module_output_name": _one_of("token_embeddings"),
        "unpad_inputs": _one_of(None, False),
        # Handed on to the functions that load a model, a tokenizer and a configuration.
        **dict.fromkeys((*_ARGUMENTS, *_NEWER_ARGUMENTS), _one_of(None, {})),
    }
)

_SUMMED = ("mean", "mean_sqrt_len", "weightedmean")

POOLING: Known = MappingProxyType(
    {
        "embedding_dimension": _is_count,
        "word_embedding_dimension": _is_count,
        "pooling_mode": _some_of(
            ("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken")
        ),
        "include_prompt": _is_flag,
        **{f"pooling_mode_{name}_tokens": _is_flag for name in ("max", *_SUMMED)},
        **{f"pooling_mode_{name}": _is_flag for name in ("cls_token", "lasttoken")},
    }
)

_FUNCTIONS = ("ELU", "GELU", "LeakyReLU", "Mish", "ReLU", "SELU", "SiLU", "Sigmoid", "Tanh")
_ACTIVATIONS = (
    "torch.nn.Identity",
    "torch.nn.modules.linear.Identity",
    *(f"torch.nn.{name}" for name in _FUNCTIONS),
    *(f"torch.nn.modules.activation.{name}" for name in _FUNCTIONS),
)

DENSE: Known = MappingProxyType(
    {
        "in_features": _is_count,
        "out_features": _is_count,
        "bias": _is_flag,
        "activation_function": _one_of(*_ACTIVATIONS),
        "module_input_name": _one_of("sentence_embedding"),
        "module_output_name": _one_of(None, "sentence_embedding"),
    }
)

ENCODER: Known = MappingProxyType(
    {
        "__version__": _is_anything,
        "model_type": _one_of("SentenceTransformer"),
        "prompts": _is_of_texts,
        "default_prompt_name": _is_text_or_none,
        "similarity_fn_name": _is_text_or_none,
        "truncate_dim": _is_count_or_none,
    }
)


def known_settings(name: str, path: Path, known: Known) -> dict[str, Any]:
    """The settings in a file of an encoder, none where there is no file.

    Raises
    ------
    ModelError
        When the file cannot be read, or has another setting or value: the library hands them on,
        to whatever takes them.
    """
    if not path.is_file():
        return {}
    held = read_json(name, path)
    if not isinstance(held, dict):
        raise unreadable(name, f"{path.name} holds a {type(held).__name__} in place of an object")
    for key, value in held.items():
        if key not in known or not known[key](value):
            raise ModelError(
                f"`{name}` sets {key[:40]} to {str(value)[:80]!r} in {path.name} of "
                f"{path.parent.name}/",
                expected=f"ordinary values of {', '.join(known)}: others may run code that comes "
                "with the encoder",
                fix="if you trust its author, add --trust-remote-code; else choose another encoder",
            )
    return held
