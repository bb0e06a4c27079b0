"""How a text may be changed, and which changes are admitted beyond TextAttack's own constraints."""

from __future__ import annotations

import random
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturbations.textattack_gate import load_textattack

load_textattack()

from textattack.constraints import Constraint, PreTransformationConstraint  # noqa: E402
from textattack.shared import AttackedText  # noqa: E402
from textattack.transformations import Transformation, WordSwap  # noqa: E402


class WordReplacements(WordSwap):
    """One word replaced by another.

    Parameters
    ----------
    replacements
        From a word to those that may stand in its place, in a fixed order.
    """

    def __init__(self, replacements: Callable[[str], Sequence[str]]) -> None:
        super().__init__()
        self._replacements = replacements

    def _get_replacement_words(self, word: str) -> Sequence[str]:
        return self._replacements(word)


class WordSynonyms(WordReplacements):
    """One word replaced by a synonym.

    TextAttack's own ``WordSwapWordNet`` gives the same words, but in an order that changes with
    the hash seed, and it downloads a corpus when it is made.
    """


Change = Callable[[str, random.Random], str]
"""From a word and a source of chance to another word, or to the same where it cannot change."""


class ChangedWords(WordSwap):
    """Whole texts in which words are changed at random.

    Parameters
    ----------
    change
        How a word is changed.
    generator
        Decides which words and how; candidates follow from its state alone.
    candidates
        How many texts to offer.
    most_words
        Greatest number of words that are changed in a candidate, drawn for each from 1 on; None
        for all that may be changed.
    share
        Share of the words that may be changed that are, at least one word, in place of most_words.
    """

    def __init__(
        self,
        change: Change,
        generator: random.Random,
        candidates: int,
        most_words: int | None = None,
        share: float | None = None,
    ) -> None:
        super().__init__()
        self._change = change
        self._generator = generator
        self._candidates = candidates
        self._most_words = most_words
        self._share = share

    @property
    def deterministic(self) -> bool:
        """False: another call gives other candidates, so TextAttack must not cache them."""
        return False

    def _get_transformations(
        self, current_text: AttackedText, indices_to_modify: Iterable[int]
    ) -> list[AttackedText]:
        words = {index: current_text.words[index] for index in sorted(indices_to_modify)}
        drawn = (tuple(self._drawn(words).items()) for _ in range(self._candidates if words else 0))
        return [
            current_text.replace_words_at_indices(*zip(*changed, strict=True))
            for changed in dict.fromkeys(drawn)
            if any(words[index] != word for index, word in changed)
        ]

    def _drawn(self, words: Mapping[int, str]) -> dict[int, str]:
        """New words by their places, some of them as they were."""
        if self._share is not None:
            size = max(1, round(self._share * len(words)))
        elif self._most_words is not None:
            size = self._generator.randint(1, self._most_words)
        else:
            return {index: self._change(word, self._generator) for index, word in words.items()}
        changed: dict[int, str] = {}
        for index in self._generator.sample(sorted(words), len(words)):
            new = self._change(words[index], self._generator)
            changed |= {index: new} if new != words[index] else {}
            if len(changed) == size:
                break
        return dict(sorted(changed.items()))


def drawn_from(swaps: Mapping[WordSwap, float]) -> Change:
    """A change by one of TextAttack's word swaps, each with its share of the changes."""

    def change(word: str, generator: random.Random) -> str:
        offers = {swap: swap._get_replacement_words(word) for swap in swaps}
        new = {swap: sorted({*offered} - {word}) for swap, offered in offers.items()}
        some = [swap for swap in swaps if new[swap]]
        if not some:
            return word
        kind = generator.choices(some, [swaps[swap] for swap in some])[0]
        return str(generator.choice(new[kind]))

    return change


class Rewrites(Transformation):
    """Whole texts rewritten: changes between words, and texts added.

    Parameters
    ----------
    rewrite
        From a text to others, in a fixed order; the text itself among them is left out.
    """

    def __init__(self, rewrite: Callable[[str], Iterable[str]]) -> None:
        self._rewrite = rewrite

    def _get_transformations(
        self, current_text: AttackedText, indices_to_modify: Iterable[int]
    ) -> list[AttackedText]:
        texts = dict.fromkeys(self._rewrite(current_text.text))
        return [_rewritten(current_text, text) for text in texts if text != current_text.text]


def _rewritten(before: AttackedText, text: str) -> AttackedText:
    """The text as what has become of another one; TextAttack gives it indices of its own."""
    return AttackedText(text, attack_attrs={"previous_attacked_text": before})


def swap_inner_letters(word: str, generator: random.Random) -> str:
    """The word with two different letters swapped, never its first or last.

    Examples
    --------
    >>> swap_inner_letters("form", random.Random(0))
    'from'
    >>> swap_inner_letters("good", random.Random(0))
    'good'
    """
    inner = range(1, len(word) - 1)
    alike = Counter(word[1:-1])
    # Each pair is as likely as any other: the first by how many differ from it, then one of them.
    different = [len(inner) - alike[word[place]] for place in inner]
    if not any(different):
        return word
    first = generator.choices(inner, different)[0]
    second = generator.choice([place for place in inner if word[place] != word[first]])
    letters = list(word)
    letters[first], letters[second] = letters[second], letters[first]
    return "".join(letters)


class MaxWordLength(PreTransformationConstraint):
    """Leaves words of more than so many characters as they are."""

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
        text, end, found = current_text.text, 0, set()
        within = {place for one in TOKEN.finditer(text) for place in range(*one.span())}
        for place, word in enumerate(current_text.words):
            start = text.find(word, end)
            end = max(start, 0) + len(word)
            if start not in within and not any(letter.isdigit() for letter in word):
                found.add(place)
        return found


def without_models(constraints: Iterable[Constraint]) -> list[Constraint]:
    """The constraints that ask no model."""
    return [one for one in constraints if not isinstance(one, NearOriginal)]


class NearOriginal(Constraint):
    """Admits texts by what a model says of them and of the original.

    Attributes
    ----------
    refused
        Whether any text has been refused.
    """

    def __init__(self) -> None:
        super().__init__(compare_against_original=True)
        self.refused = False

    @abstractmethod
    def admits(self, original: str, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the texts are near enough."""

    def _check_constraint_many(
        self, transformed_texts: list[AttackedText], reference_text: AttackedText
    ) -> list[AttackedText]:
        if not transformed_texts:
            return []
        admitted = self.admits(reference_text.text, [text.text for text in transformed_texts])
        self.refused = self.refused or not admitted.all()
        return [text for text, keep in zip(transformed_texts, admitted, strict=True) if keep]

    def _check_constraint(
        self, transformed_text: AttackedText, reference_text: AttackedText
    ) -> bool:
        return bool(self._check_constraint_many([transformed_text], reference_text))


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

    def admits(self, original: str, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Those with at least this cosine."""
        vectors = np.asarray(self._encode([original, *texts]))
        near: NDArray[np.bool_] = np.round(vectors[1:] @ vectors[0], 6) >= self._min_similarity
        return near


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

    def admits(self, original: str, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Those within the bound; none where the original has no perplexity."""
        first, *others = self._perplexities([original, *texts])
        within: NDArray[np.bool_] = np.round(np.divide(others, first), 6) <= self._max_ratio
        return within
