"""What a hostile case is, and commands that work in a folder of good data."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

WORKS = frozenset({0})
REFUSED = frozenset({2})
ANY = frozenset({0, 1, 2})
"""Done, or a gate that fails, or refused: but no bug."""

Make = Callable[[Path, ExitStack], Sequence[str | Path]]
"""Writes the case's files into an empty folder and gives the command's arguments. Servers and
locks are entered on the stack, which is left after the command has ended."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One input for the real command.

    Parameters
    ----------
    name
        What is hostile; unique in its group.
    make
        Prepares the folder in which the command runs.
    exits
        The allowed exit codes.
    says, never
        What the two streams must and must not hold.
    seconds, megabytes
        Bounds on the time, and on the memory beyond that of the imports.
    environment
        Settings of the process.
    before
        A function of a module, called in the command's process before it starts.
    after
        Given the folder after the command; asserts what must hold there.
    costly
        Whether its preparation takes long: the fast run takes others.
    """

    name: str
    make: Make
    exits: frozenset[int] = REFUSED
    says: Sequence[str] = ()
    never: Sequence[str] = ()
    seconds: float = 30
    megabytes: int = 300
    environment: Mapping[str, str] = field(default_factory=dict)
    before: Callable[[], None] | None = None
    after: Callable[[Path], None] | None = None
    costly: bool = False


TEXTS = ("a fine film", "a dull play", "an odd book", "her slow song", "this story", "a grey day")
ROWS = "text,label\n" + "".join(
    f"{text},{('negative', 'positive')[number % 2]}\n" for number, text in enumerate(TEXTS)
)
QUESTIONS = "".join(
    f'{{"id": "q{number}", "question": "Is it {number}?", "options": ["yes", "no"], "answer": 0}}\n'
    for number in range(6)
)


def case(name, arguments, prepare=None, **fields):
    """A case in a folder with good data, in which ``prepare`` lays what is hostile."""

    def make(folder, _):
        (folder / "rows.csv").write_text(ROWS)
        (folder / "questions.jsonl").write_text(QUESTIONS)
        if prepare is not None:
            prepare(folder)
        return arguments

    return Case(name=name, make=make, **fields)


def file(name, content):
    """Writes a file of a case; a function makes a content that takes long, in that case alone."""

    def write(folder):
        whole = content() if callable(content) else content
        (folder / name).write_bytes(whole.encode() if isinstance(whole, str) else whole)

    return write


def audit(*more, reference="Reference", target="Student", data="rows.csv", run="mine"):
    """An audit of two models, toys unless a whole spec is given."""
    specs = [
        spec if ":" in spec or "/" in spec else f"python:toy_models:{spec}"
        for spec in (reference, target)
    ]
    return (
        *("audit", "--reference", specs[0], "--target", specs[1], "--capability", "typo"),
        *("--n", "4", "--data", data, "--run", run, *more),
    )


def chosen(*specs, more=()):
    """A comparison on questions with options."""
    return (
        "compare",
        *(part for spec in specs for part in ("--model", spec)),
        *("--task", "choice", "--data", "choice=questions.jsonl", "--run", "mine", *more),
    )


def has_report(folder):
    assert (folder / "runs" / "mine" / "report.html").exists()


def rows_of_json(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)
