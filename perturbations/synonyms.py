"""Synonyms that people accept: which words may change, into which others, and in which form.

A word changes where it carries a sense of its own and its part of speech is clear from its place.
It gives way to a word with which it shares a sense that is frequent for both, in the form that it
has: number, tense, comparison, capital letter, and "a" or "an" before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import product

from perturbations.constraints import NoTokens, place_of_swap, starts_of_words
from perturbations.edits import article_for, has_capitals, like
from perturbations.lexicon import table, table_fingerprint
from perturbations.parts_of_speech import (
    forms_of,
    is_noun,
    kinds,
    neighbours,
    part_in_place,
    tags_of,
    unchanged_words,
)
from perturbations.proper_names import names_in, starts_sentence
from perturbations.textattack_gate import load_textattack
from perturbations.wordnet import WORDS_REMEMBERED, base_forms, inflect, wordnet

load_textattack()

from textattack.constraints import Constraint, PreTransformationConstraint  # noqa: E402
from textattack.shared import AttackedText  # noqa: E402
from textattack.transformations import Transformation, WordSwap  # noqa: E402

_LONGEST_PHRASE = 4
_SHORTEST_WORD = 3

_MAKE_VERBS = {"preposition", "particle"}
"""The kinds of words that make a verb of their own with the one before them: "wait on"."""

_FRAMES = {"08", "14", "24"}
_WITHOUT_OBJECT = {"01", "02"}
"""WordNet's frames of verbs with an object, with two, with one that does something; and with none.
"""


class ContentWords(PreTransformationConstraint):
    """Leaves every word that carries no sense of its own, or only as part of something longer.

    These are function words in any case, links, handles and the like, numbers and units, words of
    one letter or with other characters than letters, abbreviations in capitals, names, words whose
    part of speech their place leaves open, the words of a phrase that WordNet knows, and words that
    make one with their neighbour: nouns beside nouns ("customer service"), verbs before a
    preposition ("wait on") or with two complements ("help me find it"), adjectives before "to",
    adverbs after "not" or an auxiliary.
    """

    def _get_modifiable_indices(self, current_text: AttackedText) -> set[int]:
        text, words = current_text.text, starts_of_words(current_text)
        left = set(_in_phrases(text, words)) | set(_names(text, words))
        return {
            place
            for place in NoTokens()._get_modifiable_indices(current_text) - left
            for word in [words[place][1]]
            if len(word) > 1 and word.isalpha() and word.lower() not in unchanged_words()
            if not _is_bound(text, words, place)
        }


def part_at(text: AttackedText, place: int) -> str | None:
    """The part of speech of a word of a text, as `part_in_place`."""
    return _part(text.text, starts_of_words(text), place)


def _part(text: str, words: Sequence[tuple[int, str]], place: int) -> str | None:
    return part_in_place(words[place][1].lower(), *neighbours(text, words, place))


def _is_bound(text: str, words: Sequence[tuple[int, str]], place: int) -> bool:
    """Whether a word makes one with a word beside it, or its part of speech is unclear."""
    before, after = neighbours(text, words, place)
    part = _part(text, words, place)
    left, right = kinds(before), kinds(after)
    return {
        "noun": is_noun(after)
        or (is_noun(before) and _part(text, words, place - 1) in (None, "noun")),
        "verb": not right.isdisjoint(_MAKE_VERBS)
        or ("person" in right and neighbours(text, words, place + 1)[1] != ""),
        "adj": after == "to",
        "adv": before == after == "as" or before == "not" or "auxiliary" in left,
    }.get(part or "", True)


_LISTS = ("unchanged_words", "neighbours", "names", "places")


def lists_fingerprint() -> str:
    """A fingerprint of the lists of words that never change."""
    return " ".join(map(table_fingerprint, _LISTS))


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
    return tuple(row[-1] for name in _LISTS[2:] for row in table(name))


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


class SameUse(Constraint):
    """Refuses what is no other word, has another form than the old one, or is used otherwise.

    In the part of speech of the place it has all forms that the old one may have there, and its
    capitals; a noun can be counted, or stand without an article, where the old one does; a verb
    takes the same objects.
    """

    def __init__(self) -> None:
        super().__init__(compare_against_original=True)

    def _check_constraint(
        self, transformed_text: AttackedText, reference_text: AttackedText
    ) -> bool:
        place = place_of_swap(transformed_text)
        word, new = reference_text.words[place], transformed_text.words[place]
        part = part_at(reference_text, place)
        near = reference_text.words[max(place - 2, 0) : place]
        bare = not any("article" in kinds(neighbour.lower()) for neighbour in near)
        if part == "verb":
            bare = not neighbours(reference_text.text, starts_of_words(reference_text), place)[1]
        return (
            like(word, new) == new
            and is_another_word(word, new)
            and is_used_alike(word, new, part, bare=bare)
        )


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
    # "easily" is built on "easy"
    shorter, longer = sorted((word.replace("y", "i"), other.replace("y", "i")), key=len)
    beginning = shorter[: max(4, len(shorter) - 2)]
    return word == other or (
        len(shorter) >= _SHORTEST_WORD and (shorter in longer or longer.startswith(beginning))
    )


@lru_cache(WORDS_REMEMBERED)
def is_used_alike(word: str, new: str, part: str | None, *, bare: bool) -> bool:
    """Whether a new word has the forms of an old one in a part of speech, and is used like it.

    ``bare`` says that a noun stands without an article, or a verb with no word after it.

    Examples
    --------
    >>> [is_used_alike("trip", new, "noun", bare=False) for new in ("journey", "trips", "travel")]
    [True, False, False]
    >>> [is_used_alike("fixed", new, "verb", bare=True) for new in ("repair", "repaired")]
    [False, True]
    """
    forms = {form for form in forms_of(word) if form[0] == part}
    if part is None or not forms or not forms <= forms_of(new):
        return False
    old_bases, new_bases = (
        {base for base in base_forms(form) if tags_of(form.lower(), base, part)}
        for form in (word, new)
    )
    if part == "noun":
        needed = _countings(old_bases)
        counted = needed & {True} if not bare or ("noun", "NNS") in forms else None
        return (counted or needed) <= _countings(new_bases)
    asked = _FRAMES | _WITHOUT_OBJECT if bare else _FRAMES
    return part != "verb" or _frames(old_bases) & asked == _frames(new_bases) & asked


def _countings(nouns: Iterable[str]) -> set[bool]:
    """True for nouns that are counted, False for some that are not; many are both."""
    # lemminflect gives a noun that is not counted as its own plural.
    plurals = ((noun, inflect()(noun, "NOUN").get("NNS", ())) for noun in nouns)
    return {plural != noun for noun, forms in plurals for plural in forms}


def _frames(verbs: Iterable[str]) -> set[str]:
    return {frame for verb in verbs for frame in wordnet().frames(verb)}


@lru_cache(WORDS_REMEMBERED)
def synonyms_in_form(word: str, part: str, *, ranks: int) -> tuple[str, ...]:
    """WordNet's synonyms of a word, in its form and with its capitals, in alphabetical order.

    Parameters
    ----------
    word
        A word in any form.
    part
        The part of speech, such as ``noun``.
    ranks
        Greatest sum of the places of the common sense among the senses of either word, the most
        frequent first and from 0. At 1 it is the first of one and first or second of the other.

    Examples
    --------
    >>> synonyms_in_form("Sofas", "noun", ranks=0)
    ('Couches',)
    """
    lemmas = {
        like(word, form)
        for synonym in wordnet().synonyms_as(word, part)
        if synonym.ranks <= ranks
        for tag in tags_of(word.lower(), synonym.base, part)
        for form in inflect()(synonym.lemma, part.upper()).get(tag, ())[:1]
    }
    return tuple(sorted(lemmas - {word}))


class SynonymsInPlace(WordSwap):
    """One word replaced by a synonym in the part of speech of its place; see `synonyms_in_form`."""

    def __init__(self, ranks: int) -> None:
        super().__init__()
        self._ranks = ranks

    def _get_transformations(
        self, current_text: AttackedText, indices_to_modify: Iterable[int]
    ) -> list[AttackedText]:
        return [
            current_text.replace_word_at_index(place, new)
            for place in sorted(indices_to_modify)
            if (part := part_at(current_text, place))
            for new in synonyms_in_form(current_text.words[place], part, ranks=self._ranks)
        ]


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
