"""Capabilities that change a text at places that they find in it: give the changes, get the rest.

A change is made of edits of the text itself, not of single words: "it is" becomes "it's", a name
gives way to another wherever it stands, an article before it follows.
"""

from __future__ import annotations

import hashlib
import random
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import ClassVar, NamedTuple, TypeVar

from perturbations.capability import InvarianceCapability, Parts
from scope.errors import SpecError
from scope.protocols import SearchOptions
from scope.records import Example, Setting

MOST_CANDIDATES = 100
"""Bound on how many replacements a capability tries at one place, for time."""


class Edit(NamedTuple):
    """The characters from ``start`` to before ``end`` give way to ``text``."""

    start: int
    end: int
    text: str


Choice = TypeVar("Choice", int, str)

Change = tuple[Edit, ...]
"""Edits that are made together, from left to right; no two overlap."""


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

    # Every change of a text is as long as the text.
    max_characters: int = 20_000

    @abstractmethod
    def changes(self, text: str, generator: random.Random) -> Iterable[Change]:
        """The single changes of a text; all that is random in them is drawn from the generator."""

    def settings(self) -> Mapping[str, Setting]:
        """The fields, and the content of the tables."""
        return {**super().settings(), **{f"table_{one}": _fingerprint(one) for one in self.tables}}

    def estimate_queries(self, example: Example, options: SearchOptions) -> int:
        """How many texts a single change makes, over all trials; asks no model."""
        if len(example.text) > self.max_characters or self.not_applicable(example.text):
            return 0
        texts = {example.text}
        for trial in range(1, options.trials + 1):
            key = self.generator(options.seed, example, trial).getrandbits(64)
            changes = self.changes(example.text, chance_for(key, example.text))
            texts.update(edited(example.text, change) for change in changes)
        return len(texts)

    def not_applicable(self, text: str) -> str | None:
        """``nothing`` where the text has no change."""
        generator = random.Random(0)  # noqa: S311 - no secret
        return None if any(self.changes(text, generator)) else self.nothing

    def parts(self, generator: random.Random) -> Parts:
        """All changes of the text, each place changed once."""
        from textattack.constraints.pre_transformation import RepeatModification

        from perturbations.edited_texts import EditedTexts
        from perturbations.search import FewestChanges

        return Parts(
            transformation=EditedTexts(self.changes, generator, deterministic=not self.draws),
            constraints=[RepeatModification()],
            search_method=FewestChanges(),
        )


def chance_for(key: int, text: str) -> random.Random:
    """The source of chance of one search for one text: the same text gets the same again."""
    return random.Random(f"{key} {text}")  # noqa: S311 - no secret


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
    before = _ARTICLE.search(text, 0, edit.start)
    if before is None:
        return (edit,)
    vowel = _LIKE_A_VOWEL.match(edit.text) and not _LIKE_A_CONSONANT.match(edit.text)
    article = before[1][0] + (like(before[1], "n") if vowel and len(before[1]) > 1 else "")
    if vowel and len(before[1]) == 1:
        article += "n"
    if article == before[1]:
        return (edit,)
    return Edit(before.start(1), before.end(1), article), edit


@cache
def table(name: str) -> tuple[tuple[str, ...], ...]:
    """The rows of a table of ours in ``perturbations/tables``, without the notes at its head.

    Examples
    --------
    >>> len({len(row) for row in table("places")})
    1
    """
    rows = (line for line in _read(name).splitlines() if line and not line.startswith("#"))
    return tuple(tuple(line.split("\t")) for line in rows)


def _read(name: str) -> str:
    return files("perturbations").joinpath("tables", f"{name}.tsv").read_text(encoding="utf-8")


@cache
def _fingerprint(name: str) -> str:
    return hashlib.sha256(_read(name).encode()).hexdigest()[:12]


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """Any of these words or phrases, the longest that fits, as a whole word in any case.

    Links, handles, hashtags and parts of hyphenated words are none.
    """
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    listed = "|".join(re.escape(word) for word in longest_first)
    return re.compile(rf"(?<![\w@#/.&-])(?:{listed})(?![\w@/-]|\.\w)", re.IGNORECASE)


def drawn(choices: Iterable[Choice], most: int, generator: random.Random) -> list[Choice]:
    """At most so many of the choices, at random."""
    known = sorted(set(choices))
    return generator.sample(known, min(most, len(known)))


def refuse_candidates(candidates: int) -> None:
    """Refuse a number of replacements a place that is out of bounds.

    Raises
    ------
    SpecError
        Where it is not 1 to 100.
    """
    if not 1 <= candidates <= MOST_CANDIDATES:
        raise SpecError(
            f"{candidates} candidates",
            expected=f"1 to {MOST_CANDIDATES} candidates",
            fix="write for example --setting candidates=5",
        )


def by_word(text: str, places: Iterable[re.Match[str]]) -> Iterator[tuple[str, list[Edit]]]:
    """The places of each word, in any case, as edits that change nothing yet."""
    found: dict[str, list[Edit]] = {}
    for place in places:
        found.setdefault(place[0].lower(), []).append(Edit(place.start(), place.end(), place[0]))
    yield from found.items()
