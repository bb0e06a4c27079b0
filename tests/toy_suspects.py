"""Models for tests of reuse, in a few lines each: many of equal skill, and copies of one; no torch.

As specs: ``python:toy_suspects:Pupil0``, ``:Pupil1`` and so on label texts, each with views of its
own; ``:Talker0`` ... go on with texts; ``:Reader0`` ... answer questions on a passage.
"""

import json
import math
import os
import time
from pathlib import Path

from toy_answerers import Reader
from toy_models import Speaker, weight

from scope.records import Answer, Prediction

TAUGHT = {"wonderful": 2, "charming": 2, "funny": 2, "brilliant": 2}
TAUGHT |= {"dreadful": -2, "tedious": -2, "hollow": -2, "dull": -2}
"""What every pupil is taught; what it makes of all other words is its own."""


class Pupil:
    """Knows the words that it was taught, less well each, and has a view of every other word."""

    labels = ("negative", "positive")
    salt = "Pupil0"

    def score(self, text):
        words = text.lower().split()
        own = (weight(word, self.salt) for word in words)
        taught = (TAUGHT.get(word, 0) * (1 + weight(word, self.salt)) / 2 for word in words)
        return sum(own) + sum(taught)

    def shares(self, text):
        positive = round(1 / (1 + math.exp(-self.score(text))), 6)
        return [round(1 - positive, 6), positive]

    def classify(self, texts):
        return [self.shares(text) for text in texts]


class Copy(Pupil):
    """The pupil number 0, whose labels have no names, in the other order."""

    labels = ("LABEL_0", "LABEL_1")

    def shares(self, text):
        return super().shares(text)[::-1]


class Stubborn(Pupil):
    """Says one thing."""

    def shares(self, text):
        return [0.25, 0.75]


class SlowPupil(Pupil):
    """The pupil number 0, slowly; writes down every text, in the file SCOPE_TEST_LOG."""

    def classify(self, texts):
        with Path(os.environ["SCOPE_TEST_LOG"]).open("a", encoding="utf-8") as log:
            for text in texts:
                log.write(json.dumps([type(self).__name__, text]) + "\n")
        time.sleep(0.1)
        return super().classify(texts)


def __getattr__(name):
    """As many models of a kind as are asked for, such as ``Pupil7``."""
    kind = name.rstrip("0123456789")
    kinds = {"Pupil": Pupil, "Talker": Speaker, "Reader": Reader}
    if kind == name or kind not in kinds:
        raise AttributeError(name)
    return type(name, (kinds[kind],), {"salt": name})


class Counting:
    """A saved or made-up list of choices that counts how often each question is put to it."""

    def __init__(self, name, answers):
        self.spec = self.fingerprint = name
        self._answers = answers
        self.asked = []

    def choose(self, questions):
        for place, question in enumerate(questions):
            self.asked.append(question.text)
            yield place, Answer(choice=int(self._answers[int(question.id.removeprefix("q"))]))


class CountingPupil:
    """A pupil that counts how often each text is put to it."""

    def __init__(self, pupil, name):
        self.spec = self.fingerprint = name
        self.labels = pupil.labels
        self._pupil = pupil
        self.asked = []

    def classify(self, texts):
        self.asked += texts
        return [Prediction(probabilities=tuple(row)) for row in self._pupil.classify(texts)]
