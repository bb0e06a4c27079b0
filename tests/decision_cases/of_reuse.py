"""Decisions on reuse: nobody is accused or cleared on evidence that does not carry it."""

import numpy as np
from decision_cases.cases import Decision
from made_up_suspects import Questions, write_table

ITEMS = 600
CONTROLS = tuple(f"c{place}" for place in range(20))


def world(questions):
    """A reference, an independent suspect, a copy with changes, and controls of their skill."""
    base = questions.independent()
    models = {"ours": questions.independent(), "theirs": questions.independent()}
    models["thief"] = questions.mixed(models["ours"], questions.independent(), 0.5)
    for place in range(19):
        tuned = questions.mixed(models["ours"], questions.independent(), 0.7)
        models |= {f"tuned{place}": tuned, f"rounded{place}": models["ours"].copy()}
        models[f"rounded{place}"][place] = 0
    models["dead"] = np.where(questions.generator.random(ITEMS) < 0.97, 2, questions.gold)
    return models | {
        name: questions.mixed(base, questions.independent(), 0.02 * place)
        for place, name in enumerate(CONTROLS)
    }


def as_it_is(questions, models):
    return models


def of_other_skill(questions, models):
    """Of twenty controls fourteen are far more skilled than suspect and reference."""
    weak = {name: questions.independent(0.3) for name in ("ours", "theirs", *CONTROLS[14:])}
    return models | weak | {name: questions.independent(0.85) for name in CONTROLS[:14]}


def of_one_family(questions, models):
    """All controls are made from one model."""
    base = questions.independent()
    return models | {name: questions.mixed(base, questions.independent(), 0.8) for name in CONTROLS}


def with_a_sibling(questions, models):
    """A control was made from the reference; ``else`` is another reference."""
    sibling = questions.mixed(models["ours"], models["c3"], 0.8)
    return models | {"c3": sibling, "else": questions.independent()}


def reuse(
    *more, suspect="theirs", reference="ours", change=as_it_is, seed=1, beside=(), derivatives=""
):
    def make(folder):
        questions = Questions(seed, items=ITEMS)
        questions.write(folder / "questions.jsonl")
        models = change(questions, world(questions))
        named = [f"{derivatives}{place}" for place in range(19 * bool(derivatives))]
        kept = {name: models[name] for name in (suspect, reference, *beside, *named, *CONTROLS)}
        write_table(folder / "all.tsv", kept)
        yield (
            *("reuse", "--suspect", f"predictions:all.tsv#{suspect}"),
            *("--reference", f"predictions:all.tsv#{reference}"),
            *(part for one in beside for part in ("--reference", f"predictions:all.tsv#{one}")),
            *(part for one in named for part in ("--derivative", f"predictions:all.tsv#{one}")),
            *("--control", "predictions:all.tsv#*", "--task", "choice"),
            *("--data", "questions.jsonl", "--run", "mine", *more),
        )

    return make


ACCUSED = ("--fail-on", "related")

DECISIONS = [
    Decision(
        name="a suspect that took half of its answers is related among fit controls",
        make=reuse(*ACCUSED, suspect="thief"),
        exits=1,
        says=("thief is related to ours: derived from it, or of a common source",),
        never=("p (Holm)",),
        page=("p-value of related", " by rank, "),
    ),
    Decision(
        name="without derivatives an independent suspect is never cleared",
        make=reuse(*ACCUSED),
        exits=0,
        says=("? No sign that theirs is related to ours, but it is not ruled out", "--derivative"),
        never=("is not a derivative", "was not fine-tuned"),
        page=("No sign that theirs is related",),
        page_never=("was not fine-tuned",),
    ),
    Decision(
        name="beside derivatives it is not related as they are, and the verdict names them",
        make=reuse("--fail-on", "undecided", derivatives="tuned"),
        exits=0,
        says=("theirs is not a derivative of ours like tuned0 and 18 others",),
        page=("is not a derivative of ours like tuned0 and 18 others",),
    ),
    Decision(
        name="a derivative is not cleared beside others, and not by copies of the reference",
        make=reuse("--fail-on", "undecided", derivatives="rounded"),
        exits=1,
        says=(
            "? No sign that theirs is related to ours",
            "cannot rule a relation out: at least 19 are needed (copies do not count: rounded0",
        ),
        never=("is not a derivative",),
    ),
    Decision(
        name="controls of another skill accuse nobody",
        make=reuse(*ACCUSED, change=of_other_skill),
        exits=0,
        says=("? It is too early to say", "controls are far from the suspect's skill"),
        page=("controls are far from the suspect's skill",),
    ),
    Decision(
        name="controls of one family accuse nobody",
        make=reuse(*ACCUSED, change=of_one_family, seed=0),
        exits=0,
        says=("? It is too early to say",),
        page=("all together count as",),
    ),
    Decision(
        name="a degenerate suspect is undecided, and that is said first",
        make=reuse(*ACCUSED, suspect="dead", derivatives="tuned"),
        exits=0,
        says=(
            "? It is too early to say whether dead is related to ours\nHow sure? Not decided: it",
        ),
    ),
    Decision(
        name="a sibling among the controls is named with the option that leaves it out",
        make=reuse(*ACCUSED, suspect="thief", change=with_a_sibling),
        exits=0,
        says=("Leave out controls that are related to ours, too, perhaps c3", "control c3"),
        page=("--exclude-control c3",),
    ),
    Decision(
        name="a suspect that stands out from one reference alone is told Holm's p-value",
        make=reuse(
            *(*ACCUSED, "--alpha", "0.2"), suspect="thief", change=with_a_sibling, beside=("else",)
        ),
        exits=0,
        says=("in at most 1 test of 8, but not after", "1 test of 4"),
        never=("its rank among the controls is significant",),
        page=("but not after Holm's correction over the references: there in up to 1 test of 4",),
    ),
    Decision(
        name="a sibling can be left out, and the suspect is found",
        make=reuse(*(*ACCUSED, "--exclude-control", "c3"), suspect="thief", change=with_a_sibling),
        exits=1,
        says=("thief is related to ours:", "gate: thief against ours: related"),
        never=("perhaps c3",),
    ),
]
