"""Models of users whose tokens, choices and names are not what they should be."""

import itertools
import sys

from hostile.strange_models import Endless, Evil, EvilText
from toy_models import Chooser, Reference, Speaker

from scope.records import Answer, Prediction

TOKENS = {
    "none": None,
    "empty": {},
    "text": "and",
    "list": ["and"],
    "pairs": [("and", 0.5)],
    "negative": {"and": -0.5},
    "more_than_one": {"and": 0.9, "but": 0.9},
    "nan": {"and": float("nan")},
    "huge": {"and": 10**400},
    "texts": {"and": "0.5"},
    "nones": {"and": None},
    "booleans_too_many": {"and": True, "but": True},
    "evil": {"and": Evil()},
    "evil_itself": Evil(),
    "zero": {"and": 0.0},
    "infinite": {"and": float("inf")},
}
for name, answer in TOKENS.items():
    globals()[f"tokens_{name}"] = type(
        "Tokens",
        (Speaker,),
        {"predict_next": lambda self, texts, answer=answer: [answer] * len(texts)},
    )()

GOOD_TOKENS = {
    "surrogates": {chr(0xD800): 0.5, chr(0xDFFF): 0.25},
    "nul": {"\0": 0.5},
    "numbers": {1: 0.5, 2: 0.25},
    "mixed": {1: 0.25, "a": 0.25, None: 0.25},
    "colours": {"\x1b[31m": 0.5},
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
    "number": lambda questions: 0,
    "text": lambda questions: "A" * len(questions),
    "mapping": lambda questions: dict.fromkeys(range(len(questions)), 0),
    "few": lambda questions: [0] * (len(questions) - 1),
    "many": lambda questions: [0] * (len(questions) + 1),
    "endless": lambda questions: itertools.repeat(0),
    "endless_object": lambda questions: Endless(),
    "stopping": choices_that_stop,
    "out_of_range": lambda questions: [99] * len(questions),
    "below": lambda questions: [-1] * len(questions),
    "unwritable": lambda questions: [10**5000] * len(questions),
    "float": lambda questions: [0.5] * len(questions),
    "nan": lambda questions: [float("nan")] * len(questions),
    "unknown": lambda questions: ["no such option"] * len(questions),
    "surrogates": lambda questions: ["\ud800"] * len(questions),
    "evil": lambda questions: [Evil()] * len(questions),
    "evil_text": lambda questions: [EvilText("A")] * len(questions),
    "shares_of_three": lambda questions: [[0.5, 0.25, 0.25]] * len(questions),
    "shares_huge": lambda questions: [[10**400, 0]] * len(questions),
    "shares_of_texts": lambda questions: [["0.5", "0.5"]] * len(questions),
    "shares_nan": lambda questions: [[float("nan"), 1.0]] * len(questions),
    "answer_of_text": lambda questions: [Answer(text="yes")] * len(questions),
    "answer_of_evil": lambda questions: [Answer(choice=Evil())] * len(questions),
}
for name, answer in CHOICES.items():
    globals()[f"choices_{name}"] = type(
        "Choices", (Chooser,), {"choose": lambda self, questions, answer=answer: answer(questions)}
    )()


class EndingList(list):
    """Ends the program when it is counted or walked through."""

    def __len__(self):
        raise SystemExit(0)

    __iter__ = __len__


class EndingPlace(int):
    __hash__ = None

    def __index__(self):
        raise SystemExit(0)


for name, answers in {
    "list": EndingList(),
    "pairs": [EndingList([0, Answer(choice=0)])],
    "probabilities": [(0, Answer(choice=0, probabilities=EndingList([0.5, 0.5])))],
}.items():
    globals()[f"ending_{name}"] = type(
        "Ending",
        (Chooser,),
        {
            "spec": f"python:hostile.strange_answers:ending_{name}",
            "fingerprint": name,
            "choose": lambda self, questions, answers=answers: answers,
        },
    )()


class Complete(Reference):
    spec = "python:hostile.strange_models:complete"
    fingerprint = "complete"

    def classify(self, texts):
        return [Prediction(probabilities=tuple(row)) for row in super().classify(texts)]


COMPLETE = {
    "spec_none": {"spec": None},
    "spec_surrogates": {"spec": "python:\ud800"},
    "spec_exit": {"spec": property(lambda self: sys.exit(0))},
    "fingerprint_number": {"fingerprint": 3},
    "fingerprint_nul": {"fingerprint": "a\0b"},
    "fingerprint_exit": {"fingerprint": property(lambda self: sys.exit(0))},
    "fingerprint_evil": {"fingerprint": EvilText("complete")},
    "reproducible_exit": {"reproducible": property(lambda self: sys.exit(0))},
    "labels_number": {"labels": 3},
    "gives_none": {"classify": lambda self, texts: None},
    "gives_rows": {"classify": lambda self, texts: [[0.5, 0.5]] * len(texts)},
    "gives_few": {"classify": lambda self, texts: []},
    "gives_endless": {
        "classify": lambda self, texts: itertools.repeat(Prediction(probabilities=(0.5, 0.5)))
    },
    "gives_texts": {
        "classify": lambda self, texts: [Prediction(probabilities=("a", "b"))] * len(texts)
    },
    "gives_nan": {
        "classify": lambda self, texts: [Prediction(probabilities=(float("nan"), 1.0))] * len(texts)
    },
    "stream_exit": {"stream": lambda self, texts: sys.exit(0)},
    "stream_none": {"stream": lambda self, texts: None},
    "stream_of_texts": {"stream": lambda self, texts: iter("ab")},
    "stream_of_ending_pairs": {"stream": lambda self, texts: iter([EndingList([0, 1])])},
    "stream_of_ending_places": {
        "stream": lambda self, texts: (
            (EndingPlace(place), one) for place, one in enumerate(self.classify(texts))
        )
    },
    "stream_stops": {"stream": lambda self, texts: choices_that_stop(texts)},
}
for name, changes in COMPLETE.items():
    globals()[f"complete_{name}"] = type("Changed", (Complete,), changes)()
