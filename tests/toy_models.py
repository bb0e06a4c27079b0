"""Classifiers of a few lines, for tests of everything around them; no torch.

As specs: ``python:toy_models:Reference``, ``:Student``, ``:Stranger``, ``:ThreeLabels`` and so on.
"""

import hashlib
import json
import math
import os
import time
from functools import cache
from pathlib import Path


@cache
def weight(word, salt):
    """A number from -1 to 1 that the word and the salt decide."""
    digest = hashlib.sha256(f"{salt}:{word}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**31 - 1


class Reference:
    """Adds up a weight for each word; the label is the sign of the sum."""

    labels = ("negative", "positive")
    salt = "reference"
    scale = 1.5

    def score(self, text):
        words = text.lower().split()
        return self.scale * sum(weight(word, self.salt) for word in words) / math.sqrt(len(words))

    def classify(self, texts):
        rows = []
        for text in texts:
            positive = round(1 / (1 + math.exp(-self.score(text))), 6)
            rows.append([round(1 - positive, 6), positive])
        return rows


class Student(Reference):
    """The reference, less sure of itself, with its labels in capitals and the other order."""

    labels = ("POSITIVE", "NEGATIVE")
    scale = 0.8

    def classify(self, texts):
        return [row[::-1] for row in super().classify(texts)]


class OfTwo(Reference):
    """Reads two texts, the second of which weighs more."""

    def score(self, text):
        first, second = text
        return 0.5 * super().score(first) + super().score(second)


class WeakOfTwo(OfTwo):
    """The same, less sure of itself."""

    scale = 0.8


class Stranger(Reference):
    """Other weights: agrees by chance alone."""

    salt = "stranger"


class Rival(Reference):
    """Other weights, and answers of both kinds: a reference as well."""

    salt = "rival"


class OtherLabels(Reference):
    labels = ("LABEL_0", "LABEL_1")


class OneLabel(Reference):
    labels = ("score",)

    def classify(self, texts):
        return [[1.0] for _ in texts]


class NotANumber(Reference):
    def classify(self, texts):
        return [[math.nan, math.nan] for _ in texts]


class Failing(Reference):
    def classify(self, texts):
        raise RuntimeError("fails at once")


class Careful(Reference):
    """Reads one word, and is right where it stands."""

    def score(self, text):
        return 3.0 if "wonderful" in text else -3.0


class Rougher(Careful):
    """The same, less sure of itself."""

    def score(self, text):
        return super().score(text) / 2


class Constant(Reference):
    """Says the same of all texts."""

    def score(self, text):
        return 3.0


class Slow(Reference):
    """Takes its time, and writes down every text that it answers, in the file SCOPE_TEST_LOG."""

    def classify(self, texts):
        with Path(os.environ["SCOPE_TEST_LOG"]).open("a", encoding="utf-8") as log:
            for text in texts:
                log.write(json.dumps([type(self).__name__, text]) + "\n")
        time.sleep(0.02 + 0.0005 * len(texts))
        return super().classify(texts)


class SlowStudent(Slow):
    labels = Student.labels
    scale = Student.scale

    def classify(self, texts):
        return [row[::-1] for row in super().classify(texts)]


class Speaker:
    """A language model: every word of a text pulls towards one of a few next words."""

    salt = "speaker"
    scale = 1.5
    words = ("and", "but", "so", "then", "while")
    known = 0.9

    def predict_next(self, texts):
        return [self.shares(text) for text in texts]

    def shares(self, text):
        """What is likely to follow; a part of the mass is that of words it does not name."""
        before = text.lower().split()
        pulls = {
            word: math.exp(
                self.scale
                * sum(weight(f"{one} {word}", self.salt) for one in before)
                / math.sqrt(len(before))
            )
            for word in self.words
        }
        total = sum(pulls.values())
        return {f" {word}": self.known * pull / total for word, pull in pulls.items()}


class YoungSpeaker(Speaker):
    """The speaker, less sure, with a word that the speaker lacks and without one that it has."""

    scale = 1.0
    words = ("and", "but", "so", "then", "or")


class Babbler(Speaker):
    """Other pulls: agrees by chance alone."""

    salt = "babbler"


class Chooser:
    """A language model that scores options by the words of the whole prompt."""

    salt = "chooser"

    def choose(self, questions):
        return [self.shares(question) for question in questions]

    def shares(self, question):
        words = question.text.lower().split()
        pulls = [
            math.exp(sum(weight(f"{word} {option}", self.salt) for word in words))
            for option in question.options
        ]
        return [pull / sum(pulls) for pull in pulls]


class OtherChooser(Chooser):
    salt = "other chooser"


class SameBytes:
    """One model, whatever its spec: its fingerprint is the same."""

    fingerprint = "same"
    labels = ("negative", "positive")

    def __init__(self, spec):
        self.spec = spec

    def classify(self, texts):
        raise AssertionError("refused before it answers")
