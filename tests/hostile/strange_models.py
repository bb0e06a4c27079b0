"""Models of users who mean no good, or no harm: every object here fails in a way of its own."""

import itertools
import sys

from toy_models import Chooser, Reference, Speaker


class UnsayableError(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


def deep(_=0):
    return deep(_ + 1)


FAILURES = {
    "exit_0": lambda: sys.exit(0),
    "generator_exit": lambda: (_ for _ in ()).throw(GeneratorExit("left")),
    "recursion": deep,
    "unsayable": lambda: (_ for _ in ()).throw(UnsayableError()),
    "ten_megabytes": lambda: (_ for _ in ()).throw(ValueError("x" * 10_000_000)),
    "surrogates": lambda: (_ for _ in ()).throw(ValueError("\ud800\udfff")),
    "several": lambda: (_ for _ in ()).throw(BaseExceptionGroup("both", [SystemExit(0)])),
    "division": lambda: 1 / 0,
}


class Evil:
    """A value that ends the program whatever is done with it."""

    def _end(self, *_):
        raise SystemExit(0)

    __float__ = __index__ = __iter__ = __len__ = __str__ = __repr__ = __array__ = _end
    __bool__ = __eq__ = __lt__ = __add__ = _end
    __hash__ = None


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


LABELS = {
    "none": None,
    "text": "positive",
    "one": ("positive",),
    "same": ("positive", "positive"),
    "surrogates": ("negative", "positive\ud800"),
    "of_none": (None, None),
    "evil": Evil(),
    "endless": itertools.count(),
    "thirty": tuple(f"label {number}" for number in range(30)),
}
for name, value in LABELS.items():
    globals()[f"labelled_{name}"] = type("Labelled", (Reference,), {"labels": value})()


def holding_itself(_):
    rows = [0.5]
    rows.append(rows)
    return rows


ROWS = {
    "none": lambda texts: None,
    "texts": lambda texts: [["0.5", "0.5"]] * len(texts),
    "huge": lambda texts: [[10**400, 1]] * len(texts),
    "nan": lambda texts: [[float("nan"), 1]] * len(texts),
    "scores": lambda texts: [[3.0, 4.0]] * len(texts),
    "ragged": lambda texts: [[0.5, 0.5], [1.0]] * len(texts),
    "few": lambda texts: [[0.5, 0.5]] * (len(texts) - 1),
    "three": lambda texts: [[0.5, 0.25, 0.25]] * len(texts),
    "evil": lambda texts: Evil(),
    "endless_generator": lambda texts: itertools.repeat([0.5, 0.5]),
    "itself": holding_itself,
}


for name, answer in ROWS.items():
    globals()[f"rows_{name}"] = type(
        "Rows", (Reference,), {"classify": lambda self, texts, answer=answer: answer(texts)}
    )()
