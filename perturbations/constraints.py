"""Which words may change and which changes are admitted, beyond TextAttack's own constraints."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturbations.textattack_gate import load_textattack

load_textattack()

from textattack.constraints import Constraint, PreTransformationConstraint  # noqa: E402
from textattack.shared import AttackedText  # noqa: E402

from scope.protocols import Swap  # noqa: E402


class MaxWordLength(PreTransformationConstraint):
    """Leaves words of more than this number of characters as they are."""

    def __init__(self, longest: int) -> None:
        self._longest = longest

    def _get_modifiable_indices(self, current_text: AttackedText) -> set[int]:
        return {
            place for place, word in enumerate(current_text.words) if len(word) <= self._longest
        }


TOKEN = re.compile(
    r"(?:https?://|www\.)\S+|\bhttps?\b|(?<![\w@#])[@#]\w\S*|(?<![\w.+-])[\w.+-]++@\w\S*"
    r"|&#?\w++;|<\w++>|(?<![\w.-])[\w-]++(?:\.[\w-]++)++/\S*"
)
"""A link, a handle, a hashtag, an e-mail address, or a placeholder such as ``<user>``."""


class NoTokens(PreTransformationConstraint):
    """Leaves tokens, such as links and handles, and words with a digit as they are."""

    def _get_modifiable_indices(self, current_text: AttackedText) -> set[int]:
        within = {
            place for token in TOKEN.finditer(current_text.text) for place in range(*token.span())
        }
        return {
            place
            for place, (start, word) in enumerate(starts_of_words(current_text))
            if start not in within and not any(letter.isdigit() for letter in word)
        }


def starts_of_words(text: AttackedText) -> list[tuple[int, str]]:
    """Where each word of a text begins, with the word."""
    starts, end = [], 0
    for word in text.words:
        start = max(text.text.find(word, end), 0)
        end = start + len(word)
        starts.append((start, word))
    return starts


def place_of_swap(changed: AttackedText) -> int:
    """The place of the word that has changed last, after its article if that has changed, too."""
    return int(max(changed.attack_attrs["newly_modified_indices"]))


def without_models(constraints: Iterable[Constraint]) -> list[Constraint]:
    """The constraints that ask no model."""
    return [constraint for constraint in constraints if not isinstance(constraint, NearOriginal)]


class ManyAtOnce(Constraint):
    """Checks texts together, as `_check_constraint_many` does, and one alone in the same way."""

    def _check_constraint(
        self, transformed_text: AttackedText, reference_text: AttackedText
    ) -> bool:
        return bool(self._check_constraint_many([transformed_text], reference_text))


class NearOriginal(ManyAtOnce):
    """Admits texts by what a model says of them and of the original.

    Attributes
    ----------
    refused
        Whether any text has been refused.
    similarities
        The cosine of each text that was judged by one, admitted or not.
    """

    def __init__(self) -> None:
        super().__init__(compare_against_original=True)
        self.refused = False
        self.similarities: dict[str, float] = {}

    @abstractmethod
    def admits(self, original: AttackedText, texts: Sequence[AttackedText]) -> NDArray[np.bool_]:
        """Which of the texts are near enough."""

    def _check_constraint_many(
        self, transformed_texts: list[AttackedText], reference_text: AttackedText
    ) -> list[AttackedText]:
        if not transformed_texts:
            return []
        admitted = self.admits(reference_text, transformed_texts)
        self.refused = self.refused or not admitted.all()
        return [text for text, keep in zip(transformed_texts, admitted, strict=True) if keep]


class MeaningKept(NearOriginal):
    """Admits texts whose sentence vector stays near the original's.

    Parameters
    ----------
    encode
        From a list of texts to one vector of length 1 a text.
    min_similarity
        Least cosine with the original text, from -1 to 1.
    """

    def __init__(self, encode: Callable[[list[str]], Sequence[Any]], min_similarity: float) -> None:
        super().__init__()
        self._encode = encode
        self._min_similarity = min_similarity

    def admits(self, original: AttackedText, texts: Sequence[AttackedText]) -> NDArray[np.bool_]:
        """Those with at least this cosine."""
        vectors = np.asarray(self._encode([original.text, *(text.text for text in texts)]))
        cosines = np.round(vectors[1:] @ vectors[0], 6)
        self.similarities |= {
            text.text: float(cosine) for text, cosine in zip(texts, cosines, strict=True)
        }
        near: NDArray[np.bool_] = cosines >= self._min_similarity
        return near


class FitsContext(NearOriginal):
    """Admits the words that fit the place of the old one best, by their vectors in context.

    Parameters
    ----------
    compare
        From swaps to the cosine of the new word's vector with the old one's, each in its sentence.
    min_fit
        Least cosine, from -1 to 1.
    """

    def __init__(self, compare: Callable[[list[Swap]], Sequence[float]], min_fit: float) -> None:
        super().__init__()
        self._compare, self._min_fit = compare, min_fit
        self.compared: set[Swap] = set()

    def admits(self, original: AttackedText, texts: Sequence[AttackedText]) -> NDArray[np.bool_]:
        """The best words for each place, as if no other word of the original had changed."""
        starts = starts_of_words(original)
        swaps = []
        for text in texts:
            place = place_of_swap(text)
            swaps.append(swap_in_sentence(original.text, *starts[place], text.words[place]))
        self.compared.update(swaps)
        fits = np.round(self._compare(swaps), 6)
        best: dict[tuple[str, int], float] = {}
        for swap, fit in zip(swaps, fits, strict=True):
            best[swap[:2]] = max(best.get(swap[:2], -1), float(fit))
        near = [
            fit >= max(self._min_fit, best[swap[:2]] - FIT_MARGIN)
            for swap, fit in zip(swaps, fits, strict=True)
        ]
        for text, fit in zip(texts, fits, strict=True):
            before = text.attack_attrs["previous_attacked_text"].text
            self.similarities[text.text] = min(float(fit), self.similarities.get(before, 1.0))
        return np.array(near)


FIT_MARGIN = 0.02
"""How far a word's cosine may lie below that of the best word for the same place."""

CONTEXT = 160
"""Characters on either side of a word that its vector depends on, at most: its sentence."""

_SENTENCE_END = re.compile(r"[.!?]\s|\n")


def swap_in_sentence(text: str, start: int, word: str, new: str) -> Swap:
    """The swap of a word within its sentence, cut at 160 characters on either side.

    Examples
    --------
    >>> swap_in_sentence("Ours. A good film! Yes.", 8, "good", "fine")
    Swap(text='A good film!', start=2, end=6, word='fine')
    """
    end = start + len(word)
    before = _SENTENCE_END.split(text[max(0, start - CONTEXT) : start])[-1]
    after = text[end : end + CONTEXT]
    if sentence_end := _SENTENCE_END.search(after):
        after = after[: sentence_end.start() + 1]
    return Swap(before + word + after, len(before), len(before) + len(word), new)


class FluencyKept(NearOriginal):
    """Admits texts that a language model finds about as likely as the original.

    Parameters
    ----------
    perplexities
        From a list of texts to the perplexity of each.
    max_ratio
        Greatest perplexity, as a multiple of the original's.
    """

    def __init__(
        self, perplexities: Callable[[list[str]], Sequence[float]], max_ratio: float
    ) -> None:
        super().__init__()
        self._perplexities = perplexities
        self._max_ratio = max_ratio

    def admits(self, original: AttackedText, texts: Sequence[AttackedText]) -> NDArray[np.bool_]:
        """Those within the bound; none where the original has no perplexity."""
        first, *others = self._perplexities([original.text, *(text.text for text in texts)])
        within: NDArray[np.bool_] = np.round(np.divide(others, first), 6) <= self._max_ratio
        return within


class WithinBounds(NearOriginal):
    """Knows the cosines by which paraphrases were admitted before the search, and refuses none.

    Parameters
    ----------
    cosines
        From a text to its paraphrases, each with its cosine.
    """

    def __init__(self, cosines: Callable[[str], Mapping[str, float | None]]) -> None:
        super().__init__()
        self._cosines = cosines

    def admits(self, original: AttackedText, texts: Sequence[AttackedText]) -> NDArray[np.bool_]:
        """All of them."""
        known = self._cosines(original.text).items()
        self.similarities |= {text: cosine for text, cosine in known if cosine is not None}
        return np.ones(len(texts), dtype=bool)
