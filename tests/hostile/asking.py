"""Commands that ask a model of the user's own, on a few texts or questions."""

from hostile.cases import Case, given

ROWS = "text,label\n" + "".join(
    f"{text},{('negative', 'positive')[number % 2]}\n"
    for number, text in enumerate(
        ("a fine film", "a dull play", "an odd book", "her slow song", "this story", "a grey day")
    )
)
QUESTIONS = "".join(
    f'{{"id": "q{number}", "question": "Is it {number}?", "options": ["yes", "no"], "answer": 0}}\n'
    for number in range(6)
)


def classified(spec, part="reference"):
    """An audit with the strange model as reference or target; the other is a toy."""
    other = "target" if part == "reference" else "reference"
    return (
        *("audit", f"--{part}", spec, f"--{other}", "python:toy_models:Student"),
        *("--capability", "typo", "--n", "4", "--data", "rows.csv", "--run", "mine"),
    )


def continued(spec):
    return (
        *("audit", "--role", "next_token", "--reference", "python:toy_models:Speaker"),
        *("--target", spec, "--capability", "typo", "--n", "4"),
        *("--data", "rows.csv", "--run", "mine"),
    )


def chosen(spec):
    return (
        *("compare", "--model", "python:toy_models:Chooser", "--model", spec),
        *("--task", "choice", "--data", "choice=questions.jsonl", "--run", "mine"),
    )


def case(name, arguments, **more):
    return Case(
        name=name,
        make=given(*arguments, rows__csv=ROWS, questions__jsonl=QUESTIONS),
        **{"megabytes": 300, **more},
    )
