"""Checks a checkpoint's files before a library opens them, and while it loads them.

With ``trust_remote_code=False`` the libraries themselves refuse most code of a checkpoint; this
module covers the rest. `checked_files` looks at every file of the folder, hidden ones included, and
at every setting in its JSON, at any depth. A setting is a value in an object: strings in lists, and
the files tokenizer.json and vocab.json, hold words. `within_bounds` surrounds the loading.

Memory: a checkpoint may have the library make 64 Mi numbers, and 8 more for each byte of its
weights, where a tensor counts 2,048 more than it holds; and lists of 512 Ki entries, or of one for
each 16 bytes. What a model computes as it is built, such as a table of positions, is not counted:
the worst known with these numbers takes some 3 GB. Texts beside the weights have at most 256 MiB
(tokenizer.json, *.model) or 32 MiB.

Adapters of LoRA: folders with `adapter_config.json`, merged into the weights of their base.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scope.errors import ModelError, first_line
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.protocols import attempt, converting, unreadable

# Folders with further copies of the weights, which are not read here.
OTHER_FORMATS = ("onnx", "openvino", "coreml")

# Nor the states of a training, nor what is hidden: nothing may lead there.
_UNREAD = (".", "checkpoint-", *OTHER_FORMATS)

_MEBIBYTE = 2**20
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth")
_MOST_BYTES = {"tokenizer.json": 256 * _MEBIBYTE, ".model": 256 * _MEBIBYTE}
# The largest vocabularies in use have a tokenizer.json of 60 and a vocab.txt of 5 MiB.
MOST_BYTES_OF_OTHERS = 32 * _MEBIBYTE

# Nothing reads these; they often hold paths of the author's machine.
_NOTES = (
    *("_name_or_path", "name_or_path", "special_tokens_map_file", "tokenizer_config_file"),
    # Of an adapter: its base is fetched, and checked, as any model.
    "base_model_name_or_path",
)
# Where an encoder's classes may be defined; `linear` holds Identity.
_ALLOWED = ("sentence_transformers.", "torch.nn.modules.activation.", "torch.nn.modules.linear.")
# Settings of an encoder that go to functions which load a model or a tokenizer from anywhere.
_ARGS = re.compile(
    "(model|tokenizer|config|processor)_(kw)?args|(tokenizer|processor)_name_or_path"
)
# Whole numbers that are no sizes: they may be large.
_NO_SIZE = re.compile(".*(theta|base|seed|param|time|version).*")


def checked_files(name: str, folder: Path, patterns: Sequence[str], trusted: bool) -> list[Path]:
    """The files that match a pattern and decide the answers, if none in the folder is harmful.

    Raises
    ------
    ModelError
        When there is a pipe, a device or a link to a folder; when a matching file is missing or too
        large; or, unless the author is trusted, when a file is damaged JSON, or names code or files
        that are not the libraries' or the folder's own.
    """
    files = []
    for path in sorted(folder.rglob("*")):
        shown = path.relative_to(folder)
        is_wanted = any(path.match(pattern) for pattern in patterns)
        # A link that leads nowhere matters where the file is read.
        if not (is_wanted or path.exists()) or (path.is_dir() and not path.is_symlink()):
            continue
        if not path.is_file():
            raise unreadable(name, f"{shown} is not a regular file")
        size = path.stat().st_size
        most = _MOST_BYTES.get(path.name, _MOST_BYTES.get(path.suffix, MOST_BYTES_OF_OTHERS))
        # sentence-transformers reads README.md, too.
        is_text = (is_wanted or path.suffix == ".md") and path.suffix not in _WEIGHTS
        if is_text and size > most:
            raise unreadable(name, f"{shown} has {size // _MEBIBYTE} MiB, not {most // _MEBIBYTE}")
        if not trusted:
            for fault in _faults(folder, path, shown, read_json(name, path)):
                raise ModelError(
                    f"`{name}` runs its own code: {fault}",
                    expected="only code of transformers and sentence-transformers, and own files",
                    fix="if you trust its author, add --trust-remote-code, or choose another model",
                )
        if is_wanted and shown.parts[0] not in OTHER_FORMATS and "/." not in f"/{shown.as_posix()}":
            files.append(path)
    return files


def read_json(name: str, path: Path) -> Any:
    """The content of a JSON file; None for other files and for vocabularies.

    Raises
    ------
    ModelError
        When it cannot be read, is damaged, or is nested too deeply.
    """
    if path.suffix.lower() != ".json" or path.name in ("tokenizer.json", "vocab.json"):
        return None
    with _reading(name, path):
        return json.loads(path.read_text(encoding="utf-8"))


def _reading(name: str, path: Path) -> AbstractContextManager[None]:
    return converting(lambda error: unreadable(name, f"{path.name}: {first_line(error)}"))


def _settings(held: Any, *keys: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The keys that lead to each value, and the value; strings in lists are left out."""
    if isinstance(held, dict):
        for key, value in held.items():
            yield from _settings(value, *keys, key)
    elif isinstance(held, list):
        for value in (each for each in held if not isinstance(each, str)):
            yield from _settings(value, *keys)
    elif keys and held is not None:
        yield keys, held


def _faults(folder: Path, path: Path, shown: Path, held: Any) -> Iterator[str]:
    """Settings of a file that lead to code or files outside the libraries and the folder."""
    if "custom_generate" in shown.parts:
        yield f"{shown} is code for generating text"
    is_encoder = (folder / "modules.json").is_file()
    if path.name.lower() == "adapter_config.json" and is_encoder:
        yield f"it is an adapter ({shown}) of another checkpoint, into which it could be merged"
    for keys, value in _settings(held):
        text = value if isinstance(value, str) and keys[-1] not in _NOTES else ""
        if _is_foreign(folder, path, keys, text, is_encoder):
            yield f"{shown} names the {keys[-1][:80]} {str(value)[:80]!r}"


def _is_foreign(folder: Path, path: Path, keys: Sequence[str], value: str, encoder: bool) -> bool:
    if path.name.lower().endswith(".safetensors.index.json") or keys[-1] == "transformers_weights":
        is_safe = value.endswith((".safetensors", ".safetensors.index.json"))
        return value != "" and (Path(value).name != value or not is_safe)
    return (
        (keys[-1] in ("tokenizer_class", "processor_class") and _is_another_class(value))
        # A repository whose kernels transformers would fetch and run.
        or ("/" in value and any("_implementation" in key for key in keys))
        or _leads_elsewhere(folder, path, value, path.name.lower() == "modules.json")
        # The parts of a router lie in folders that are named by keys.
        or (encoder and value != "" and _leads_elsewhere(folder, path, keys[-1], True))
        or (encoder and any(map(_ARGS.fullmatch, keys)))
        or (encoder and "auto_map" not in keys and _names_code(folder, value))
    )


def _is_another_class(value: str) -> bool:
    """Whether transformers has it, but as a model or a group of tokenizers, which it would load."""
    transformers = quiet_transformers()
    kind = attempt(lambda: getattr(transformers, value, None))
    base = (transformers.PreTrainedTokenizerBase, transformers.ProcessorMixin)
    # A class that needs a missing library is a stand-in, which raises when it is used.
    return isinstance(kind, type) and "_backends" not in vars(kind) and not issubclass(kind, base)


def _leads_elsewhere(folder: Path, file: Path, value: str, is_place: bool) -> bool:
    """Whether a file or place that a configuration names is there, but outside or hidden.

    A path that does not exist does no harm. Links are not followed: the files of the hub's cache
    are links. Only paths in configurations are read.
    """
    root, path = (Path(os.path.normpath(at.absolute())) for at in (folder, file.parent / value))
    inside = path.relative_to(root).parts if path.is_relative_to(root) else (".",)
    is_there = attempt(path.exists) is True and (is_place or not path.is_dir())
    is_read = file.name.lower().endswith(("config.json", "modules.json", "map.json"))
    return is_read and is_there and any(part.startswith(_UNREAD) for part in inside)


def _names_code(folder: Path, value: str) -> bool:
    """Whether a string in an encoder is the dotted name of something that could be imported.

    sentence-transformers imports such names, in some releases without permission. A name counts if
    Python finds the module or folder before its first dot, if the encoder's folder holds the module
    as a file, or if it names a repository (``owner/name--module.Class``); so version numbers, names
    of files and sentences do not. Allowed are classes of sentence-transformers and activations of
    torch.nn.

    Examples
    --------
    >>> [_names_code(Path(), f"{module}.Module") for module in ("torch", "a/b--c", "model", "4")]
    [True, True, False, False]
    """
    module, first = value.rpartition(".")[0], value.partition(".")[0]
    if value.startswith(("sentence_transformers.", "torch.nn.")):
        load_torch()
        from sentence_transformers.util import import_from_string

        imported = attempt(lambda: import_from_string(value))
        return not isinstance(imported, type) or not f"{imported.__module__}.".startswith(_ALLOWED)
    is_there = attempt((folder / f"{module}.py").exists) is True
    is_far = value.count("--") == 1 and value.split("--")[1].count(".") == 1 and "\n" not in value
    is_name = all(part.isidentifier() for part in value.split("."))
    is_found = is_name and first != value and attempt(lambda: find_spec(first)) is not None
    return is_far or is_found or (is_there and module != "")


def refuse_pickles(name: str, folder: Path, allowed: bool) -> None:
    """Refuse a checkpoint without weights, and weights that a library would read from a pickle.

    Raises
    ------
    ModelError
        When it holds no weights as safetensors, or ``pytorch_model.bin`` without them.
    """
    pickles = [] if allowed else sorted(folder.rglob("pytorch_model.bin"))
    read = [path for path in pickles if not path.parent.name.startswith(_UNREAD)]
    alone = [path for path in read if not path.with_name("model.safetensors").is_file()]
    some = any(path.suffix in _WEIGHTS[: 4 if allowed else 1] for path in folder.rglob("*"))
    if alone or not some:
        here = sorted(path.name for path in (alone[0].parent if alone else folder).iterdir())
        raise ModelError(
            f"`{name}` has no {'model' if some else '*'}.safetensors file among {here[:12]}",
            expected="weights as safetensors: a pickle can run any code when it is read",
            fix="convert it to safetensors, or, if you trust its author, add --allow-pickle",
        )


@contextmanager
def within_bounds(name: str, folder: Path) -> Iterator[None]:
    """Refuse damaged weights, and configurations that claim more than the weights hold.

    The libraries build what a configuration claims before they look at the weights.

    Raises
    ------
    ModelError
        When a header of *.safetensors does not match its file, or config.json holds a count below
        zero or a number above the bound; inside, when the library makes more tensors than that.
    """
    from safetensors import safe_open

    for path in folder.rglob("*.safetensors"):
        with _reading(name, path):
            safe_open(path, "numpy")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.suffix in _WEIGHTS)
    for path in (*folder.rglob("config*.json"), *folder.rglob("tokenizer_config.json")):
        most = max(_MEBIBYTE // 2, size // 16)
        held = read_json(name, path)
        if not isinstance(held, dict):
            raise unreadable(name, f"{path.name} holds a {type(held).__name__}, not an object")
        for (*_, key), value in _settings(held):
            is_size = isinstance(value, int) and not _NO_SIZE.fullmatch(key)
            least = 0 if key.startswith(("n_", "num_")) or key.endswith("layers") else -math.inf
            if path.name == "tokenizer_config.json":  # a tokenizer makes so many entries, slowly
                is_size, most = key in ("extra_ids", "offset"), 10_000
            if is_size and not least <= value <= most:
                raise unreadable(name, f"{path.name} says {key} {value}, the weights {size} bytes")
    with counting(size):
        yield


def counting(size: int) -> Any:
    """Count the numbers requested from torch's tensor constructors, before they are allocated.

    With weights of ``size`` bytes, a ValueError is raised at those that they cannot hold.
    """
    torch = load_torch()
    from torch.overrides import TorchFunctionMode

    makers = (torch.empty, torch.ones, torch.zeros, torch.full, torch.rand, torch.randn)
    left = 64 * _MEBIBYTE + 8 * size

    class Counting(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, made: Any, _: Any, args: Any = (), named: Any = None) -> Any:
            nonlocal left
            if made in makers:
                shape = args[0] if args else (named or {}).get("size", ())
                sizes = shape if isinstance(shape, tuple | list) else args
                left -= 2048 + math.prod(each for each in sizes if isinstance(each, int))
                if left < 0:
                    raise ValueError(f"it describes more than {size} bytes of weights hold")
            return made(*args, **(named or {}))

    return Counting()


CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"

AUTOMATIC: Mapping[object, str] = MappingProxyType(
    {
        "CAUSAL_LM": "AutoModelForCausalLM",
        "SEQ_2_SEQ_LM": "AutoModelForSeq2SeqLM",
        "SEQ_CLS": "AutoModelForSequenceClassification",
        "QUESTION_ANS": "AutoModelForQuestionAnswering",
    }
)
"""The automatic class of transformers for each task of an adapter."""

# Settings that are read, and those whose effect is seen in the file's tensors or is none. Any other
# one must be unset.
_KNOWN = (
    *("peft_type", "task_type", "base_model_name_or_path", "inference_mode", "bias"),
    *("lora_dropout", "auto_mapping", "peft_version", "megatron_core", "qalora_group_size", "r"),
    *("init_lora_weights", "lora_alpha", "use_rslora", "fan_in_fan_out", "modules_to_save"),
    *("target_modules", "layers_to_transform", "layers_pattern"),
)
_HEADS = ("classifier.weight", "score.weight", "out_proj.weight")


def adapter_config(name: str, folder: Path) -> dict[str, Any] | None:
    """The adapter_config.json of a folder that holds an adapter; None for a model.

    Raises
    ------
    ModelError
        When it cannot be read, or the adapter cannot be merged.
    """
    path = folder / CONFIG
    if not path.is_file():
        return None
    held = read_json(name, path)
    config = held if isinstance(held, dict) else {}
    others = sorted({key for key, value in config.items() if value} - {*_KNOWN})
    faults = {
        f"{WEIGHTS} is missing": not (folder / WEIGHTS).is_file(),
        "the folder has a config.json too": (folder / "config.json").exists(),
        "it names no base model": not isinstance(config.get("base_model_name_or_path"), str),
        "only LoRA is merged": config.get("peft_type") != "LORA",
        "its task is not read": config.get("task_type") not in list(AUTOMATIC),
        f"the settings {', '.join(others)[:80]} are not read": bool(others),
        # Others, such as pissa, change the weights of the base.
        "init_lora_weights is not read": config.get("init_lora_weights", True)
        not in (True, False, None, "gaussian"),
    }
    for why in (why for why, is_so in faults.items() if is_so):
        raise refused_adapter(name, config, why)
    return config


def refused_adapter(name: str, config: Mapping[str, Any], why: str) -> ModelError:
    """The error of an adapter that cannot be read as a model."""
    kind, base = (config.get(key) for key in ("peft_type", "base_model_name_or_path"))
    return ModelError(
        f"`{name}` is an adapter ({kind!s:.20}) of `{base!s:.80}`; {why}",
        expected="a whole model, or an adapter of LoRA alone in its folder",
        fix=f"merge it with peft: PeftModel.from_pretrained(BASE, {name!r}).merge_and_unload()"
        ".save_pretrained(FOLDER); save the tokenizer there, too, and name that folder",
    )


def labels_of_head(folder: Path) -> dict[str, int]:
    """The number of labels of the trained head in an adapter's file, as a setting."""
    from safetensors.numpy import load_file

    sizes = [len(held) for key, held in load_file(folder / WEIGHTS).items() if key.endswith(_HEADS)]
    return {"num_labels": min(sizes)} if sizes else {}


def merge(
    name: str, folder: Path, config: Mapping[str, Any], model: Any, missing: Collection[str]
) -> list[str]:
    """Merge the adapter into the weights of its base; the weights that both lack.

    A causal model may share its weights with others: its layers add the change to their output.

    Raises
    ------
    ModelError
        When the file has a tensor without a place, or half a pair.
    """
    from safetensors.torch import load_file

    torch, shares = load_torch(), config["task_type"] == "CAUSAL_LM"
    weights, trained, stored = model.state_dict(), set(), load_file(folder / WEIGHTS)
    pointers = [value.data_ptr() for value in weights.values()]
    held = {key.removeprefix("base_model.model."): value for key, value in stored.items()}
    for key, value in held.items():
        module, part, _ = key.partition(".lora_")
        place = f"{module}.weight" if part else key
        if place in weights and pointers.count(weights[place].data_ptr()) > 1:
            raise refused_adapter(name, config, f"`{key}` changes weights that its base ties")
        up = held.get(f"{module}.lora_B.weight")
        if key.endswith(".lora_A.weight") and place in weights and up is not None:
            rank = len(value) ** (0.5 if config.get("use_rslora") else 1)
            up = up.float() * config["lora_alpha"] / rank
            change, layer = up @ value.float(), model.get_submodule(module)
            # Whatever the setting fan_in_fan_out says: peft corrects it by the layer, too.
            change = change.T if type(layer).__name__ == "Conv1D" else change
            if change.shape != weights[place].shape:
                raise refused_adapter(name, config, f"`{key}` has another shape than its base")
            if shares:
                _add_to_output(layer, value, up)
            else:
                weights[place].add_(change)
        elif not part and key in weights:
            owner, _, kind = key.rpartition(".")
            setattr(model.get_submodule(owner), kind, torch.nn.Parameter(value.to(weights[key])))
            trained.add(key)
        elif not key.endswith(".lora_B.weight") or f"{module}.lora_A.weight" not in held:
            raise refused_adapter(name, config, f"`{key}` has no place in its base")
    if config.get("modules_to_save") and not trained:
        raise refused_adapter(name, config, "its file lacks the trained head")
    return sorted(set(missing) - trained)


def _add_to_output(layer: Any, down: Any, up: Any) -> None:
    """Let a linear layer add the product of two thin ones."""
    torch = load_torch()
    for name, factor in (("down", down), ("up", up)):
        thin = torch.nn.Linear(factor.shape[1], factor.shape[0], bias=False)
        thin.weight = torch.nn.Parameter(factor.to(layer.weight))
        layer.add_module(name, thin.eval())
    layer.register_forward_hook(
        lambda layer, inputs, output: output + layer.up(layer.down(inputs[0]))
    )
