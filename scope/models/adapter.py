"""Adapters of LoRA: folders with `adapter_config.json`, merged into the weights of their base."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scope.errors import ModelError
from scope.models.safety import read_json

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

    Raises
    ------
    ModelError
        When the file has a tensor without a place, or half a pair.
    """
    from safetensors.torch import load_file

    weights, trained, stored = model.state_dict(), set(), load_file(folder / WEIGHTS)
    pointers = [value.data_ptr() for value in weights.values()]
    held = {key.removeprefix("base_model.model."): value for key, value in stored.items()}
    for key, value in held.items():
        module, part, _ = key.partition(".lora_")
        place = f"{module}.weight" if part else key
        if place in weights and pointers.count(weights[place].data_ptr()) > 1:
            raise refused_adapter(name, config, f"`{key}` changes weights that its base ties")
        if (
            key.endswith(".lora_A.weight")
            and place in weights
            and f"{module}.lora_B.weight" in held
        ):
            rank = len(value) ** (0.5 if config.get("use_rslora") else 1)
            change = held[f"{module}.lora_B.weight"].float() @ value.float()
            # Whatever the setting fan_in_fan_out says: peft corrects it by the layer, too.
            is_turned = type(model.get_submodule(module)).__name__ == "Conv1D"
            change = change.T if is_turned else change
            weights[place].add_(change * config["lora_alpha"] / rank)
        elif not part and key in weights:
            weights[key].copy_(value)
            trained.add(key)
        elif not key.endswith(".lora_B.weight") or f"{module}.lora_A.weight" not in held:
            raise refused_adapter(name, config, f"`{key}` has no place in its base")
    if config.get("modules_to_save") and not trained:
        raise refused_adapter(name, config, "its file lacks the trained head")
    return sorted(set(missing) - trained)
