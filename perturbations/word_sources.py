"""Where the words of *synonym* come from: WordNet, word vectors of a file, or a masked model."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from perturbations.lockstep import Remembering
from perturbations.settings import WORDNET
from perturbations.synonyms import SynonymsInPlace, WithArticles
from perturbations.textattack_gate import load_textattack
from perturbations.transformations import WordReplacements
from perturbations.wordnet import wordnet
from scope.errors import DataError
from scope.models.loading import load_model
from scope.paths import expanded
from scope.records import BLANK, Question

load_textattack()

from textattack.shared import AttackedText  # noqa: E402
from textattack.transformations import Transformation, WordSwap  # noqa: E402

if TYPE_CHECKING:
    from scope.protocols import MaskFiller, TextScorer

NEAREST = 10
LEAST_COSINE = 0.6
"""How many words of a file of vectors stand for one, and how near they are."""


def swaps_in_form(source: str, *, ranks: int) -> Transformation:
    """One word replaced by one of the source; of WordNet as `SynonymsInPlace`."""
    return WithArticles(SynonymsInPlace(ranks) if source == WORDNET else word_swaps(source))


def word_swaps(source: str) -> Transformation:
    """One word replaced by one of the source, as the source has it."""
    kind, _, rest = source.partition(":")
    if kind == "mask":
        return MaskedSwaps(_filler(rest))
    return WordReplacements(_vectors(rest).nearest if kind == "vectors" else wordnet().synonyms)


def source_fingerprint(source: str) -> str:
    """What changes whenever the source gives other words; loads it.

    Raises
    ------
    DataError
        Where the file of vectors cannot be read.
    """
    kind, _, rest = source.partition(":")
    return _filler(rest).fingerprint if kind == "mask" else _vectors(rest).fingerprint


class WordVectors:
    """Word vectors of a text file: a word and its numbers a line, as word2vec and GloVe write."""

    def __init__(self, path: Path) -> None:
        try:
            content = path.read_bytes()
            rows = _rows(content.decode())
            widths = Counter(len(row) for row in rows).most_common(2)
            if len(widths) > 1:
                line = next(row for row in rows if len(row) == widths[1][0])
                raise _unreadable(
                    path, f"`{line[0][:40]}` has {len(line) - 1} numbers, others {widths[0][0] - 1}"
                )
            matrix = np.array([row[1:] for row in rows], dtype=np.float32)
        except FileNotFoundError as error:
            raise _unreadable(path, "there is no such file") from error
        except (OSError, ValueError) as error:
            raise _unreadable(path, str(error)) from error
        if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():
            raise _unreadable(path, "no word with finite numbers")
        self.fingerprint = hashlib.sha256(content).hexdigest()[:12]
        self._words = [row[0] for row in rows]
        self._place = {word: place for place, word in reversed(list(enumerate(self._words)))}
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
        self._matrix = matrix / np.where(norms == 0, 1, norms)

    def nearest(self, word: str) -> tuple[str, ...]:
        """At most ten other words of a cosine of at least 0.6, in alphabetical order."""
        place = self._place.get(word, self._place.get(word.lower()))
        if place is None:
            return ()
        cosines = np.round(self._matrix @ self._matrix[place], 4)
        order = sorted(
            np.flatnonzero(cosines >= LEAST_COSINE), key=lambda index: (-cosines[index], index)
        )
        words = [
            self._words[index] for index in order if self._words[index].lower() != word.lower()
        ]
        return tuple(sorted(words[:NEAREST]))


def _rows(content: str) -> list[list[str]]:
    """A word and its numbers a line; a word may hold any character but the end of a line."""
    lines = [line.rstrip().replace("\t", " ") for line in content.split("\n") if line.strip()]
    if lines and len(lines[0].split()) == 2:
        lines = lines[1:]
    numbers = len(lines[0].split()) - 1 if lines else 0
    return [line.rsplit(" ", numbers) for line in lines]


def _unreadable(path: Path, reason: str) -> DataError:
    return DataError(
        f"the word vectors {path}: {reason}",
        expected="a text file with a word and its numbers in each line, as many in all",
        fix="check the path and the format: word2vec's or GloVe's text, not binary",
    )


def models_for(source: str, language_model: str) -> list[MaskFiller | TextScorer]:
    """The masked model of a source, and the one that bounds the perplexity, if any."""
    kind, _, rest = source.partition(":")
    masked: list[MaskFiller | TextScorer] = [_filler(rest)] if kind == "mask" else []
    return [*masked, *([text_scorer(language_model)] if language_model else [])]


@cache
def perplexities(spec: str) -> Callable[[list[str]], list[float]]:
    """What that model says of texts; trials, which meet the same texts, ask once."""
    return Remembering(text_scorer(spec).perplexities)


@cache
def text_scorer(spec: str) -> TextScorer:
    """The language model that says how likely a text is."""
    model: TextScorer = load_model(spec, "text_scorer")
    return model


@cache
def _vectors(path: str) -> WordVectors:
    return WordVectors(expanded(path))


@cache
def _filler(spec: str) -> MaskFiller:
    model: MaskFiller = load_model(spec, "mask_filler")
    return model


class MaskedSwaps(WordSwap):
    """One word replaced by what a masked language model puts in its place.

    Parameters
    ----------
    filler
        The model; all words of a text are asked for together.
    """

    def __init__(self, filler: MaskFiller) -> None:
        super().__init__()
        self._filler = filler
        self._known: dict[str, dict[int, Sequence[str]]] = {}

    def _get_transformations(
        self, current_text: AttackedText, indices_to_modify: Iterable[int]
    ) -> list[AttackedText]:
        if BLANK in current_text.text:
            return []  # a question has one blank
        indices = sorted(indices_to_modify)
        known = self._known.setdefault(current_text.text, {})
        asked = [index for index in indices if index not in known]
        texts = [current_text.replace_word_at_index(index, BLANK).text for index in asked]
        questions = [Question(id=str(place), text=text) for place, text in enumerate(texts)]
        for place, answer in self._filler.fill(questions) if questions else ():
            known[asked[place]] = sorted({answer.text or "", *answer.others} - {""})
        return [
            current_text.replace_word_at_index(index, other)
            for index in indices
            for other in known[index]
            if other.isalpha() and other.lower() != current_text.words[index].lower()
        ]
