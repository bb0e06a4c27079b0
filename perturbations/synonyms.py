"""Synonyms that people accept: which words may change, into which others, and in which form.

A word changes where it carries a sense of its own. It gives way to a word of a common sense, of a
similar one or of a more general one, in the form that it has: number, tense, comparison, capital
letter, and "a" or "an" before it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import product
from types import MappingProxyType

from perturbations.constraints import NoTokens, place_of_swap, starts_of_words
from perturbations.edits import article_for, has_capitals, like
from perturbations.lexicon import table, table_fingerprint
from perturbations.proper_names import names_in, starts_sentence
from perturbations.textattack_gate import load_textattack
from perturbations.wordnet import WORDS_REMEMBERED, base_forms, inflect, wordnet

load_textattack()

from textattack.constraints import Constraint, PreTransformationConstraint  # noqa: E402
from textattack.shared import AttackedText  # noqa: E402
from textattack.transformations import Transformation, WordSwap  # noqa: E402

_TAGS = MappingProxyType(
    {
        "noun": ("NN", "NNS"),
        "verb": ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG"),
        "adj": ("JJ", "JJR", "JJS"),
        "adv": ("RB", "RBR", "RBS"),
    }
)
"""The forms of each part of speech, the base form first, by tags of the Penn Treebank."""

_LONGEST_PHRASE = 4
_SHORTEST_WORD = 3


class ContentWords(PreTransformationConstraint):
    """Leaves every word that carries no sense of its own, or only as part of something longer.

    These are function words in any case, links, handles and the like, numbers and units, words of
    one letter or with other characters than letters, abbreviations in capitals, names, and the
    words of a phrase that WordNet knows, such as "check in".
    """

    def _get_modifiable_indices(self, current_text: AttackedText) -> set[int]:
        text, words = current_text.text, starts_of_words(current_text)
        left = set(_in_phrases(text, words)) | set(_names(text, words))
        return {
            place
            for place in NoTokens()._get_modifiable_indices(current_text) - left
            for word in [words[place][1]]
            if len(word) > 1 and word.isalpha() and word.lower() not in unchanged_words()
        }


_LISTS = ("unchanged_words", "names", "places")


def lists_fingerprint() -> str:
    """A fingerprint of the lists of words that never change."""
    return " ".join(map(table_fingerprint, _LISTS))


@cache
def unchanged_words() -> frozenset[str]:
    """Function words, numbers, units and times, in lower case."""
    return frozenset(word for _, words in table("unchanged_words") for word in words.split())


def _names(text: str, words: Sequence[tuple[int, str]]) -> Iterator[int]:
    """The places of names and of abbreviations in capitals."""
    listed = {start for match in names_in(text, _listed_names()) for start in range(*match.span())}
    for place, (start, word) in enumerate(words):
        capital = has_capitals(text) and (
            word.isupper() or (word[0].isupper() and not starts_sentence(text, start))
        )
        if capital or start in listed or wordnet().is_name(word):
            yield place


@cache
def _listed_names() -> tuple[str, ...]:
    return tuple(row[-1] for name in _LISTS[1:] for row in table(name))


def _in_phrases(text: str, words: Sequence[tuple[int, str]]) -> Iterator[int]:
    """The places of words that stand in a phrase of WordNet's, in any form."""
    for first in range(len(words)):
        for size in range(2, min(_LONGEST_PHRASE, len(words) - first) + 1):
            start, word = words[first + size - 2]
            if text[start + len(word) : words[first + size - 1][0]] != " ":
                break
            forms = (wordnet().base_forms(word) for _, word in words[first : first + size])
            if any(wordnet().is_lemma("_".join(phrase)) for phrase in product(*forms)):
                yield from range(first, first + size)


class _Swapped(Constraint):
    """Admits a text by the word that has changed last, before and after."""

    def __init__(self) -> None:
        super().__init__(compare_against_original=True)

    def _check_constraint(
        self, transformed_text: AttackedText, reference_text: AttackedText
    ) -> bool:
        place = place_of_swap(transformed_text)
        return self.admits(reference_text.words[place], transformed_text.words[place])

    @abstractmethod
    def admits(self, word: str, new: str) -> bool:
        """Whether the new word may stand for the old one."""


class AnotherWord(_Swapped):
    """Refuses what is no other word: another form or case, a compound or derivation, no word."""

    def admits(self, word: str, new: str) -> bool:
        """As `is_another_word`."""
        return is_another_word(word, new)


@lru_cache(WORDS_REMEMBERED)
def is_another_word(word: str, new: str) -> bool:
    """Whether the new word is a word of its own: no form, compound or derivation of the old one.

    Examples
    --------
    >>> [is_another_word("drop", new) for new in ("dropped", "DROP", "raindrop", "fall")]
    [False, False, False, True]
    >>> is_another_word("precious", "preciousness"), is_another_word("doctor", "Dr")
    (False, False)
    """
    known, others = base_forms(word), base_forms(new)
    is_word = len(new) >= _SHORTEST_WORD and new.isalpha() and not set("aeiouy").isdisjoint(new)
    return (
        is_word
        and not wordnet().is_name(new)
        and new.lower() not in unchanged_words()
        and not any(_built_on(base, other) for base, other in product(known, others))
    )


def _built_on(word: str, other: str) -> bool:
    """Whether one word holds the other, or both begin alike but for an ending."""
    shorter, longer = sorted((word, other), key=len)
    beginning = shorter[: max(4, len(shorter) - 2)]
    return word == other or (
        len(shorter) >= _SHORTEST_WORD and (shorter in longer or longer.startswith(beginning))
    )


class SameForm(_Swapped):
    """Refuses a word in another form than the old one, such as a plural for a singular."""

    def admits(self, word: str, new: str) -> bool:
        """Whether both may be the same form of the same part of speech, with the same capitals."""
        return like(word, new) == new and not forms_of(word).isdisjoint(forms_of(new))


@lru_cache(WORDS_REMEMBERED)
def forms_of(word: str) -> frozenset[tuple[str, str]]:
    """The parts of speech and tags that a word may have.

    Examples
    --------
    >>> sorted(forms_of("films"))
    [('noun', 'NNS'), ('verb', 'VBZ')]
    """
    return frozenset(
        (part, tag)
        for part in _TAGS
        for base in base_forms(word)
        for tag in _tags(word.lower(), base, part)
    )


def _tags(word: str, base: str, part: str) -> tuple[str, ...]:
    # Of "boat", lemminflect also gives "boat" as a rare plural; "learnt" is a second past.
    known = inflect()(base, part.upper())
    return tuple(
        tag for tag in _TAGS[part] if word in known.get(tag, ())[: 1 if word == base else None]
    )


@lru_cache(WORDS_REMEMBERED)
def synonyms_in_form(word: str, *, frequent: bool = False) -> tuple[str, ...]:
    """WordNet's words for one, in its form and with its capitals, in alphabetical order.

    Parameters
    ----------
    word
        A word in any form.
    frequent
        Whether only words count whose most frequent sense is the most frequent one of this word.

    Examples
    --------
    >>> synonyms_in_form("Sofas", frequent=True)
    ('Couches',)
    """
    lemmas = {
        like(word, form)
        for related in wordnet().related(word)
        if related.frequent or not frequent
        for form in _in_form(related.lemma, related.part, word.lower(), related.base)
    }
    return tuple(sorted(lemmas - {word}))


def _in_form(lemma: str, part: str, word: str, base: str) -> Iterator[str]:
    """The lemma in each form that the word may have as a form of its base."""
    if part == "noun" and lemma.endswith("ing") and not base.endswith("ing"):
        return  # what is done is not what is: "flying" is no word for one flight
    known = inflect()(lemma, part.upper())
    for tag in _tags(word, base, part) or (_TAGS[part][:1] if word == base else ()):
        # "flying" is given as its own plural, and is none for "flights".
        if tag in known and (tag != "NNS" or known[tag][0] != lemma):
            yield known[tag][0]


class WithArticles(WordSwap):
    """Another transformation of single words, with the "a" or "an" that the new word asks for."""

    def __init__(self, swaps: Transformation) -> None:
        super().__init__()
        self._swaps = swaps

    def _get_transformations(
        self, current_text: AttackedText, indices_to_modify: Iterable[int]
    ) -> list[AttackedText]:
        changed = self._swaps._get_transformations(current_text, indices_to_modify)
        return [_with_article(current_text, text) for text in changed]


def _with_article(before: AttackedText, after: AttackedText) -> AttackedText:
    place = place_of_swap(after)
    article = before.words[place - 1] if place else ""
    if article.lower() not in ("a", "an"):
        return after
    wanted = article_for(article, after.words[place])
    if wanted == article:
        return after
    return before.replace_words_at_indices([place - 1, place], [wanted, after.words[place]])
