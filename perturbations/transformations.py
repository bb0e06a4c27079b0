"""How a text may be changed."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from perturbations.textattack_gate import load_textattack

load_textattack()

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
        # TextAttack gives a text that has become of another one indices of its own.
        return [
            AttackedText(text, attack_attrs={"previous_attacked_text": current_text})
            for text in texts
            if text != current_text.text
        ]


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
