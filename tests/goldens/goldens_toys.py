"""Models of a few lines for the goldens, copied beside the data as the module `toys`.

All arithmetic is exact: weights are whole numbers, probabilities are multiples of a power of two,
so that each processor gives the same bits. As specs: `python:toys:Reference` and so on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

GOOD = ("wonderful", "charming", "funny", "brilliant")
BAD = ("dreadful", "tedious", "hollow", "dull")


def weight(word: str, salt: str, bound: int = 1) -> int:
    """A whole number from -bound to bound that the word and the salt decide."""
    digest = hashlib.sha256(f"{salt}:{word}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % (2 * bound + 1) - bound


def ranked_shares(pulls: Sequence[int]) -> list[float]:
    """1/2 for the greatest, 1/4 for the next, and so on; the last two get the same."""
    order = sorted(range(len(pulls)), key=lambda place: (-pulls[place], place))
    shares = [0.0] * len(pulls)
    for rank, place in enumerate(order):
        shares[place] = 0.5 ** min(rank + 1, len(pulls) - 1)
    return shares


class Reference:
    """Adds up whole numbers, one a word; probabilities are odd multiples of 1/64."""

    labels: ClassVar[tuple[str, ...]] = ("negative", "positive")
    salt: ClassVar[str] = "reference"
    unknown: ClassVar[frozenset[str]] = frozenset({"funny"})
    scale: ClassVar[int] = 64

    def points(self, text: str) -> int:
        """Above zero where the text is positive; odd, so that there is no tie."""
        words = text.lower().split()
        judged = sum(4 * ((word in GOOD) - (word in BAD)) for word in words if self.knows(word))
        return 2 * (judged + sum(weight(word, self.salt) for word in words)) + 1

    def knows(self, word: str) -> bool:
        """Whether the word's judgement counts."""
        return word not in self.unknown

    def classify(self, texts: Sequence[str]) -> list[list[float]]:
        """One row of two probabilities a text."""
        positive = [0.5 + max(-31, min(31, self.points(text))) / self.scale for text in texts]
        return [[1 - one, one] for one in positive]


class Student(Reference):
    """The reference, half as sure, with labels in capitals and the other order."""

    labels: ClassVar[tuple[str, ...]] = ("POSITIVE", "NEGATIVE")
    scale: ClassVar[int] = 128

    def classify(self, texts: Sequence[str]) -> list[list[float]]:
        """The rows the other way round."""
        return [row[::-1] for row in super().classify(texts)]


class Stranger(Reference):
    """Other weights, and another word that it does not know."""

    salt: ClassVar[str] = "stranger"
    unknown: ClassVar[frozenset[str]] = frozenset({"tedious"})


class Constant(Reference):
    """Finds every text positive."""

    def points(self, text: str) -> int:
        """The same of all."""
        return 9


class OtherLabels(Reference):
    """Labels that nothing maps."""

    labels: ClassVar[tuple[str, ...]] = ("LABEL_0", "LABEL_1")


class NotANumber(Reference):
    """No probabilities at all."""

    def classify(self, texts: Sequence[str]) -> list[list[float]]:
        """Rows that cannot be read."""
        return [[float("nan"), float("nan")] for _ in texts]


class Speaker:
    """A language model that ranks a few next words by the words before."""

    salt: ClassVar[str] = "speaker"
    words: ClassVar[tuple[str, ...]] = ("and", "but", "so", "then", "while")

    def predict_next(self, texts: Sequence[str]) -> list[dict[str, float]]:
        """Shares of the next words; an eighth is left to words that it does not name."""
        return [self.shares(text) for text in texts]

    def shares(self, text: str) -> dict[str, float]:
        """Of one text."""
        before = text.lower().split()
        pulls = [self._pull(before, word) for word in self.words]
        shares = ranked_shares(pulls)
        return {f" {word}": 0.875 * share for word, share in zip(self.words, shares, strict=True)}

    def _pull(self, before: Sequence[str], word: str) -> int:
        return sum(weight(f"{one} {word}", self.salt, 50) for one in before)


class YoungSpeaker(Speaker):
    """The speaker, with a word that it lacks and without one that it has."""

    words: ClassVar[tuple[str, ...]] = ("and", "but", "so", "then", "or")


class Babbler(Speaker):
    """Other ranks: agrees by chance alone."""

    salt: ClassVar[str] = "babbler"


class Reader:
    """Answers with a word of the passage, and ranks options."""

    salt: ClassVar[str] = "reader"

    def answer(self, questions: Sequence[Any]) -> list[Any]:
        """A word of each passage."""
        return [self._pick(one.context.split(), one.text) for one in questions]

    def fill(self, questions: Sequence[Any]) -> list[Any]:
        """A word of each sentence."""
        words = ([word for word in one.text.split() if word.isalpha()] for one in questions)
        return [self._pick(one, "") for one in words]

    def choose(self, questions: Sequence[Any]) -> list[list[float]]:
        """Probabilities of each question's options."""
        return [
            ranked_shares([weight(one.text + option, self.salt, 1000) for option in one.options])
            for one in questions
        ]

    def _pick(self, words: Sequence[str], text: str) -> str:
        return max(words, key=lambda word: (weight(word + text, self.salt, 1000), word))


class Skimmer(Reader):
    """Other ranks: agrees by chance alone."""

    salt: ClassVar[str] = "skimmer"


class Silent(Reader):
    """Leaves some questions without an answer."""

    def answer(self, questions: Sequence[Any]) -> list[Any]:
        """None is no answer."""
        return self._some(questions, super().answer(questions))

    def fill(self, questions: Sequence[Any]) -> list[Any]:
        """None is no answer."""
        return self._some(questions, super().fill(questions))

    def _some(self, questions: Sequence[Any], texts: Sequence[str]) -> list[Any]:
        kept = (weight(one.text, "silent") > -1 for one in questions)
        return [text if said else None for said, text in zip(kept, texts, strict=True)]


class Bags:
    """Three layers of width 8: all words alike, words by place, and the first word."""

    name: ClassVar[str] = "Bags"
    precision = "float32"

    @property
    def spec(self) -> str:
        """What stands on the command line."""
        return f"python:toys:{self.name}"

    @property
    def fingerprint(self) -> str:
        """What tells it from another model."""
        return f"toy-{self.name}"

    def latents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of layers a text."""
        return np.stack([self._layers(text) for text in texts]).astype(np.float32)

    def truncated(self, texts: Sequence[str]) -> list[bool]:
        """None of them."""
        return [False for _ in texts]

    def _layers(self, text: str) -> NDArray[np.float64]:
        words = np.stack([self._vector(word) for word in text.split()])
        halved = words * 0.5 ** np.arange(len(words))[:, None]
        return np.stack([words.sum(axis=0), halved.sum(axis=0), words[0]])

    def _vector(self, word: str) -> NDArray[np.float64]:
        digest = hashlib.sha256(f"{self.name}:{word}".encode()).digest()
        return np.frombuffer(digest[:8], dtype=np.uint8) / 128 - 1
