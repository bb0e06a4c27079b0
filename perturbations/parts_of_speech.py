"""The part of speech of a word in its place, by the words beside it.

No tagger is at hand without a download. A word that WordNet's texts show in one part of speech
alone has that one; of others the neighbours tell, by tables of function words. Where they do not
tell there is no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from types import MappingProxyType

from perturbations.lexicon import table
from perturbations.wordnet import WORDS_REMEMBERED, base_forms, inflect, wordnet

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
