"""Python models that end the program, answer nonsense, or disturb the process around them.

``python:hostile.of_model_objects:NAME`` is the model of a row.
"""

import itertools
import os
import sys
from pathlib import Path

from hostile.cases import WORKS, audit, case, chosen, file, has_report
from toy_models import Chooser, Reference

HERE = "python:hostile.of_model_objects:"
CHOOSER = "python:toy_models:Chooser"


class UnsayableError(Exception):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__


def throw(error):
    raise error


def endless_recursion():
    return endless_recursion()


def changed(base, **members):
    """A class with some members replaced."""
    return type("Changed", (base,), members)


def answering(base, method, answer):
    """A model whose method gives the function of its items."""
    return changed(base, **{method: lambda self, items: answer(items)})()


def exit_0(*_):
    sys.exit(0)


FAILURES = {
    "exit_0": (exit_0, "SystemExit: 0"),
    "recursion": (lambda *_: endless_recursion(), "RecursionError: maximum recursion depth"),
    "unsayable": (lambda *_: throw(UnsayableError()), "UnsayableError (its text cannot be shown)"),
}
CLASSIFIERS = {
    **{
        f"classify_{name}": (
            answering(Reference, "classify", failure),
            f"{HERE}classify_{name}` failed in `classify`: {error}",
        )
        for name, (failure, error) in FAILURES.items()
    },
    "making": (changed(Reference, __init__=exit_0), "failed in `loading`: SystemExit: 0"),
    "labels_endless": (changed(Reference, labels=itertools.count()), "more than 10000 labels"),
}


def stopping(_):
    yield 0
    sys.exit(0)


CHOICES = {
    "choices_stopping": (
        answering(Chooser, "choose", stopping),
        "failed in `choose`: SystemExit: 0",
    )
}


class NoStream:
    write = flush = exit_0


def exchange_streams():
    sys.stdout = sys.stderr = NoStream()


def leave_and_remove():
    Path("left").mkdir(exist_ok=True)
    os.chdir("left")
    Path.cwd().rmdir()


DISTURBANCES = {
    "change_the_folder": lambda: os.chdir("/"),
    "leave_a_folder_that_goes": leave_and_remove,
    "exchange_streams": exchange_streams,
}


def disturbing(disturb):
    """A model that works, and disturbs the process at every call."""
    return answering(
        Reference, "classify", lambda texts: (disturb(), Reference().classify(texts))[1]
    )


MODELS = {name: model for name, (model, _) in (CLASSIFIERS | CHOICES).items()}
MODELS |= {name: disturbing(disturb) for name, disturb in DISTURBANCES.items()}
globals().update(MODELS)

SOURCES = {
    "that exits": ("import sys\nsys.exit(0)\n", "failed in `import`: SystemExit: 0"),
    "that is no Python": ("def :\n", "failed in `import`: SyntaxError"),
}

CASES = [
    *(
        case(name, audit(reference=f"{HERE}{name}"), says=[error], never=["report:"])
        for name, (_, error) in CLASSIFIERS.items()
    ),
    *(
        case(name, chosen(CHOOSER, f"{HERE}{name}"), says=[error])
        for name, (_, error) in CHOICES.items()
    ),
    *(
        case(
            f"a target that does this: {name}",
            audit(target=f"{HERE}{name}"),
            exits=WORKS,
            says=["may replace", "report: runs/mine/report.html"],
            after=has_report,
        )
        for name in DISTURBANCES
    ),
    *(
        case(
            f"a module {name}",
            audit(reference="python:mine:Model"),
            file("mine.py", source),
            says=[error],
        )
        for name, (source, error) in SOURCES.items()
    ),
]
