"""The files of a model, found before it is loaded, and the precision in which it is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from scope.errors import ModelError
from scope.models.checkpoint import Checkpoint, fetch_encoder
from scope.models.gguf import identify, load_gguf_parts
from scope.models.heads import Head, load_parts, read_config
from scope.models.options import Device, DType, ModelOptions
from scope.models.torch_setup import choose_device, load_torch, quiet_transformers
from scope.paths import expanded

_CPU_INSTRUCTIONS = ("amx_bf16", "avx512_bf16")


def natural_dtype(device: Device) -> DType:
    """The precision of ``auto``: bfloat16 where the processor multiplies it natively.

    Such a processor reads a model several times as fast in bfloat16 as in float32. Others emulate
    it more slowly than they compute float32; for them the result is float32. The processor's own
    report decides, not a timing: the result does not depend on the machine's load.

    Raises
    ------
    ModelError
        When the device is not available.

    Examples
    --------
    >>> natural_dtype("cpu") in ("bfloat16", "float32")
    True
    """
    kind = choose_device(device).type
    if kind == "cuda":
        # Emulation, which is slow, counts as support unless it is left out.
        native = load_torch().cuda.is_bf16_supported(including_emulation=False)
    else:
        native = kind == "cpu" and _cpu_multiplies_it()
    return "bfloat16" if native else "float32"


def _cpu_multiplies_it() -> bool:
    cpu = load_torch().cpu
    if hasattr(cpu, "get_capabilities"):
        offered = cpu.get_capabilities()
        return any(offered.get(name, False) for name in _CPU_INSTRUCTIONS)
    # Earlier releases of torch use other names.
    return bool(cpu._is_amx_tile_supported() or cpu._is_avx512_bf16_supported())


Family = Literal["causal", "masked", "encoder_decoder"]

_SEQ2SEQ = "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES"
_MASKED = "MODEL_FOR_MASKED_LM_MAPPING_NAMES"
_CAUSAL = "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES"
# No hidden state of a layer passes through it.
_UNUSED = "pooler."
# The same of an encoder-decoder; other models may call all their layers so, as OPT does.
_DECODER = "decoder."


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelSource:
    """A model that can be loaded: as a body without head, of an encoder-decoder the encoder."""

    spec: str
    fingerprint: str
    family: Family
    load: Callable[[], Head]


def checkpoint_source(rest: str, options: ModelOptions) -> ModelSource:
    """A folder, or ``NAME[@REVISION]`` on the hub, whose files are downloaded if need be.

    A sentence encoder that is not available from the hub is taken from installed packages, if any.

    Raises
    ------
    ModelError
        When it does not exist, is a pickle, has no transformer, or its config.json cannot be read.
    ResourceError
        When the packages that hold it are damaged.
    """
    # The weights of such an encoder may be in a subfolder.
    _require_transformer(rest, expanded(rest))
    checkpoint = fetch_encoder(rest, options)
    _require_transformer(rest, checkpoint.folder)
    family = family_of(read_config(checkpoint.folder))
    return ModelSource(
        spec=f"hf:{rest}",
        fingerprint=checkpoint.fingerprint,
        family=family,
        load=partial(_load_body, checkpoint, rest, options, family),
    )


def gguf_source(rest: str, options: ModelOptions) -> ModelSource:
    """A GGUF file.

    Raises
    ------
    ModelError
        When there is no such file, or it is not a GGUF file.
    """
    return ModelSource(
        spec=f"gguf:{rest}",
        fingerprint=identify(rest, options),
        family="causal",
        load=partial(_load_gguf_body, rest, options),
    )


def family_of(config: Mapping[str, Any]) -> Family:
    """How a model reads a text, according to its checkpoint's configuration.

    An encoder reads a text in both directions, and is ``masked`` with any head. An architecture
    unknown to transformers counts as an encoder, unless it calls itself a causal model.

    Examples
    --------
    >>> [family_of({"model_type": name}) for name in ("llama", "bert", "t5")]
    ['causal', 'masked', 'encoder_decoder']
    """
    tables = quiet_transformers().models.auto.modeling_auto
    name = str(config.get("model_type"))
    if config.get("is_encoder_decoder") or name in getattr(tables, _SEQ2SEQ):
        return "encoder_decoder"
    # BERT and similar models are in the table of causal models, too.
    if name in getattr(tables, _MASKED) and not config.get("is_decoder"):
        return "masked"
    calls_itself = "CausalLM" in str(config.get("architectures"))
    return "causal" if name in getattr(tables, _CAUSAL) or calls_itself else "masked"


def _require_transformer(rest: str, folder: Path) -> None:
    """Refuse sentence encoders without layers, such as word tables."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        kinds = [str(module["type"]).rsplit(".", 1)[-1] for module in modules]
    # No sentence encoder, or one whose list is not needed: only its transformer is read.
    except (OSError, ValueError, TypeError, KeyError):
        return
    if kinds and "Transformer" not in kinds:
        raise ModelError(
            f"`{rest}` is a sentence encoder made of {', '.join(kinds)}",
            expected="a transformer, whose layers hold hidden states",
            fix="choose another model, such as hf:sentence-transformers/all-MiniLM-L6-v2",
        )


def _load_body(checkpoint: Checkpoint, rest: str, options: ModelOptions, family: Family) -> Head:
    head, missing = load_parts(checkpoint, rest, options, "AutoModel")
    unused = (_UNUSED, _DECODER) if family == "encoder_decoder" else (_UNUSED,)
    lacking = [name for name in missing if not name.startswith(unused)]
    if lacking:
        raise ModelError(
            f"`{rest}` lacks trained weights for {', '.join(lacking[:4])}",
            expected="a checkpoint with the weights of all its layers",
            fix="check that it is complete; untrained layers carry no information",
        )
    if family == "encoder_decoder":
        head = head._replace(model=head.model.get_encoder())
    return head


def _load_gguf_body(rest: str, options: ModelOptions) -> Head:
    head = load_gguf_parts(rest, options)
    return head._replace(model=head.model.base_model)
