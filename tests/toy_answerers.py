"""Models that answer questions, in a few lines each; no torch.

As specs: ``python:toy_answerers:Reader``, ``:Skimmer``, ``:Guesser`` and so on.
"""

import json
import os
import time
from pathlib import Path

from toy_models import weight

from scope.records import BLANK, Answer


class Reader:
    """Answers with the word of the passage that the question's last word leads to."""

    salt = "reader"

    def answer(self, questions):
        return [self.pick(question.context.split(), question.text) for question in questions]

    def fill(self, questions):
        return [self.pick(question.text.replace(BLANK, "").split(), "") for question in questions]

    def choose(self, questions):
        return [self.choice(question) for question in questions]

    def pick(self, words, text):
        return max(words, key=lambda word: (weight(word + text, self.salt), word))

    def choice(self, question):
        pulls = [1.5 + weight(question.text + one, self.salt) for one in question.options]
        shares = [round(pull / sum(pulls), 6) for pull in pulls]
        shares[0] = round(1 - sum(shares[1:]), 6)
        best = max(range(len(shares)), key=shares.__getitem__)
        return Answer(choice=best, probabilities=tuple(shares))


class Skimmer(Reader):
    """Other weights: agrees by chance alone."""

    salt = "skimmer"


class Terse(Reader):
    """The reader, but it names its choices without probabilities, and often says nothing."""

    def choice(self, question):
        return Answer(choice=super().choice(question).choice)

    def pick(self, words, text):
        return Answer() if len(words) % 2 else Answer(text=super().pick(words, text))


class Wrong(Reader):
    """Chooses an option that is not there."""

    def choice(self, question):
        return Answer(choice=len(question.options))


class TooFew(Reader):
    """Leaves the last question out."""

    def choose(self, questions):
        return super().choose(questions)[:-1]


class Streaming:
    """Answers one question after the other, slowly, and writes down each, in SCOPE_TEST_LOG."""

    spec = "python:toy_answerers:Streaming"
    fingerprint = "streaming"

    def answer(self, questions):
        for place, question in enumerate(questions):
            with Path(os.environ["SCOPE_TEST_LOG"]).open("a", encoding="utf-8") as log:
                log.write(json.dumps([self.spec, question.text]) + "\n")
            time.sleep(0.02)
            yield place, Answer(text=Reader().pick(question.context.split(), question.text))


streaming = Streaming()
