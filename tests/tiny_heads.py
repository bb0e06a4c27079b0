"""Tiny checkpoints with the heads that transformers are asked through: random, but decided."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hub.tiny import SPECIAL
from seeded import save
from tiny_language import byte_level_words
from word_pieces import write_word_pieces

from scope.models.torch_setup import quiet_transformers

LIMIT = 40
"""Most tokens of a text, in all of them."""

WHOLE_WORDS = ("the", "film", "was", "good", "dull", "who", "saw", "ann", "bob", "paris", "in", "a")
PUNCTUATION = ("?", ".", ",", "-", "'")
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
SENTINELS = tuple(f"<extra_id_{number}>" for number in range(4))


def write_tiny_roberta_mlm(folder: Path) -> None:
    """A masked language model whose byte-level tokens are words after a space, and letters."""
    import tokenizers

    transformers = quiet_transformers()
    inner = _roberta_words()
    # As in the real one, the mask takes up the space before it.
    mask = tokenizers.AddedToken("<mask>", lstrip=True, special=True)
    transformers.RobertaTokenizerFast(tokenizer_object=inner, mask_token=mask).save_pretrained(
        folder
    )
    config = transformers.RobertaConfig(
        vocab_size=inner.get_vocab_size(), max_position_embeddings=LIMIT + 2, **_sizes()
    )
    save(transformers.RobertaForMaskedLM, config, folder)


def write_tiny_bart(folder: Path) -> None:
    """An encoder-decoder without sentinels, whose first token is prescribed."""
    transformers = quiet_transformers()
    inner = _roberta_words()
    transformers.BartTokenizerFast(tokenizer_object=inner).save_pretrained(folder)
    config = transformers.BartConfig(
        vocab_size=inner.get_vocab_size(),
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=LIMIT,
        init_std=0.5,
    )
    save(transformers.BartForConditionalGeneration, config, folder, forced_bos_token_id=0)


def write_tiny_bert_mlm(folder: Path, head: str = "BertForMaskedLM") -> None:
    """A masked language model whose WordPieces are words, letters, and letters that go on."""
    transformers = quiet_transformers()
    size = _write_word_pieces(folder)
    config = transformers.BertConfig(vocab_size=size, max_position_embeddings=LIMIT, **_sizes())
    save(getattr(transformers, head), config, folder)


def write_tiny_bert_qa(folder: Path) -> None:
    """A question-answering head on the same WordPieces."""
    write_tiny_bert_mlm(folder, "BertForQuestionAnswering")


def write_tiny_t5(folder: Path, *, sentinels: Sequence[str] = SENTINELS) -> None:
    """An encoder-decoder whose tokens are words and letters, with sentinels behind them."""
    import tokenizers

    transformers = quiet_transformers()
    special = ["<pad>", "</s>", "<unk>"]
    words = [f"▁{word}" for word in WHOLE_WORDS]
    pieces = [*special, *words, "▁", *LETTERS, *PUNCTUATION, ":"]
    scores = [(piece, -1.0 - 0.1 * number) for number, piece in enumerate(pieces)]
    inner = tokenizers.Tokenizer(tokenizers.models.Unigram(scores, unk_id=2))
    inner.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    inner.decoder = tokenizers.decoders.Metaspace()
    inner.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    transformers.T5TokenizerFast(
        tokenizer_object=inner,
        extra_ids=0,
        additional_special_tokens=list(sentinels),
        model_max_length=LIMIT,
    ).save_pretrained(folder)
    config = transformers.T5Config(
        vocab_size=len(pieces) + len(sentinels),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        # Else a random model repeats one token for ever.
        tie_word_embeddings=False,
        initializer_factor=1.5,
    )
    save(transformers.T5ForConditionalGeneration, config, folder)


WRITERS: Mapping[str, Callable[[Path], None]] = MappingProxyType(
    {
        "roberta": write_tiny_roberta_mlm,
        "bert": write_tiny_bert_mlm,
        "bert_qa": write_tiny_bert_qa,
        "t5": write_tiny_t5,
        "bart": write_tiny_bart,
    }
)
"""What writes each checkpoint into a folder."""


def _roberta_words() -> Any:
    import tokenizers

    inner = byte_level_words(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], WHOLE_WORDS)
    inner.post_processor = tokenizers.processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return inner


def _write_word_pieces(folder: Path) -> int:
    onward = tuple(f"##{letter}" for letter in LETTERS)
    pieces = tuple(dict.fromkeys((*SPECIAL, *WHOLE_WORDS, *PUNCTUATION, *LETTERS, *onward)))
    write_word_pieces(folder, pieces, model_max_length=LIMIT)
    return len(pieces)


def _sizes() -> dict[str, Any]:
    return {
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "initializer_range": 0.5,
    }
