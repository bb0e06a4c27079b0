"""Models of users who mean no good, or no harm: every object here fails in a way of its own."""

import itertools
import os
import sys
import time
from decimal import Decimal
from pathlib import Path

import numpy as np
from toy_models import Chooser, Reference, Speaker

from scope.records import Answer, Prediction


class UnsayableError(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


class OwnEnd(BaseException):
    pass


def deep(_=0):
    return deep(_ + 1)


FAILURES = {
    "exit_0": lambda: sys.exit(0),
    "exit_none": sys.exit,
    "exit_text": lambda: sys.exit("all is well"),
    "generator_exit": lambda: (_ for _ in ()).throw(GeneratorExit("left")),
    "own_end": lambda: (_ for _ in ()).throw(OwnEnd("mine")),
    "recursion": deep,
    "memory": lambda: (_ for _ in ()).throw(MemoryError("too much")),
    "unsayable": lambda: (_ for _ in ()).throw(UnsayableError()),
    "ten_megabytes": lambda: (_ for _ in ()).throw(ValueError("x" * 10_000_000)),
    "many_lines": lambda: (_ for _ in ()).throw(ValueError("line\n" * 10_000)),
    "surrogates": lambda: (_ for _ in ()).throw(ValueError("\ud800\udfff")),
    "colours": lambda: (_ for _ in ()).throw(ValueError("\x1b[31mred\x1b]0;title\x07")),
    "several": lambda: (_ for _ in ()).throw(BaseExceptionGroup("both", [SystemExit(0)])),
    "system": Path("/nonexistent/file").read_text,
    "division": lambda: 1 / 0,
}


class Evil:
    """A value that ends the program whatever is done with it."""

    def _end(self, *_):
        raise SystemExit(0)

    __float__ = __index__ = __iter__ = __len__ = __str__ = __repr__ = __array__ = _end
    __bool__ = __eq__ = __lt__ = __add__ = _end
    __hash__ = None


class EvilText(str):
    __slots__ = ()

    def strip(self, *_):
        raise SystemExit(0)

    __str__ = __repr__ = __format__ = casefold = encode = strip


def failing(base, method, failure):
    return type(f"Failing{base.__name__}", (base,), {method: lambda self, *_: failure()})


for name, failure in FAILURES.items():
    globals()[f"classify_{name}"] = failing(Reference, "classify", failure)()
    globals()[f"choose_{name}"] = failing(Chooser, "choose", failure)()
    globals()[f"next_{name}"] = failing(Speaker, "predict_next", failure)()
    globals()[f"Made_{name}"] = failing(Reference, "__init__", failure)
    globals()[f"labels_{name}"] = type(
        "Labelled", (Reference,), {"labels": property(lambda self, end=failure: end())}
    )()


def labels_that_stop():
    yield "negative"
    raise SystemExit(0)


LABELS = {
    "none": None,
    "number": 3,
    "text": "positive",
    "bytes": b"positive",
    "mapping": {"negative": 0, "positive": 1},
    "empty": (),
    "one": ("positive",),
    "same": ("positive", "positive"),
    "surrogates": ("negative", "positive\ud800"),
    "nul": ("negative", "posi\0tive"),
    "of_none": (None, None),
    "of_floats": (0.5, 1.5),
    "of_bytes": (b"negative", b"positive"),
    "nested": (("negative",), ("positive",)),
    "evil": Evil(),
    "of_evil": (Evil(), Evil()),
    "endless": itertools.count(),
    "endless_texts": itertools.cycle(["negative", "positive"]),
    "object": object(),
    "class": list,
    "thirty": tuple(f"label {number}" for number in range(30)),
    "long": ("negative" * 100_000, "positive"),
    "lines": ("negative\n" * 100, "positive"),
    "colours": ("\x1b[31mnegative", "positive"),
}
for name, value in LABELS.items():
    globals()[f"labelled_{name}"] = type("Labelled", (Reference,), {"labels": value})()

globals()["labelled_stopping"] = type("Labelled", (Reference,), {"labels": labels_that_stop()})()


class Endless:
    def __iter__(self):
        return itertools.repeat([0.5, 0.5])


def rows_that_stop(texts):
    yield [0.5, 0.5]
    raise SystemExit(0)


def holding_itself(_):
    rows = [0.5]
    rows.append(rows)
    return rows


ROWS = {
    "none": lambda texts: None,
    "number": lambda texts: 0.5,
    "text": lambda texts: "0.5",
    "texts": lambda texts: [["0.5", "0.5"]] * len(texts),
    "bytes": lambda texts: [[b"0.5", b"0.5"]] * len(texts),
    "huge": lambda texts: [[10**400, 1]] * len(texts),
    "unwritable": lambda texts: [[10**5000, 1]] * len(texts),
    "infinite": lambda texts: [[float("inf"), 0]] * len(texts),
    "nan": lambda texts: [[float("nan"), 1]] * len(texts),
    "nones": lambda texts: [[None, 1]] * len(texts),
    "complex": lambda texts: [[1j, 1]] * len(texts),
    "negative": lambda texts: [[-0.5, 1.5]] * len(texts),
    "scores": lambda texts: [[3.0, 4.0]] * len(texts),
    "nested": lambda texts: [[[0.5, 0.5]]] * len(texts),
    "ragged": lambda texts: [[0.5, 0.5], [1.0]] * len(texts),
    "few": lambda texts: [[0.5, 0.5]] * (len(texts) - 1),
    "many": lambda texts: [[0.5, 0.5]] * (len(texts) + 1),
    "empty": lambda texts: [],
    "three": lambda texts: [[0.5, 0.25, 0.25]] * len(texts),
    "mapping": lambda texts: [{"negative": 0.5, "positive": 0.5}] * len(texts),
    "objects": lambda texts: np.array([[object(), object()]] * len(texts), dtype=object),
    "decimals": lambda texts: [[Decimal("0.5"), Decimal("0.5")]] * len(texts),
    "dates": lambda texts: np.array([["2020-01-01"] * 2] * len(texts), dtype="datetime64[D]"),
    "structured": lambda texts: np.zeros(len(texts), dtype=[("a", float), ("b", float)]),
    "evil": lambda texts: Evil(),
    "evils": lambda texts: [[Evil(), Evil()]] * len(texts),
    "generator": rows_that_stop,
    "endless_generator": lambda texts: itertools.repeat([0.5, 0.5]),
    "endless_object": lambda texts: Endless(),
    "itself": holding_itself,
    "type": lambda texts: list,
    "predictions": lambda texts: [Prediction(probabilities=(0.5, 0.5))] * len(texts),
    "coroutine": lambda texts: _coroutine(),
}


async def _coroutine():
    return [[0.5, 0.5]]


for name, answer in ROWS.items():
    globals()[f"rows_{name}"] = type(
        "Rows", (Reference,), {"classify": lambda self, texts, answer=answer: answer(texts)}
    )()

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
    "stream_stops": {"stream": lambda self, texts: choices_that_stop(texts)},
}
for name, changes in COMPLETE.items():
    globals()[f"complete_{name}"] = type("Changed", (Complete,), changes)()


def disturbing(disturb):
    """A model that works, and disturbs its surroundings at every call."""

    def classify(self, texts):
        disturb()
        return Reference.classify(self, texts)

    return type("Disturbing", (Reference,), {"classify": classify, "labels": Reference.labels})()


class NoLonger:
    def write(self, text):
        raise SystemExit(0)

    def flush(self):
        raise SystemExit(0)


def print_much():
    sys.stdout.write("not a result " * 20_000)


def _exchange_streams():
    sys.stdout = sys.stderr = NoLonger()


def _remove_streams():
    sys.stdout = sys.stderr = None


def _clear_the_path():
    sys.path.clear()


def _replace_the_path():
    sys.path = ["/nonexistent"]


def _leave():
    os.chdir("/")


def _leave_and_remove():
    Path("left").mkdir(exist_ok=True)
    os.chdir("left")
    Path.cwd().rmdir()


def _close_output():
    sys.stdout.close()


def _close_error():
    sys.stderr.close()


def _close_descriptors():
    for number in (0, 1, 2):
        try:
            os.close(number)
        except OSError:
            time.sleep(0)


DISTURBANCES = {
    "prints_much": print_much,
    "changes_the_folder": _leave,
    "leaves_a_folder_that_goes": _leave_and_remove,
    "clears_the_path": _clear_the_path,
    "replaces_the_path": _replace_the_path,
    "puts_texts_on_the_path": lambda: sys.path.insert(0, str(Path.cwd())),
    "closes_standard_output": _close_output,
    "closes_standard_error": _close_error,
    "closes_the_first_streams": lambda: (sys.__stdout__.close(), sys.__stderr__.close()),
    "closes_descriptors": _close_descriptors,
    "exchanges_streams": _exchange_streams,
    "removes_streams": _remove_streams,
    "writes_bytes": lambda: os.write(2, b"\xff\xfe"),
    "writes_surrogates": lambda: sys.stdout.write("\ud800 \x00"),
}
for name, disturb in DISTURBANCES.items():
    globals()[f"disturbs_{name}"] = disturbing(disturb)
