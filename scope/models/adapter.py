"""Adapters of LoRA: merged into their base model where ``peft`` is installed, else refused by name.

Only what decides the numbers is read from adapter_config.json: peft imports modules that some of
its other settings name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from scope.errors import ModelError
from scope.models.safety import read_json
from scope.printing import first_line
from scope.untrusted import converting

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"

HEADS: Mapping[str, str] = MappingProxyType(
    {
        "CAUSAL_LM": "AutoModelForCausalLM",
        "SEQ_2_SEQ_LM": "AutoModelForSeq2SeqLM",
        "SEQ_CLS": "AutoModelForSequenceClassification",
        "QUESTION_ANS": "AutoModelForQuestionAnswering",
    }
)
"""The automatic class of transformers for each task of an adapter."""

# What is read, and what changes no number. Any other setting must be unset.
_READ = (
    *("r", "lora_alpha", "target_modules", "modules_to_save", "bias", "use_rslora", "use_dora"),
    "fan_in_fan_out",
)
_WITHOUT_EFFECT = (
    *("peft_type", "task_type", "base_model_name_or_path", "revision", "inference_mode"),
    *("lora_dropout", "init_lora_weights", "auto_mapping", "peft_version", "megatron_core"),
    "qalora_group_size",
)
_PLAIN = (True, False, None, "gaussian")
_PREFIX = "base_model.model."
_HEADS = ("classifier.weight", "score.weight", "out_proj.weight")


def adapter_config(name: str, folder: Path) -> Mapping[str, Any] | None:
    """The adapter_config.json of a folder that holds an adapter; None for a model.

    Raises
    ------
    ModelError
        When it cannot be read.
    """
    path = folder / CONFIG
    held = read_json(name, path) if path.is_file() else None
    return held if held is None or isinstance(held, dict) else {}


def refused_adapter(name: str, config: Mapping[str, Any], why: str = "") -> ModelError:
    """The error of an adapter that cannot be read as a model."""
    base = f"{config.get('base_model_name_or_path')!s:.80}"
    return ModelError(
        f"`{name}` is an adapter ({config.get('peft_type')!s:.20}) of `{base}`, not a whole model"
        f"{why and f'; {why}'}",
        expected="the weights of a whole model, or an adapter of LoRA alone in its folder, with "
        "peft installed",
        fix=f"merge it with peft (pip install peft): PeftModel.from_pretrained(BASE, {name!r})"
        ".merge_and_unload().save_pretrained(FOLDER), then save the tokenizer there and name it",
    )


def require_mergeable(name: str, folder: Path, config: Mapping[str, Any]) -> None:
    """Refuse an adapter that cannot be merged here.

    Raises
    ------
    ModelError
        When peft is not installed, the folder holds a model too, or the adapter is no plain LoRA.
    """
    others = {key for key, value in config.items() if value} - {*_READ, *_WITHOUT_EFFECT}
    faults = {
        "peft is not installed": find_spec("peft") is None,
        f"{WEIGHTS} is missing": not (folder / WEIGHTS).is_file(),
        "the folder has a config.json too": (folder / "config.json").exists(),
        "it names no base model": not isinstance(config.get("base_model_name_or_path"), str),
        "only LoRA is merged": config.get("peft_type") != "LORA",
        f"only the tasks {', '.join(HEADS)} are read": config.get("task_type") not in list(HEADS),
        f"the settings {', '.join(sorted(others))[:80]} are not read": bool(others),
        # Others, such as pissa, change the weights of the base.
        "init_lora_weights is not read": config.get("init_lora_weights") not in _PLAIN,
        # A pattern may take forever.
        "target_modules is no list": not isinstance(config.get("target_modules"), list),
    }
    for why in (why for why, is_so in faults.items() if is_so):
        raise refused_adapter(name, config, why)


def labels_of_head(folder: Path) -> int | None:
    """The number of labels of a trained head in an adapter's file; None without one."""
    from safetensors import safe_open

    with safe_open(folder / WEIGHTS, "numpy") as tensors:
        heads = [key for key in tensors.keys() if key.endswith(_HEADS)]  # noqa: SIM118 - no dict
        return min((tensors.get_slice(key).get_shape()[0] for key in heads), default=None)


def automatic_of(name: str, folder: Path) -> str:
    """The automatic class of transformers for the task of an adapter that can be merged."""
    return HEADS[str((adapter_config(name, folder) or {}).get("task_type"))]


def merged(name: str, folder: Path, model: Any, missing: Collection[str]) -> tuple[Any, list[str]]:
    """The base model with the adapter merged into its weights, and the weights that both lack.

    Raises
    ------
    ModelError
        When the adapter's file lacks a tensor of the adapter, or holds one that has no place.
    """
    from peft import LoraConfig, PeftModel, get_peft_model_state_dict
    from safetensors import safe_open

    config = adapter_config(name, folder) or {}
    settings = {key: config[key] for key in _READ if config.get(key) is not None}
    with converting(lambda error: refused_adapter(name, config, first_line(error))):
        lora = LoraConfig(task_type=config["task_type"], inference_mode=True, **settings)
        changed = PeftModel.from_pretrained(model, str(folder), config=lora)
    with safe_open(folder / WEIGHTS, "numpy") as tensors:
        stored = set(tensors.keys())
    if differing := sorted(stored ^ set(get_peft_model_state_dict(changed))):
        raise refused_adapter(name, config, f"it does not fit its base at {differing[0]}")
    trained = {key.removeprefix(_PREFIX) for key in stored}
    return changed.merge_and_unload(), sorted(set(missing) - trained)
