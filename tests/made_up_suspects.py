"""Saved answers of a made-up reference, of models independent of it, and of some that are not.

Questions have one right option, and wrong ones that mislead more or less. An independent model
knows some answers and errs towards what misleads, as all do, but on questions of its own; some
share a public base with the reference.
"""

import json

import numpy as np

LETTERS = "ABCDE"
OPTIONS = 5
CONTROLS = 24


class Questions:
    """Questions with five options, and models that answer them; the seed decides all."""

    def __init__(self, seed=3, *, items=400):
        self.generator = np.random.default_rng(seed)
        self.items = items
        self.gold = self.generator.integers(0, OPTIONS, size=items)
        self.appeal = self.generator.dirichlet(np.full(OPTIONS, 1.5), size=items).cumsum(axis=1)

    def independent(self, skill=0.6):
        """A model of its own, which knows such a share of the answers and is misled in others."""
        misled = (self.generator.random((self.items, 1)) > self.appeal).sum(axis=1)
        knows = self.generator.random(self.items) < skill
        return np.where(knows, self.gold, np.minimum(misled, OPTIONS - 1))

    def mixed(self, first, second, share):
        """The second's answers, with such a share of them taken from the first."""
        return np.where(self.generator.random(self.items) < share, first, second)

    def guesser(self):
        return self.generator.integers(0, OPTIONS, size=self.items)

    def write(self, path):
        rows = [
            {
                "id": f"q{place}",
                "question": f"What is the number of house {place}?",
                "options": [f"number {place + step}" for step in range(OPTIONS)],
                "answer": int(right),
            }
            for place, right in enumerate(self.gold)
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path


def made_up_models(questions):
    """``ours``, every kind of suspect, the controls ``c0`` to ``c23``, and ``t0`` to ``t18``.

    The last are tuned: derivatives of the reference, ``ours``.
    """
    base = questions.independent()
    ours = questions.mixed(base, questions.independent(), 0.4)
    suspects = {
        "ours": ours,
        "copy": ours,
        "partly": questions.mixed(ours, questions.independent(), 0.6),
        "other": questions.independent(),
        "guesser": questions.guesser(),
        "constant": np.zeros_like(ours),
        "silent": np.full_like(ours, -1),
        "theirs": questions.independent(),
    }
    shares = 0.6 * np.arange(CONTROLS) / CONTROLS
    controls = {
        f"c{place}": questions.mixed(base, questions.independent(), share)
        for place, share in enumerate(shares)
    }
    tuned = {
        f"t{place}": questions.mixed(ours, questions.independent(), 0.7) for place in range(19)
    }
    return suspects | controls | tuned


def letters(answers):
    """A line of a table; -1 is no answer."""
    return "".join(LETTERS[one] if one >= 0 else "." for one in answers)


def write_table(path, models):
    """A table of answers: one line per model."""
    lines = (f"{name}\t{letters(answers)}\n" for name, answers in models.items())
    path.write_text("".join(lines), encoding="utf-8")
    return path


def write_world(folder, questions=None):
    """``questions.jsonl`` and the tables ``suspects``, ``controls`` and ``tuned``.tsv.

    Returns the answers by model.
    """
    questions = questions or Questions()
    models = made_up_models(questions)
    questions.write(folder / "questions.jsonl")
    tables = {"c": "controls", "t": "tuned"}
    for name in ("controls", "tuned", "suspects"):
        kept = {
            model: answers
            for model, answers in models.items()
            if tables.get(model[0] if model[1:].isdigit() else "", "suspects") == name
        }
        write_table(folder / f"{name}.tsv", kept)
    return models


def reuse_arguments(suspect, *more, controls=("controls.tsv#*",), data="questions.jsonl"):
    """A test of a suspect of the tables against ``ours`` and the 24 controls."""
    named = [word for one in controls for word in ("--control", f"predictions:{one}")]
    return (
        *("reuse", "--suspect", f"predictions:suspects.tsv#{suspect}"),
        *("--reference", "predictions:suspects.tsv#ours", *named),
        *("--task", "choice", "--data", data, *more),
    )
