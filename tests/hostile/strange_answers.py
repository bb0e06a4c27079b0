"""Models of users whose tokens, choices and names are not what they should be."""

import itertools
import sys

from hostile.strange_models import Evil
from toy_models import Chooser, Reference, Speaker

from scope.records import Prediction

TOKENS = {
    "none": None,
    "empty": {},
    "more_than_one": {"and": 0.9, "but": 0.9},
    "nan": {"and": float("nan")},
    "huge": {"and": 10**400},
    "evil": {"and": Evil()},
}
for name, answer in TOKENS.items():
    globals()[f"tokens_{name}"] = type(
        "Tokens",
        (Speaker,),
        {"predict_next": lambda self, texts, answer=answer: [answer] * len(texts)},
    )()

GOOD_TOKENS = {
    "surrogates": {chr(0xD800): 0.5, chr(0xDFFF): 0.25},
    "numbers": {1: 0.5, 2: 0.25},
    "empty": {"": 0.5},
}
for name, answer in GOOD_TOKENS.items():
    globals()[f"good_tokens_{name}"] = type(
        "Tokens",
        (Speaker,),
        {"predict_next": lambda self, texts, answer=answer: [answer] * len(texts)},
    )()


def choices_that_stop(questions):
    yield 0
    raise SystemExit(0)


CHOICES = {
    "none_at_all": lambda questions: None,
    "few": lambda questions: [0] * (len(questions) - 1),
    "many": lambda questions: [0] * (len(questions) + 1),
    "endless": lambda questions: itertools.repeat(0),
    "stopping": choices_that_stop,
    "out_of_range": lambda questions: [99] * len(questions),
    "unwritable": lambda questions: [10**5000] * len(questions),
    "nan": lambda questions: [float("nan")] * len(questions),
    "unknown": lambda questions: ["no such option"] * len(questions),
    "evil": lambda questions: [Evil()] * len(questions),
    "shares_of_three": lambda questions: [[0.5, 0.25, 0.25]] * len(questions),
    "shares_nan": lambda questions: [[float("nan"), 1.0]] * len(questions),
}
for name, answer in CHOICES.items():
    globals()[f"choices_{name}"] = type(
        "Choices", (Chooser,), {"choose": lambda self, questions, answer=answer: answer(questions)}
    )()


class Complete(Reference):
    spec = "python:hostile.strange_models:complete"
    fingerprint = "complete"

    def classify(self, texts):
        return [Prediction(probabilities=tuple(row)) for row in super().classify(texts)]


COMPLETE = {
    "spec_none": {"spec": None},
    "fingerprint_nul": {"fingerprint": "a\0b"},
    "reproducible_exit": {"reproducible": property(lambda self: sys.exit(0))},
    "gives_none": {"classify": lambda self, texts: None},
    "gives_endless": {
        "classify": lambda self, texts: itertools.repeat(Prediction(probabilities=(0.5, 0.5)))
    },
    "gives_nan": {
        "classify": lambda self, texts: [Prediction(probabilities=(float("nan"), 1.0))] * len(texts)
    },
    "stream_exit": {"stream": lambda self, texts: sys.exit(0)},
    "stream_stops": {"stream": lambda self, texts: choices_that_stop(texts)},
}
for name, changes in COMPLETE.items():
    globals()[f"complete_{name}"] = type("Changed", (Complete,), changes)()
