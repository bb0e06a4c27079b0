"""Edits of a text, and the base of the capabilities that make them.

Characters give way to others, alone or several at once. Edits change the text itself, not single
words: "it is" becomes "it's", a name gives way to another wherever it stands, an article before it
follows.
"""

from __future__ import annotations

import random
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeVar

from perturbations.capability import InvarianceCapability, Parts
from perturbations.lexicon import lexicon_version, not_english, table_fingerprint
from scope.protocols import SearchOptions
from scope.records import Example, Setting


class Edit(NamedTuple):
    """The characters from ``start`` to before ``end`` give way to ``text``."""

    start: int
    end: int
    text: str


Choice = TypeVar("Choice", int, str)

Change = tuple[Edit, ...]
"""Edits that are made together, from left to right; no two overlap."""


MOST_CHANGES = 64
"""Most changes of one text that are tried; of more, this number is drawn."""


def some_changes(
    changes: Callable[[str, random.Random], Iterable[Change]], text: str, key: int
) -> list[Change]:
    """The different changes of a text with the chance of one search; of many, some are drawn.

    The same text gets the same chance again.
    """
    generator = random.Random(f"{key} {text}")  # noqa: S311 - no secret
    every = list(dict.fromkeys(changes(text, generator)))
    return every if len(every) <= MOST_CHANGES else generator.sample(every, MOST_CHANGES)


def edited(text: str, change: Change) -> str:
    """The text after a change.

    Examples
    --------
    >>> edited("a good film", (Edit(0, 1, "an"), Edit(2, 6, "old")))
    'an old film'
    """
    pieces, end = [], 0
    for edit in change:
        pieces += [text[end : edit.start], edit.text]
        end = edit.end
    return "".join([*pieces, text[end:]])


def like(original: str, new: str) -> str:
    """The new words with the capitals of the original.

    Examples
    --------
    >>> like("Mary", "anna"), like("MARY", "anna"), like("mary", "Anna"), like("I", "she")
    ('Anna', 'ANNA', 'anna', 'She')
    """
    if original.isupper() and len(original) > 1:
        return new.upper()
    if original.islower():
        return new.lower()
    return new[:1].upper() + new[1:]


def has_capitals(text: str) -> bool:
    """Whether capitals mean anything in a text; in one without any, names have none either.

    Examples
    --------
    >>> has_capitals("seen in paris"), has_capitals("Seen in paris"), has_capitals("SEEN")
    (False, True, False)
    """
    return text != text.lower() and text != text.upper()


def just_before(
    pattern: re.Pattern[str], text: str, place: int, start: int = 0
) -> re.Match[str] | None:
    """What a pattern that ends in ``$`` finds right before a place, at most 100 characters back.

    Without that bound the time for a text would grow with the square of its length.

    Examples
    --------
    >>> just_before(re.compile(r"\\ban?\\s+$"), "seen by an American", 11)[0]
    'an '
    """
    return pattern.search(text, max(start, place - 100), place)


_ARTICLE = re.compile(r"\b(an?)(\s+)$", re.IGNORECASE)
_LIKE_A_CONSONANT = re.compile(
    r"(uni([^mn]|$)|us[aeu]|eu|one\b|once\b|uk|ut[ie]|ug)", re.IGNORECASE
)
_LIKE_A_VOWEL = re.compile(r"([aeiou]|hour|honest|honou?r|heir)", re.IGNORECASE)


def with_article(text: str, edit: Edit) -> Change:
    """The edit, and that of "a" or "an" before it where the new word asks for the other.

    Examples
    --------
    >>> text = "seen by an American"
    >>> edited(text, with_article(text, Edit(11, 19, "Mexican")))
    'seen by a Mexican'
    """
    before = just_before(_ARTICLE, text, edit.start)
    if before is None:
        return (edit,)
    article = article_for(before[1], edit.text)
    if article == before[1]:
        return (edit,)
    return Edit(before.start(1), before.end(1), article), edit


def article_for(article: str, word: str) -> str:
    """The article "a" or "an" as the word after it asks, in capitals where it was.

    Examples
    --------
    >>> article_for("a", "hour"), article_for("An", "film"), article_for("a", "unit")
    ('an', 'A', 'a')
    """
    vowel = _LIKE_A_VOWEL.match(word) and not _LIKE_A_CONSONANT.match(word)
    in_capitals = article == "AN" or (article == "A" and word.isupper())
    return article[0] + ("" if not vowel else "N" if in_capitals else "n")


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Any of these words or phrases, the longest that fits, as a whole word in any case.

    Links, handles, hashtags and parts of hyphenated words are none, nor is "he" in "[t]he". What
    is found is one of the words in lower case: not "İran", whose first letter Python takes for
    an i.

    Examples
    --------
    >>> any_of(["Iran", "Bogotá"]).findall("IRAN, İran, BOGOTÁ")
    ['IRAN', 'BOGOTÁ']
    """
    forms = {
        form
        for word in words
        for form in (word, word.lower(), word.upper(), word.title())
        if form.lower() == word.lower()
    }
    longest_first = sorted(forms, key=lambda word: (-len(word), word))
    listed = "|".join(re.escape(word) for word in longest_first)
    return re.compile(rf"(?<![\w@#/.&\]-])(?ai:{listed})(?![\w@/-]|\.\w)")


def drawn(choices: Iterable[Choice], most: int, generator: random.Random) -> list[Choice]:
    """At most so many of the choices, at random."""
    known = sorted(set(choices))
    return generator.sample(known, min(most, len(known)))


def by_word(text: str, places: Iterable[re.Match[str]]) -> Iterator[tuple[str, list[Edit]]]:
    """The places of each word, in any case, as edits that change nothing yet."""
    edits: dict[str, list[Edit]] = {}
    for place in places:
        edits.setdefault(place[0].lower(), []).append(Edit(place.start(), place.end(), place[0]))
    yield from edits.items()


@dataclass(frozen=True, kw_only=True)
class EditingCapability(InvarianceCapability):
    """A capability that names its changes of a text; one that keeps the answer is kept.

    Later trials take other changes, then several at once.
    """

    nothing: ClassVar[str]
    """Why a text without any change is not applicable."""

    example: ClassVar[tuple[str, str]]
    """A text before and after one change."""

    draws: ClassVar[bool] = False
    """Whether the changes depend on the generator."""

    tables: ClassVar[tuple[str, ...]] = ()
    """The tables of ours that words come from."""

    lexicons: ClassVar[tuple[str, ...]] = ()
    """Those of "stopwords" and "wordnet" that the changes depend on."""

    english: ClassVar[bool] = True
    """Whether a text in another language is not applicable, as far as that can be told."""

    # Every change of a text is as long as the text.
    max_characters: int = 20_000

    @abstractmethod
    def changes(self, text: str, generator: random.Random) -> Iterable[Change]:
        """The single changes of a text; all that is random in them is drawn from the generator."""

    def settings(self) -> Mapping[str, Setting]:
        """The fields, and the content of the tables and lexicons."""
        return {
            **super().settings(),
            **{f"table_{name}": table_fingerprint(name) for name in self.tables},
            **{name: lexicon_version(name) for name in self.lexicons},
        }

    def estimate_queries(self, example: Example, options: SearchOptions) -> int:
        """How many texts a single change makes, over all trials; asks no model."""
        if len(example.text) > self.max_characters or self.not_applicable(example.text):
            return 0
        texts = {example.text}
        for trial in range(1, options.trials + 1):
            key = self.generator(options.seed, example, trial).getrandbits(64)
            changes = some_changes(self.changes, example.text, key)
            texts.update(edited(example.text, change) for change in changes)
        return len(texts)

    def not_applicable(self, text: str) -> str | None:
        """Another language, where it knows English alone; ``nothing`` without a change."""
        if self.english and (reason := not_english(text)):
            return reason
        generator = random.Random(0)  # noqa: S311 - no secret
        return None if any(self.changes(text, generator)) else self.nothing

    def parts(self, generator: random.Random) -> Parts:
        """All changes of the text, each place changed once."""
        from textattack.constraints.pre_transformation import RepeatModification

        from perturbations.search import FewestChanges
        from perturbations.transformations import EditedTexts

        return Parts(
            transformation=EditedTexts(self.changes, generator, deterministic=not self.draws),
            constraints=[RepeatModification()],
            search_method=FewestChanges(),
        )
