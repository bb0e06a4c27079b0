"""How a text may be changed, and which changes are admitted.

Transformations replace words, rewrite texts or make edits. Constraints beyond TextAttack's own say
which words may change, and what a change has to keep.
"""

from __future__ import annotations

import random
import re
from abc import abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perturbations.edits import Change, Edit, edited, some_changes
from perturbations.textattack_gate import load_textattack

load_textattack()

from textattack.constraints import Constraint, PreTransformationConstraint  # noqa: E402
from textattack.shared import AttackedText  # noqa: E402
from textattack.shared.data import EXTENSION_MAP  # noqa: E402
from textattack.transformations import Transformation, WordSwap  # noqa: E402

from scope.protocols import Swap  # noqa: E402


class WordReplacements(WordSwap):
    """One word replaced by another.

    Parameters
    ----------
    replacements
        From a word to those that may stand in its place, in a fixed order. (TextAttack's own
        ``WordSwapWordNet`` gives the words of `WordNet.synonyms` in an order that changes with the
        hash seed, and downloads a corpus when it is made.)
    """

    def __init__(self, replacements: Callable[[str], Sequence[str]]) -> None:
        super().__init__()
        self._replacements = replacements

    def _get_replacement_words(self, word: str) -> Sequence[str]:
        return self._replacements(word)


_LONGEST = 1000

WordChange = Callable[[str, random.Random], str]
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
        change: WordChange,
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
        spans = word_spans(current_text)
        # `replace_words_at_indices` would look at each word of a long text many times.
        return [
            changed_text(current_text, spans, edits)
            for changed in dict.fromkeys(drawn)
            if (
                edits := tuple(
                    Edit(*spans[index], word) for index, word in changed if words[index] != word
                )
            )
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


def drawn_from(swaps: Mapping[WordSwap, float]) -> WordChange:
    """A change by one of TextAttack's word swaps, each with its share of the changes.

    Words of more than 1,000 letters stay as they are: all their swaps would fill the memory.
    """

    def change(word: str, generator: random.Random) -> str:
        if len(word) > _LONGEST:
            return word
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

    Every word of a new text counts as changed, and a text of which no word may be changed is not
    rewritten: so `RepeatModification` ends a search after one step.

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
        texts = dict.fromkeys(self._rewrite(current_text.text) if indices_to_modify else ())
        changed = set(range(max(map(len, texts), default=0)))
        # TextAttack gives a text that has become of another one indices of its own.
        return [
            AttackedText(
                text,
                attack_attrs={"previous_attacked_text": current_text, "modified_indices": changed},
            )
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


class EditedTexts(Transformation):
    """Every change of a text, each as a text of its own.

    Parameters
    ----------
    changes
        From a text and a source of chance to its changes. The same text gets the same chance, so
        that one search meets the same changes again.
    generator
        Decides the chance.
    deterministic
        Whether the changes depend on the text alone.
    """

    def __init__(
        self,
        changes: Callable[[str, random.Random], Iterable[Change]],
        generator: random.Random,
        *,
        deterministic: bool = False,
    ) -> None:
        self._changes = changes
        self._key = generator.getrandbits(64)
        self._deterministic = deterministic

    @property
    def deterministic(self) -> bool:
        """Whether another search of the same text meets the same changes."""
        return self._deterministic

    def _get_transformations(
        self, current_text: AttackedText, indices_to_modify: Iterable[int]
    ) -> list[AttackedText]:
        changes = some_changes(self._changes, current_text.text, self._key)
        allowed = set(indices_to_modify)
        spans = word_spans(current_text)
        return [
            changed_text(current_text, spans, change)
            for change in changes
            if words_in(spans, change) <= allowed
        ]


class WholeTexts(Transformation):
    """The original gives way to other texts as a whole; one of these gives way to none.

    Parameters
    ----------
    others
        From a text to those that may stand for it.
    """

    def __init__(self, others: Callable[[str], Iterable[str]]) -> None:
        self._others = others

    def _get_transformations(
        self, current_text: AttackedText, indices_to_modify: Iterable[int]
    ) -> list[AttackedText]:
        if current_text.attack_attrs["modified_indices"]:
            return []
        texts = [AttackedText(other) for other in self._others(current_text.text)]
        for text in texts:
            places = set(range(len(text.words)))
            text.attack_attrs.update(
                previous_attacked_text=current_text,
                original_index_map=np.full(len(current_text.words), -1),
                modified_indices=places,
                newly_modified_indices=places,
            )
        return texts


def word_spans(text: AttackedText) -> list[tuple[int, int]]:
    """Where the words of a text begin and end."""
    return [(start, start + len(word)) for start, word in starts_of_words(text)]


def words_in(spans: Sequence[tuple[int, int]], change: Sequence[Edit]) -> set[int]:
    """The places of the words that any edit touches.

    Examples
    --------
    >>> words_in([(0, 1), (2, 6), (7, 11)], [Edit(0, 6, "an old")])
    {0, 1}
    """
    places, at = set(), 0
    for place, (start, end) in enumerate(spans):
        while at < len(change) and change[at].end <= start:
            at += 1
        if at < len(change) and change[at].start < end:
            places.add(place)
    return places


def changed_text(
    text: AttackedText, spans: Sequence[tuple[int, int]], change: Change
) -> AttackedText:
    """The text after a change, with TextAttack's notes on which words are new or moved."""
    new = AttackedText(edited(text.text, change))
    new_spans = word_spans(new)
    touched = words_in(spans, change)
    modified = words_in(new_spans, _as_made(change))
    place_of = {start: place for place, (start, _) in enumerate(new_spans)}
    ends = [edit.end for edit in change]
    # How far what begins after so many edits moves to the right.
    shifts = [0, *accumulate(len(edit.text) - (edit.end - edit.start) for edit in change)]
    moved = [
        -1 if place in touched else place_of.get(start + shifts[bisect_right(ends, start)], -1)
        for place, (start, _) in enumerate(spans)
    ]
    kept: np.ndarray[Any, Any] = np.array([*moved, -1])
    attributes = text.attack_attrs
    new.attack_attrs.update(
        previous_attacked_text=text,
        original_index_map=kept[attributes["original_index_map"]],
        modified_indices={int(kept[index]) for index in attributes["modified_indices"]} - {-1}
        | modified,
        newly_modified_indices=modified,
    )
    return new


def _as_made(change: Change) -> list[Edit]:
    """The edits at the places where the new text has their words."""
    made, shift = [], 0
    for edit in change:
        start = edit.start + shift
        made.append(Edit(start, start + len(edit.text), edit.text))
        shift += len(edit.text) - (edit.end - edit.start)
    return made


NOT_EXPANSIONS = frozenset({"ain't", "ma'am", "how'd'y"})
"""Entries of TextAttack's table whose long form means something else or is no longer form."""


@cache
def contractions() -> Mapping[str, str]:
    """From each contraction to its long form, in lower case.

    The table is that of TextAttack's ``WordSwapExtend`` and ``WordSwapContract``, which look for it
    in lower case and in single words alone. Left out are entries that are no long form and
    contractions of contractions ("he'd've").

    Examples
    --------
    >>> contractions()["isn't"], contractions()["they're"]
    ('is not', 'they are')
    """
    known = {short.lower(): long.lower() for short, long in EXTENSION_MAP.items()}
    return {
        short: long
        for short, long in sorted(known.items())
        if short.count("'") == 1 and short not in NOT_EXPANSIONS
    }


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


class NotTaken(ManyAtOnce):
    """Prefers texts that no earlier trial has found.

    A search of TextAttack's follows the best score, and would go on from such a text to none
    better. Where there are no others they stay, for the goal to refuse.
    """

    def __init__(self, taken: Sequence[str]) -> None:
        super().__init__(compare_against_original=False)
        self._taken = frozenset(taken)

    def _check_constraint_many(
        self, transformed_texts: list[AttackedText], reference_text: AttackedText
    ) -> list[AttackedText]:
        left = [text for text in transformed_texts if text.text not in self._taken]
        return left or transformed_texts


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
