"""Decisions on audits: a dead model must not pass."""

import csv

from decision_cases.cases import Decision

TEXTS = (
    ("a wonderful film with moving scenes", "positive"),
    ("a terrible film without any meaning", "negative"),
    ("lovely acting and beautiful pictures", "positive"),
    ("horrible acting and boring dialogue", "negative"),
)


def write_data(path, rows=TEXTS, repeats=15):
    """A table of texts and labels; each text comes in as many versions."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(("text", "label"))
        for repeat in range(repeats):
            table.writerows((f"{text} number {repeat}", label) for text, label in rows)


def audit(*more, reference="Careful", target="Rougher", data=TEXTS, repeats=15):
    def make(folder):
        write_data(folder / "rows.csv", data, repeats)
        yield (
            *("audit", "--reference", f"python:toy_models:{reference}"),
            *("--target", f"python:toy_models:{target}", "--capability", "typo"),
            *("--data", "rows.csv", "--run", "mine", *more),
        )

    return make


GATE = ("--gate", "hard_scope>=0.9")

DECISIONS = [
    Decision(
        name="a target that gives one answer to everything does not pass",
        make=audit(*GATE, target="Constant"),
        exits=1,
        says=("Constant is degenerate", "positive 100 %"),
        page=("Constant is degenerate",),
    ),
]
