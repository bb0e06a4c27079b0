"""Models of users who mean no good, or no harm: every object here fails in a way of its own."""

import itertools
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
from greenlet import GreenletExit
from toy_models import Chooser, Reference, Speaker

from scope.records import Prediction


class UnsayableError(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


class OwnTraceError(Exception):
    @property
    def __traceback__(self):
        raise SystemExit(0)


class OwnEnd(BaseException):
    pass


def of_itself():
    error = ValueError("of itself")
    raise error from error


def behind_ctrl_c():
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        raise ValueError("too late")  # noqa: B904 - what is tried is the error's context


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
    "own_trace": lambda: (_ for _ in ()).throw(OwnTraceError("mine")),
    "of_itself": of_itself,
    "behind_ctrl_c": behind_ctrl_c,
    "greenlet": lambda: (_ for _ in ()).throw(GreenletExit("left")),
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
