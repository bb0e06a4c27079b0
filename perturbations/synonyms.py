"""Synonyms that people accept: which words may change, into which others, and in which form.

A word changes where it carries a sense of its own and its part of speech is clear from its place.
It gives way to a word with which it shares a sense that is frequent for both, in the form that it
has: number, tense, comparison, capital letter, and "a" or "an" before it.

The part of speech of a word in its place, by the words beside it.

No tagger is at hand without a download. A word that WordNet's texts show in one part of speech
alone has that one; of others the neighbours tell, by tables of function words. Where they do not
tell there is no answer.

Where the words of *synonym* come from: WordNet, word vectors of a file, or a masked model.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from perturbations.capability import WORDNET
from perturbations.edits import article_for, has_capitals, like, names_in, starts_sentence
from perturbations.lexicon import (
    WORDS_REMEMBERED,
    base_forms,
    inflect,
    table,
    table_fingerprint,
    wordnet,
)
from perturbations.lockstep import Remembering
from perturbations.textattack_gate import load_textattack
from perturbations.transformations import NoTokens, WordReplacements, place_of_swap, starts_of_words
from scope.errors import DataError
from scope.models.scheme import load_model
from scope.paths import expanded
from scope.records import BLANK, Question

if TYPE_CHECKING:
    from scope.protocols import MaskFiller, TextScorer

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


TAGS = MappingProxyType(
    {
        "noun": ("NN", "NNS"),
        "verb": ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG"),
        "adj": ("JJ", "JJR", "JJS"),
        "adv": ("RB", "RBR", "RBS"),
    }
)
"""The forms of each part of speech, the base form first, by tags of the Penn Treebank."""

_SAID_BY_SUBJECTS = {"VB", "VBD", "VBP", "VBZ"}


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
        for part in TAGS
        for base in base_forms(word)
        for tag in tags_of(word.lower(), base, part)
    )


def tags_of(word: str, base: str, part: str) -> tuple[str, ...]:
    """The tags that a word in small letters may have as a form of this base."""
    # Of "boat", lemminflect also gives "boat" as a rare plural; "learnt" is a second past.
    known = inflect()(base, part.upper())
    return tuple(
        tag for tag in TAGS[part] if word in known.get(tag, ())[: 1 if word == base else None]
    )


def neighbours(text: str, words: Sequence[tuple[int, str]], place: int) -> tuple[str, str]:
    """The words before and after one, in small letters; empty where more than a space divides.

    ``words`` has where each word of the text begins, and the word.

    Examples
    --------
    >>> neighbours("So, no help", [(0, "So"), (4, "no"), (7, "help")], 1)
    ('', 'help')
    """

    def beside(first: int, neighbour: int) -> str:
        if not 0 <= first < len(words) - 1:
            return ""
        start, word = words[first]
        joined = text[start + len(word) : words[first + 1][0]] == " "
        return words[neighbour][1].lower().replace("’", "'") if joined else ""

    return beside(place - 1, place - 1), beside(place, place + 1)


@lru_cache(WORDS_REMEMBERED)
def part_in_place(word: str, before: str, after: str) -> str | None:
    """The part of speech of a word between two others, all in small letters; None if unclear.

    On the words of Swords (dev half), which people have tagged, it is clear for 4 in 5.

    Examples
    --------
    >>> part_in_place("help", "please", "me"), part_in_place("help", "any", "")
    ('verb', 'noun')
    >>> part_in_place("help", "line", "")
    """
    forms = forms_of(word)
    shown = {part for part, _ in forms}.intersection(wordnet().shown_parts(word))
    if len(shown) < 2:
        return next(iter(shown), None)
    tags = {tag for part, tag in forms if part == "verb" and part in shown}
    told = _told(shown, tags, before, after)
    return told if told in shown else None


def _told(shown: set[str], tags: set[str], before: str, after: str) -> str | None:
    """What the first rule that holds says of a word of these parts and tags of a verb."""
    left, right = kinds(before), kinds(after)
    participle, modifies = not tags.isdisjoint({"VBG", "VBN"}), is_noun(after)
    no_verb, described = shown - {"verb"}, shown & {"adj", "adv"}
    rules = (
        ("article" in left, "adj" if modifies else "noun"),
        ("degree" in left and described, None if len(described) > 1 else next(iter(described), "")),
        ("auxiliary" in left, "verb" if "VB" in tags else None),
        ("subject" in left, "verb" if tags & _SAID_BY_SUBJECTS else None),
        ("be" in left, "adj" if not participle else None if "adj" in no_verb else "verb"),
        ("have" in left, None if participle and no_verb else "verb" if participle else "noun"),
        (tags and "object" in right and ("preposition" not in left or "VBG" in tags), "verb"),
        ("preposition" in left and modifies, "adj"),
        ("preposition" in left, None if "VBG" in tags or "adj" in shown else "noun"),
        (before and wordnet().shown_parts(before) == ("adj",), "noun"),
        (modifies and not tags, "adj"),
        (after == "of", "noun"),
    )
    return next((part for holds, part in rules if holds), None)


def is_noun(word: str) -> bool:
    """Whether a word beside another may be a noun; function words and units are none."""
    known = word.isalpha() and word not in unchanged_words()
    return known and "noun" in wordnet().shown_parts(word)


@cache
def kinds(word: str) -> frozenset[str]:
    """What a word tells of the one beside it, such as article or subject."""
    return frozenset(kind for kind, words in table("neighbours") if word in words.split())


@cache
def unchanged_words() -> frozenset[str]:
    """Function words, numbers, units and times, in lower case."""
    return frozenset(word for _, words in table("unchanged_words") for word in words.split())


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
