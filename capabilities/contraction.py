"""*contraction*: does the answer stay when "it is" becomes "it's", or the other way round?

Of the changes of *CheckList* (arXiv 2005.04118), which TextAttack offers as ``WordSwapContract``
and ``WordSwapExtend``; its table is used. Only forms with one reading change: the 's of a noun
(a possessive as often as a verb), 'd (would or had), and 's before a participle (is or has) stay.
Nothing is shortened at the end of a clause ("as good as it is"), and no question is written out
("isn't it"). An invariance found here says that the reference reads both forms alike, not that
they are of one style.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from perturbations.capability import EditingCapability, check_choice
from perturbations.edits import Change, Edit, any_of, just_before, like

Direction = Literal["both", "shorten", "write_out"]

_SUBJECTS = frozenset((
    "i", "you", "he", "she", "it", "we", "they", "this", "that", "there", "anyone", "anybody",
    "someone",
))  # fmt: skip
_PARTICIPLE = re.compile(r"\s+(?:(?:not|never|ever|always|just|already|only|also|now|"
    r"still|since|long|\w+ly)\s+)*+(?:been|got|"
    r"gotten|had|become|gone|done|made|seen|come|lost|left|taken|given|\w{2,}ed|\w{2,}en)\b",
    re.IGNORECASE)  # fmt: skip
_CLAUSE_GOES_ON = re.compile(r"\s+\w")
_HOLDS_APART = re.compile(
    r"\b(?:(?:as|than|how|what|whatever|where|who)\s+(?:\w+\s+){0,2}|"
    r"(?:of|and|or|nor|between|like)\s+)$",
    re.IGNORECASE,
)
_ONLY = re.compile(r"\s+only\b", re.IGNORECASE)
_ASKS = re.compile(r"(?:(?:^|[.!?;:\"]\s*)|\bwhy\s+)$", re.IGNORECASE)
_TREEBANK = re.compile(r"\w n['’]t\b| ['’](?:s|re|ve|ll|m|d)\b", re.IGNORECASE)
"""A text that sets such endings apart."""


@dataclass(frozen=True, kw_only=True)
class Contraction(EditingCapability):
    """Shortens words as people do in speech, or writes such short forms out.

    Parameters
    ----------
    direction
        ``shorten`` makes contractions, ``write_out`` undoes them, ``both`` does either.
    max_characters
        Longest text that is searched.
    """

    name = "contraction"
    question = "Does the prediction stay the same when contractions are made or written out?"
    nothing = "no English contraction, and nothing to contract"
    groups = ("format",)
    example = ("It is a film I don't mind.", "It's a film I don't mind.")
    queries = 7
    accepted = "0.98 [0.91, 1.00] of 56 (κ 1.00; an awkward contraction)"

    direction: Direction = "both"

    def __post_init__(self) -> None:
        check_choice("direction", self.direction, Direction)

    def changes(self, text: str, generator: random.Random) -> Iterator[Change]:
        """Each contraction written out, and each pair of words contracted."""
        if self.direction != "shorten":
            yield from _written_out(text)
        if self.direction != "write_out":
            yield from _shortened(text)


def _written_out(text: str) -> Iterator[Change]:
    from perturbations.transformations import contractions

    for match in _pattern().finditer(text):
        short = re.sub(r"\s", "", match[0]).lower().replace("’", "'")
        after = text[match.end() :]
        next_word = re.match(r"\s+(\w+)", after)
        asks = short.endswith("n't") and (
            (next_word and next_word[1].lower() in _SUBJECTS)
            or (short != "don't" and just_before(_ASKS, text, match.start()))
        )
        has = short.endswith("'s") and _PARTICIPLE.match(after)
        if not (asks or has or short.endswith("'d")):
            long = contractions()[short]
            first = match[0][0] + long[1:]
            yield (Edit(*match.span(), long.upper() if match[0].isupper() else first),)


def _shortened(text: str) -> Iterator[Change]:
    from perturbations.transformations import contractions

    short_of = {long: short for short, long in contractions().items()}
    apart = _TREEBANK.search(text)
    for match in any_of([*short_of, "can not"]).finditer(text):
        long = " ".join(match[0].lower().split()).replace("can not", "cannot")
        ends = not _CLAUSE_GOES_ON.match(text, match.end())
        owns = long.endswith(" have") and not _PARTICIPLE.match(text, match.end())
        negated = long.endswith("not")
        may_not = long == "cannot" and _ONLY.match(text, match.end())  # "can not only sing"
        if (
            not ends
            and not owns
            and not may_not
            and (negated or not just_before(_HOLDS_APART, text, match.start()))
        ):
            short = short_of[long]
            if apart:
                short = re.sub(r"(n't|'\w+)$", r" \1", short)
            short = short.replace("'", "’") if "’" in text and "'" not in text else short
            yield (Edit(*match.span(), like(match[0], match[0][0] + short[1:])),)


def _pattern() -> re.Pattern[str]:
    """Every contraction, in one piece or, as in a treebank, in two."""
    from perturbations.transformations import contractions

    parts = (re.sub(r"(n't|'\w+)$", r" \1", short).split() for short in contractions())
    listed = "|".join(rf"{stem}\s?{end}" for stem, end in sorted(parts, reverse=True))
    listed = listed.replace("'", "['’]")
    return re.compile(rf"(?<![\w@#/'’-])(?ai:{listed})(?![\w'’-])")
