"""Builds a sentence encoder of the library's own modules, without a class named by a file.

The library imports the class of each module from modules.json, and modules such as Router and
WordEmbeddings import more from files of their own, to any depth, without permission where the
encoder is a local folder. So the classes are chosen here, and each may be configured by known keys
with known values alone. What is built is what the library builds, to the bit.

First come the settings that each module may have in its file, and their values.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from scope.errors import ModelError
from scope.foreign import unreadable
from scope.models.files import foreign, is_adapter, is_left_out, read_json, refuse_false_sizes
from scope.models.options import ModelOptions
from scope.models.torch_setup import quiet_transformers

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


_LIBRARY = "sentence_transformers."

_TRANSFORMER_FILES = tuple(
    f"sentence_{name}_config.json"
    for name in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)
_PROCESSORS = (
    "processor_config.json",
    "preprocessor_config.json",
    "video_preprocessor_config.json",
)


class _Place(NamedTuple):
    """Where a module lies: the encoder as it was named, its folder, and the path in it."""

    name: str
    root: Path
    path: str

    @property
    def folder(self) -> Path:
        return self.root / self.path


def build_encoder(name: str, folder: Path, options: ModelOptions, device: str) -> Any:
    """A SentenceTransformer of Transformer, Pooling, Dense, Normalize and StaticEmbedding.

    Raises
    ------
    ModelError
        When the folder names other modules, sets what is none of their known settings, or lacks
        weights as safetensors.
    """
    settings = known_settings(name, folder / "config_sentence_transformers.json", ENCODER)
    settings.pop("__version__", None)
    settings.pop("model_type", None)
    if not (folder / "modules.json").is_file():
        _require_text_alone(_Place(name, folder, ""))
        refuse_false_sizes(name, folder)
        return sentence_transformer()(
            str(folder), device=device, local_files_only=True, model_kwargs=_weights(options)
        )
    listed = _listed(name, folder)
    modules = OrderedDict(
        (title, _BUILDERS[kind](_Place(name, folder, path), options))
        for title, kind, path in listed
    )
    return sentence_transformer()(modules=modules, device=device, **settings)


def _listed(name: str, folder: Path) -> list[tuple[str, str, str]]:
    """Name, kind and path of each module."""
    try:
        entries = [
            (str(module["name"]), str(module["type"]), str(module["path"]))
            for module in read_json(name, folder / "modules.json")
        ]
    except (TypeError, KeyError) as error:
        raise unreadable(name, f"modules.json is no list of modules ({error})") from error
    if not entries:
        raise unreadable(name, "modules.json lists no module")
    for _, kind, path in entries:
        if not kind.startswith(_LIBRARY) or kind.rpartition(".")[2] not in _BUILDERS:
            raise _unknown_module(name, kind)
        root, place = folder.resolve(), (folder / path).resolve()
        if not place.is_relative_to(root):
            raise foreign(name, f"modules.json names the path {path[:80]!r} outside its folder")
        if is_left_out(place.relative_to(root)):
            raise unreadable(name, f"modules.json names the path {path[:80]!r}, which is not read")
    return [(title, kind.rpartition(".")[2], path) for title, kind, path in entries]


def _transformer(place: _Place, options: ModelOptions) -> Any:
    for file in _TRANSFORMER_FILES:
        known_settings(place.name, place.folder / file, TRANSFORMER)
    _require_text_alone(place)
    refuse_false_sizes(place.name, place.folder)
    return _library().Transformer.load(
        str(place.root),
        subfolder=place.path,
        local_files_only=True,
        trust_remote_code=False,
        model_kwargs=_weights(options),
    )


def _pooling(place: _Place, options: ModelOptions) -> Any:
    known_settings(place.name, place.folder / "config.json", POOLING)
    return _library().Pooling.load(str(place.root), subfolder=place.path, local_files_only=True)


def _dense(place: _Place, options: ModelOptions) -> Any:
    held = known_settings(place.name, place.folder / "config.json", DENSE)
    _require_safetensors(place, options)
    weights = place.folder / "model.safetensors"
    size = (weights if weights.is_file() else place.folder / "pytorch_model.bin").stat().st_size
    numbers = held.get("in_features", 0) * held.get("out_features", 0)
    if numbers > size:
        raise unreadable(
            place.name, f"{place.path}/config.json claims {numbers} weights in {size} bytes"
        )
    return _library().Dense.load(str(place.root), subfolder=place.path, local_files_only=True)


def _static_embedding(place: _Place, options: ModelOptions) -> Any:
    """A table of word vectors, read from tokenizer.json and the weights alone."""
    _require_safetensors(place, options)
    module = _library().StaticEmbedding
    return module.load(str(place.root), subfolder=place.path, local_files_only=True)


def _require_safetensors(place: _Place, options: ModelOptions) -> None:
    if not (place.folder / "model.safetensors").is_file() and not options.allow_pickle:
        raise ModelError(
            f"`{place.name}` has no {(Path(place.path) / 'model.safetensors').as_posix()}",
            expected="weights as safetensors: a pickle can run any code when it is read",
            fix="choose another encoder, or, if you trust its author, add --allow-pickle",
        )


def _normalize(place: _Place, options: ModelOptions) -> Any:
    return _library().Normalize()


_BUILDERS: Mapping[str, Callable[[_Place, ModelOptions], Any]] = MappingProxyType(
    {
        "Transformer": _transformer,
        "Pooling": _pooling,
        "Dense": _dense,
        "Normalize": _normalize,
        "StaticEmbedding": _static_embedding,
    }
)


def sentence_transformer() -> Any:
    """The library's class, imported without its notices."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import SentenceTransformer

    return SentenceTransformer


def _library() -> Any:
    """The modules' classes, by the names that every release of sentence-transformers 5 has."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from sentence_transformers import models

    return models


def _weights(options: ModelOptions) -> dict[str, Any]:
    return {} if options.allow_pickle else {"use_safetensors": True}


def _require_text_alone(place: _Place) -> None:
    """Refuse what the library would read beside a model and its tokenizer.

    Processors of images and sound name classes, other models and folders.
    """
    if (place.folder / "adapter_config.json").exists():
        raise is_adapter(place.name, Path(place.path) / "adapter_config.json")
    for file in _PROCESSORS:
        if (place.folder / file).exists():
            raise foreign(place.name, f"{file} is of a processor of images or sound")
    for file in ("tokenizer_config.json", "config.json"):
        path = place.folder / file
        held = read_json(place.name, path) if path.is_file() else {}
        kind = held.get("processor_class") if isinstance(held, dict) else None
        if kind is not None and str(kind) not in _processors():
            raise foreign(place.name, f"{file} names the processor_class {str(kind)[:80]!r}")


def _processors() -> frozenset[str]:
    table = quiet_transformers().models.auto.processing_auto.PROCESSOR_MAPPING_NAMES
    return frozenset(table.values())


def _unknown_module(name: str, kind: str) -> ModelError:
    if not kind.startswith(_LIBRARY):
        return foreign(name, f"the module {kind[:80]!r}")
    return ModelError(
        f"`{name}` has the module {kind[:80]!r}",
        expected=f"modules of the kinds {', '.join(_BUILDERS)}: others may take code from files",
        fix="if you trust its author, add --trust-remote-code; else choose another encoder",
    )
