"""A base of random weights: a small lower-casing BERT with a WordPiece vocabulary of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from scope.demo_models.build import Base, label_names
from scope.demo_models.training import NewModelRecipe, seeded_torch
from scope.models.torch_setup import quiet_transformers

_UNKNOWN = "[UNK]"
_SPECIAL_TOKENS = ("[PAD]", _UNKNOWN, "[CLS]", "[SEP]", "[MASK]")
_LONGEST_ENDING = 4


def new_bert(texts: Sequence[str], recipe: NewModelRecipe, seed: int) -> Base:
    """A small BERT of random weights, with a WordPiece vocabulary made from the texts."""
    transformers = quiet_transformers()
    tokenizer = _new_tokenizer(texts, recipe)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=recipe.width,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        intermediate_size=4 * recipe.width,
        max_position_embeddings=recipe.positions,
        type_vocab_size=1,
        hidden_dropout_prob=recipe.dropout,
        # Torch has a fast attention on the CPU only without dropout.
        attention_probs_dropout_prob=0.0,
        pad_token_id=tokenizer.pad_token_id,
        **label_names(),
    )
    with seeded_torch(seed):
        return Base(transformers.BertForSequenceClassification(config), tokenizer)


def word_pieces(words: Mapping[str, int], size: int) -> list[str]:
    """A WordPiece vocabulary: letters, frequent words, and frequent endings of words.

    It is chosen here because the tokenizers library's own trainer gives another one every time.

    Parameters
    ----------
    words
        How often each word occurs.
    size
        Most pieces; three of four beyond the letters are whole words. Letters that occur once are
        left out where there are others.

    Examples
    --------
    >>> word_pieces({"aba": 2, "ba": 1}, size=8)
    ['##a', '##b', 'a', 'b', 'aba', 'ba', '##ba']
    """
    letters: Counter[str] = Counter()
    endings: Counter[str] = Counter()
    for word, count in words.items():
        letters.update(dict.fromkeys(word, count))
        for length in range(2, min(_LONGEST_ENDING, len(word) - 1) + 1):
            endings["##" + word[-length:]] += count
    usual = sorted(letter for letter, count in letters.items() if count > 1)
    alphabet = [*(f"##{letter}" for letter in usual), *usual]
    room = max(0, size - len(alphabet))
    whole = _most_frequent({word: n for word, n in words.items() if len(word) > 1}, room * 3 // 4)
    return [*alphabet, *whole, *_most_frequent(endings, room - len(whole))]


def _most_frequent(counts: Mapping[str, int], most: int) -> list[str]:
    return sorted(counts, key=lambda piece: (-counts[piece], piece))[:most]


def _new_tokenizer(texts: Sequence[str], recipe: NewModelRecipe) -> Any:
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    normalizer = normalizers.BertNormalizer(lowercase=True)
    splitter = pre_tokenizers.BertPreTokenizer()
    words = Counter(
        word
        for text in texts
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))
    )
    pieces = [*_SPECIAL_TOKENS, *word_pieces(words, recipe.vocabulary - len(_SPECIAL_TOKENS))]
    numbers = {piece: number for number, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(numbers, unk_token=_UNKNOWN))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, splitter
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", numbers["[SEP]"]), ("[CLS]", numbers["[CLS]"])
    )
    return quiet_transformers().BertTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=recipe.positions,
        model_input_names=["input_ids", "attention_mask"],
    )
