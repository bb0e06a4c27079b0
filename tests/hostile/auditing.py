"""A small audit that works, in a folder with good data."""

from hostile.asking import QUESTIONS, ROWS
from hostile.cases import Case

MODELS = ("--reference", "python:toy_models:Reference", "--target", "python:toy_models:Student")


def audit(*more, data="rows.csv", run="mine"):
    return (
        *("audit", *MODELS, "--capability", "typo", "--n", "4", "--data", data, "--run", run),
        *more,
    )


def prepared(*arguments, prepare=None):
    """A folder with good data in it, and what else the function makes."""

    def make(folder, _):
        (folder / "rows.csv").write_text(ROWS)
        (folder / "questions.jsonl").write_text(QUESTIONS)
        if prepare is not None:
            prepare(folder)
        return arguments

    return make


def case(name, arguments, prepare=None, **more):
    return Case(name=name, make=prepared(*arguments, prepare=prepare), **{"megabytes": 300, **more})


def finished(folder):
    assert (folder / "runs" / "mine" / "report.html").exists()
