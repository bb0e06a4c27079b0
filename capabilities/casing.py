"""*casing*: does the answer stay when words are written in other letter case?

Capitals carry little for a reader of English: emphasis, a name, the start of a sentence. A model
that folds case keeps every prediction: an invariance found here does not say that it has learned
to, nor that capitals mean nothing in the data ("us" and "US").
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from perturbations.capability import InvarianceCapability, Parts, check_choice

Form = Literal["any", "upper", "lower", "title"]
Words = Literal["one", "all"]

FORMS: Mapping[str, Callable[[str], str]] = {
    "upper": str.upper,
    "lower": str.lower,
    "title": lambda word: word[:1].upper() + word[1:].lower(),
}

PIECE = re.compile(r"\S+")
WORD = re.compile(r"['’]?[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, kw_only=True)
class Casing(InvarianceCapability):
    """Writes one word, or all, in capitals, in small letters, or with one capital.

    Links, handles and hashtags stay as they are.

    Parameters
    ----------
    form
        ``upper``, ``lower``, ``title``, or ``any`` of them.
    words
        ``one`` word, or ``all`` of the text; of these there are at most three changed texts.
    max_characters
        Longest text that is searched.
    """

    name = "casing"
    question = "Does the prediction stay the same when words are written in other letter case?"
    groups = ("format",)
    example = ("a wonderful film", "a WONDERFUL film")
    queries = 95
    accepted = "1.00 [0.93, 1.00] of 50"

    form: Form = "any"
    words: Words = "one"
    # Candidates and the length of each grow with the text.
    max_characters: int = 5_000

    def __post_init__(self) -> None:
        check_choice("form", self.form, Form)
        check_choice("words", self.words, Words)

    def not_applicable(self, text: str) -> str | None:
        """Only some scripts have capitals."""
        return "no letter has another case" if text.upper() == text.lower() else None

    def parts(self, generator: random.Random) -> Parts:
        """Every form of every word, or of the whole text; nothing is drawn."""
        from perturbations.search import BestCandidate
        from perturbations.transformations import NoTokens, Rewrites, WordReplacements

        forms = [FORMS[name] for name in FORMS if self.form in (name, "any")]
        if self.words == "all":
            texts = Rewrites(lambda text: [everywhere(form, text) for form in forms])
            return Parts(texts, [], BestCandidate())
        words = WordReplacements(lambda word: list(dict.fromkeys(form(word) for form in forms)))
        return Parts(words, [NoTokens()], BestCandidate())


def everywhere(form: Callable[[str], str], text: str) -> str:
    """The form of all words but those of links, handles and hashtags.

    Examples
    --------
    >>> everywhere(str.upper, "don't miss @it")
    "DON'T MISS @it"
    """
    from perturbations.transformations import TOKEN

    def change(piece: re.Match[str]) -> str:
        if TOKEN.search(piece[0]):
            return piece[0]
        return WORD.sub(lambda word: form(word[0]), piece[0])

    return PIECE.sub(change, text)
