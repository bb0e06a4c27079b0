"""*punctuation*: does the answer stay when marks are dropped, added or written otherwise?

What people do when they write in haste: no full stop, two exclamation marks, the comma before "and"
left out, straight or curly quotes, one hyphen or a dash. Changes that can move the sense or the
tone are left out: other commas, a question mark, an ellipsis or an exclamation mark where there is
none. An invariance found here says that the reference does not mind this mark, not that it reads
none.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from perturbations.capability import InvarianceCapability, Parts, check_choice
from perturbations.lexicon import not_latin

SPACED = re.compile(r"\w\s+[.,!?](?:\s|\Z)")
"""A mark set apart from its word, as in tokenised data."""

Marks = Literal["any", "final", "commas", "quotes", "dashes"]
Extent = Literal["one", "all"]

# Possessive, so that no text takes more time than its length asks for.
_END = r"(?=[\"'”’)\]]*+\s*+\Z)"

_SUBJECTS = "i|you|he|she|it|we|they|there|this|that"

CHANGES: Mapping[str, Sequence[tuple[str, str]]] = {
    "final": (
        (rf"(?<=\w)(?<!\.\w)\s*+\.{_END}", ""),
        (rf"(?<![.!?…])!{_END}", "!!"),
        (rf"(?<![.!?…])([!?])\1++{_END}", r"\1"),
        (rf"(?<=\w){_END}", "."),
    ),
    "commas": (
        (r"(?<!\s)\s*+,(?=\s+(?:and|but)\s)", ""),
        (rf"(?<=\w)(?=\s(?:but|although)\s(?:{_SUBJECTS})\s)", ","),
    ),
    "quotes": (
        (r"(?<=\wn)'(?=t\b)", ""),
        (r"(?<=\w)'(?=\w)", "’"),
        (r"(?<=\w)’(?=\w)", "'"),
        (r"“([^“”]*+)”", r'"\1"'),
        (r'(?<!\S)"([^"\n]++)"(?!\w)', r"“\1”"),
    ),
    "dashes": (
        (r"(?<=[^\W\d_]{4})-(?=[^\W\d_]{4})", " "),
        (r"(?<=\s)(?:-{1,2}|–|—)(?=\s)", "—"),
        (r"(?<=\s)(?:--|–|—)(?=\s)", "-"),
        (r"…", "..."),
        (r"(?<!\.)\.{3}(?!\.)", "…"),
    ),
}
"""By the setting, what is found and what is put in its place."""


@dataclass(frozen=True, kw_only=True)
class Punctuation(InvarianceCapability):
    """Drops, adds or exchanges one mark, or all of a kind; the letters stay.

    Links, handles and hashtags stay as they are.

    Parameters
    ----------
    marks
        ``final`` ones, ``commas``, ``quotes`` with apostrophes, ``dashes`` with hyphens and
        ellipses, or ``any``.
    extent
        ``one`` mark, or ``all`` of the text that the same change fits.
    max_characters
        Longest text that is searched.
    """

    name = "punctuation"
    question = "Does the prediction stay the same when punctuation is dropped, added or exchanged?"
    groups = ("format",)
    example = ("A warm film, and a funny one.", "A warm film and a funny one.")
    queries = 9
    accepted = "0.99 [0.92, 1.00] of 71 (κ 1.00; half a pair of commas)"

    marks: Marks = "any"
    extent: Extent = "one"
    # Candidates and the length of each grow with the text.
    max_characters: int = 20_000

    def __post_init__(self) -> None:
        check_choice("marks", self.marks, Marks)
        check_choice("extent", self.extent, Extent)

    def not_applicable(self, text: str) -> str | None:
        """The marks are those of Latin script."""
        return not_latin(text)

    def parts(self, generator: random.Random) -> Parts:
        """Every change of the marks; nothing is drawn."""
        from perturbations.search import BestCandidate
        from perturbations.transformations import Rewrites

        return Parts(Rewrites(self.rewritten), [], BestCandidate())

    def rewritten(self, text: str) -> Iterator[str]:
        """The text after each change.

        Examples
        --------
        >>> list(Punctuation(marks="commas").rewritten("a, b, and c, but short"))
        ['a, b and c, but short', 'a, b, and c but short']
        >>> list(Punctuation(marks="commas", extent="all").rewritten("a, b, and c, but short"))
        ['a, b and c but short']
        """
        from perturbations.transformations import TOKEN

        apart = {place for token in TOKEN.finditer(text) for place in range(*token.span())}
        for kind in CHANGES if self.marks == "any" else [self.marks]:
            end = before_tokens(text) if kind == "final" else len(text)
            for pattern, new in CHANGES[kind]:
                if new == "." and end < len(text.rstrip()):
                    continue  # a handle or hashtag behind may belong to the sentence
                every = re.finditer(pattern, text[:end], re.IGNORECASE)
                matches = [
                    mark for mark in every if apart.isdisjoint({mark.start(), mark.end() - 1})
                ]
                groups = [matches] if self.extent == "all" else [[match] for match in matches]
                yield from (
                    replaced(text[:end], group, new) + text[end:] for group in groups if group
                )


def before_tokens(text: str) -> int:
    """Where the text ends but for the handles, hashtags and links behind it.

    One that a mark ends is part of the sentence.

    Examples
    --------
    >>> before_tokens("A film! #new @her"), before_tokens("A film by @her!")
    (7, 15)
    """
    from perturbations.transformations import TOKEN

    pieces = list(re.finditer(r"\S+", text))
    while pieces and TOKEN.match(pieces[-1][0]) and pieces[-1][0][-1] not in ".!?…":
        pieces.pop()
    return pieces[-1].end() if pieces else 0


def replaced(text: str, matches: Sequence[re.Match[str]], new: str) -> str:
    """The text with the new mark in place of each match; after a space where its marks have one.

    Examples
    --------
    >>> text = "slow but short ."
    >>> replaced(text, list(re.finditer("(?= but)", text)), ",")
    'slow , but short .'
    """
    space = " " if SPACED.search(text) else ""
    for match in reversed(matches):
        mark = match.expand(new) if match[0] else space + new
        text = text[: match.start()] + mark + text[match.end() :]
    return text
