"""Tiny checkpoints for the goldens: random weights from a seed, a vocabulary of their own data."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from goldens_toys import BAD, GOOD
from goldens_world import (
    COLOURS,
    ENDINGS,
    MIDDLES,
    OPENINGS,
    PAIR_WORDS,
    TOPIC_WORDS,
    TOPICS,
)

LIMIT = 160
WIDTH = 8
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PUNCTUATION = ("?", ".", ",", "-", "'", ":", *"0123456789")
PHRASES = (*OPENINGS, *MIDDLES, *ENDINGS, *GOOD, *BAD, *COLOURS, *PAIR_WORDS, "house", "river")
WORDS = tuple(dict.fromkeys(word for phrase in PHRASES for word in phrase.split()))
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "initializer_range": 0.5,
    "max_position_embeddings": LIMIT,
}


def write_checkpoints(folder: Path) -> None:
    """Classifiers, masked and causal models, a reader of passages, and sentence encoders.

    The classifiers' seeds are such that neither gives nearly all texts one label.
    """
    import transformers

    labels = {"id2label": {0: "LABEL_0", 1: "LABEL_1"}, "label2id": {"LABEL_0": 0, "LABEL_1": 1}}
    _write_bert(transformers.BertForSequenceClassification, folder / "classifier", 12, **labels)
    _write_bert(transformers.BertForSequenceClassification, folder / "classifier2", 11, **labels)
    _write_bert(transformers.BertForMaskedLM, folder / "masked", 0)
    _write_bert(transformers.BertForMaskedLM, folder / "masked2", 1)
    _write_bert(transformers.BertForQuestionAnswering, folder / "reader", 0)
    _write_llama(folder / "causal", 0)
    _write_llama(folder / "causal2", 1)
    _write_encoder(folder / "encoder")
    _write_sentence_bert(folder / "sentences")


def _write_bert(kind: Any, folder: Path, seed: int, **more: Any) -> None:
    import transformers

    folder.mkdir()
    letters = tuple("abcdefghijklmnopqrstuvwxyz")
    onward = tuple(f"##{one}" for one in letters)
    pieces = tuple(dict.fromkeys((*SPECIAL, *WORDS, *PUNCTUATION, *letters, *onward)))
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    transformers.BertTokenizerFast(
        vocab_file=str(vocabulary), model_max_length=LIMIT
    ).save_pretrained(folder)
    config = transformers.BertConfig(vocab_size=len(pieces), **SIZES, **more)
    _seeded(kind, config, seed).save_pretrained(folder)


def _write_sentence_bert(folder: Path) -> None:
    """A sentence encoder that begins with a transformer, whose table of words can be read."""
    import transformers
    from sentence_transformers import SentenceTransformer

    plain = folder.with_name("plain")
    _write_bert(transformers.BertModel, plain, 2)
    SentenceTransformer(str(plain), device="cpu").save_pretrained(str(folder))


def _write_llama(folder: Path, seed: int) -> None:
    import transformers

    inner = _byte_level_words(("<s>", "</s>"))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<s>",
        eos_token="</s>",
        clean_up_tokenization_spaces=False,
    ).save_pretrained(folder)
    config = transformers.LlamaConfig(
        vocab_size=inner.get_vocab_size(), bos_token_id=0, eos_token_id=1, **SIZES
    )
    _seeded(transformers.LlamaForCausalLM, config, seed).save_pretrained(folder)


def _byte_level_words(special: Sequence[str]) -> Any:
    """One token a byte, one a word with the space before it, and what merges to these."""
    import tokenizers

    pieces = [*special, *sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())]
    merges: list[tuple[str, str]] = []
    for word in WORDS:
        built = "Ġ"
        for letter in word:
            if built + letter not in pieces:
                merges.append((built, letter))
                pieces.append(built + letter)
            built += letter
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    inner = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=merges))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = tokenizers.decoders.ByteLevel()
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", 0)]
    )
    return inner


def _write_encoder(folder: Path) -> None:
    """A sentence encoder without a transformer: the mean of its words' rows."""
    import numpy as np
    import tokenizers
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    draw = random.Random(6)
    vocabulary = {"[UNK]": 0}
    rows = [[0.0] * WIDTH]
    for place, topic in enumerate((*TOPICS, "")):
        for word in TOPIC_WORDS.get(topic, WORDS):
            vocabulary[word] = len(vocabulary)
            rows.append([draw.randint(-64, 64) / 128 + 2 * (one == place) for one in range(WIDTH)])
    inner = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    table = StaticEmbedding(inner, embedding_weights=np.array(rows, dtype=np.float32))
    SentenceTransformer(modules=[table], device="cpu").save_pretrained(str(folder))


def _seeded(kind: Any, config: Any, seed: int) -> Any:
    import torch

    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return kind(config)
