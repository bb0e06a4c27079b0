"""Answers of models made up for studies: of known skill, some with errors in common."""

import json

import numpy as np

from scope.estimation.choices import ChoiceTable

OPTIONS = 4


def choices_of(skills, shared, seed, questions=300):
    """Shape (models, questions): 0 is right, 1 is the common error, the others are drawn."""
    generator = np.random.default_rng(seed)
    shape = (len(skills), questions)
    wrong = generator.integers(1, OPTIONS, size=shape)
    wrong = np.where(generator.random(shape) < np.asarray(shared)[:, None], 1, wrong)
    return np.where(generator.random(shape) < np.asarray(skills)[:, None], 0, wrong)


def answers_of(skills, shared, seed):
    """The same as a table."""
    choices = choices_of(skills, shared, seed)
    return table_of(choices, np.zeros(choices.shape[1], dtype=np.intp))


def table_of(choices, right, probabilities=None):
    """A table of choices, and of probabilities if there are any."""
    models, questions = choices.shape
    answered = np.full((models, questions), probabilities is not None)
    return ChoiceTable(
        task="choice",
        item_ids=tuple(map(str, range(questions))),
        categories=(None,) * questions,
        options=np.full(questions, OPTIONS),
        right=right,
        choices=choices,
        asked=np.ones_like(answered),
        probabilities=np.zeros((*choices.shape, OPTIONS))
        if probabilities is None
        else probabilities,
        has_probabilities=answered,
    )


def write_answers(folder, choices, names):
    """A table of answers and its questions; the options of a command."""
    lines = [
        {"id": f"q{n}", "question": f"What is {n}?", "options": [*"wxyz"], "answer": "A"}
        for n in range(choices.shape[1])
    ]
    (folder / "q.jsonl").write_text("\n".join(map(json.dumps, lines)))
    rows = (
        "\t".join((name, "".join("ABCD"[k] for k in row)))
        for name, row in zip(names, choices, strict=True)
    )
    (folder / "a.tsv").write_text("\n".join(rows) + "\n")
    return {
        "models": [f"predictions:{folder}/a.tsv#*"],
        "data": f"{folder}/q.jsonl",
        "runs": folder,
    }
