"""Decisions on controls: those that guess count for nothing, patterns match names or specs."""

from collections.abc import Mapping

from decision_cases.cases import Decision
from made_up_suspects import Questions, write_table

ITEMS = 500
TABLE = "predictions:all.tsv#"


def world(questions: Questions, *, fit: int, guessing: int) -> Mapping[str, object]:
    """A reference, one independent suspect and one that copied, fit and guessing controls."""
    models = {"ours": questions.independent(), "theirs": questions.independent()}
    thief = questions.mixed(models["ours"], questions.independent(), 0.5)
    return (
        models
        | {"thief": thief}
        | {f"fit{place}": questions.independent() for place in range(fit)}
        | {f"guess{place}": questions.guesser() for place in range(guessing)}
    )


def reuse(*more, suspect="theirs", fit=20, guessing=0, control="*"):
    def make(folder):
        questions = Questions(1, items=ITEMS)
        questions.write(folder / "questions.jsonl")
        models = world(questions, fit=fit, guessing=guessing)
        other = {"theirs": "thief", "thief": "theirs"}[suspect]
        write_table(folder / "all.tsv", {one: models[one] for one in models if one != other})
        yield (
            *("reuse", "--suspect", f"{TABLE}{suspect}", "--reference", f"{TABLE}ours"),
            *("--control", f"{TABLE}{control}", "--task", "choice", "--data", "questions.jsonl"),
            *("--run", "mine", *more),
        )

    return make


ACCUSED = ("--fail-on", "related")

DECISIONS = [
    Decision(
        name="four controls and ten that guess are four: too few to accuse a copy",
        make=reuse(*ACCUSED, suspect="thief", fit=4, guessing=10),
        exits=0,
        says=(
            "? It is too early to say",
            "4 of 14 controls can be compared; at least 5 are needed",
            "1 more independent control",
        ),
        page=("4 of 14 controls can be compared", "; 10 without usable answers, or guessing"),
    ),
    Decision(
        name="beside enough fit controls, those that guess change nothing: a copy is related",
        make=reuse(*ACCUSED, suspect="thief", fit=20, guessing=10),
        exits=1,
        says=(
            "thief is related to",
            "None of the 230 other pairs of models is at least as similar",
            "; 10 without usable answers, or guessing",
        ),
    ),
    Decision(
        name="a pattern that matches every control says that none is left",
        make=reuse("--exclude-control", "*"),
        exits=2,
        says=("--exclude-control '*' leaves none of 20 controls",),
    ),
    Decision(
        name="a pattern with the file alone is told what is matched",
        make=reuse("--exclude-control", "all.tsv#fit*"),
        exits=2,
        says=("no control matches `all.tsv#fit*`", "whole name or spec"),
    ),
]
