"""Which tokens of a vocabulary begin a word, and which carry one on."""

from __future__ import annotations

import unicodedata
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_CONTINUES = "##"
_BEGINS = ("Ġ", "▁")
_INSIDE_WORDS = "'’-"


class WordPieces(NamedTuple):
    """One boolean per token of the vocabulary.

    ``begins`` are those that open a word after a space, ``opens`` those that may open one where
    no space comes before, ``continues`` those that are written onto the token before them.
    """

    begins: NDArray[np.bool_]
    opens: NDArray[np.bool_]
    continues: NDArray[np.bool_]


def word_pieces(tokenizer: Any, size: int) -> WordPieces:
    """Sort the vocabulary of a tokenizer by what its tokens do to a word.

    Only tokens made of letters, digits, marks, apostrophes and hyphens count, and what begins a
    word has a letter or digit. WordPiece marks what continues a word, byte-level and
    SentencePiece vocabularies mark what begins one; a vocabulary without marks leaves it open.
    """
    vocabulary = tokenizer.get_vocab()
    special = {*tokenizer.all_special_ids, *tokenizer.added_tokens_decoder}
    marks = [sum(token.startswith(mark) for token in vocabulary) for mark in _BEGINS]
    suffixed = sum(token.startswith(_CONTINUES) for token in vocabulary) > max(marks)
    begins, opens, continues = np.zeros((3, size), dtype=bool)
    for token, number in vocabulary.items():
        text = tokenizer.convert_tokens_to_string([token]).strip()
        is_onward = suffixed and token.startswith(_CONTINUES)
        piece = text.removeprefix(_CONTINUES) if is_onward else text
        if number in special or number >= size or not _may_stand_in_word(piece):
            continue
        is_onset = any(map(str.isalnum, piece))
        if suffixed or not any(marks):
            begins[number] = opens[number] = is_onset and not is_onward
            continues[number] = is_onward or not suffixed
        else:
            marked = token.startswith(_BEGINS)
            begins[number], opens[number], continues[number] = (
                is_onset and marked,
                is_onset,
                not marked,
            )
    return WordPieces(begins, opens, continues)


def _may_stand_in_word(piece: str) -> bool:
    """Whether a piece has only characters of words; half a character decodes to none of them."""
    return bool(piece) and all(
        unicodedata.category(character)[0] in "LMN" or character in _INSIDE_WORDS
        for character in piece
    )
