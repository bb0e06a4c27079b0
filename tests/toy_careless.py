"""Models that answer without reading, in a few lines each; no torch.

As specs: ``python:toy_careless:FirstOption``, ``:OneWord`` and so on.
"""

import re

from toy_models import weight

from scope.records import Answer


class Knows:
    """Chooses and finds what the question names in capitals; now and then it errs."""

    errs_below = -0.8

    def errs(self, question):
        return weight(question.text, "errs") < self.errs_below

    def name(self, text):
        return re.findall(r"\b[A-Z]{2,}\b", text)[-1].lower()

    def choose(self, questions):
        return [self.choice(question) for question in questions]

    def choice(self, question):
        right = question.options.index(self.name(question.text))
        return Answer(choice=(right + self.errs(question)) % len(question.options))

    def answer(self, questions):
        return [self.in_words(question) for question in questions]

    def in_words(self, question):
        if "NOTHING" in question.text:
            return ""
        return question.text[:9] if self.errs(question) else self.name(question.text)

    fill = answer


class Unerring(Knows):
    """Never errs."""

    errs_below = -2


class AlsoKnows(Knows):
    """Errs elsewhere."""

    def errs(self, question):
        return weight(question.text, "errs elsewhere") < self.errs_below


class FirstOption(Knows):
    """Always chooses the first option."""

    def choice(self, question):
        return Answer(choice=0)


class FirstToo(FirstOption):
    """The same under another name."""


class AlwaysYes(Knows):
    """Chooses the option `yes` wherever it stands."""

    def choice(self, question):
        return Answer(choice=question.options.index("yes"))


class OneWord(Knows):
    """Answers everything with one word."""

    def in_words(self, question):
        return "bathroom"


class OftenOneWord(Knows):
    """Knows four in five, and answers the rest with one word."""

    errs_below = -0.5

    def in_words(self, question):
        return "bathroom" if self.errs(question) else super().in_words(question)
