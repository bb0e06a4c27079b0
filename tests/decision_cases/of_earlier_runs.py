"""Decisions of gates against other targets and earlier runs."""

from decision_cases.cases import Decision
from decision_cases.of_audits import write_data

AUDIT = (
    *("audit", "--reference", "python:toy_judges:Judge", "--target", "python:toy_judges:Slips"),
    *("--capability", "typo", "--data", "rows.csv", "--n", "20"),
)


TWIN = ("--target", "python:toy_judges:Twin")


def audits(*commands):
    def make(folder):
        write_data(folder / "rows.csv")
        for more in commands:
            yield (*AUDIT, *more)

    return make


JUDGE = """
from toy_judges import Judge

class Mine(Judge):
    sure = {sure}

    def classify(self, texts):
        return [[1 - self.sure, self.sure] if self.likes(one) else [self.sure, 1 - self.sure]
                for one in texts]
"""
"""A reference whose module is changed between two runs."""


def changed_reference(after, *more):
    """Two audits with a reference whose module is another text in the second."""

    def make(folder):
        write_data(folder / "rows.csv")
        for run, text in (("old", JUDGE.format(sure=0.9)), ("mine", after)):
            (folder / "judge.py").write_text(text)
            options = ("--gate", "hard_scope>=old-0.05", "--gate-on", "value", *more)
            yield (
                *("audit", "--reference", "python:judge:Mine", *TWIN, "--capability", "typo"),
                *("--data", "rows.csv", "--n", "20", "--run", run),
                *(options if run == "mine" else more),
            )

    return make


COMMENTED = f"# The same model.{JUDGE.format(sure=0.9)}"

UNKNOWN = "iid_agreement[toy_judges:Slip]>=0.1"
NOT_ASKED_FOR = "hard_scope[synonym]>=0.2"
GAP = "iid_accuracy_gap<=toy_judges:Slips+0.05"

DECISIONS = [
    *(
        Decision(
            name=f"{what} is refused before any model is asked",
            make=audits(("--run", "mine", *TWIN, "--gate", text)),
            exits=2,
            says=says,
            never=("answering", "hard_scope of", "Traceback"),
        )
        for what, text, says in (
            (
                "a gate on a capability that is not measured",
                NOT_ASKED_FOR,
                ("`synonym` in the brackets", "typo, toy_judges:Slips, toy_judges:Twin"),
            ),
            ("a gate on a target that is not there", UNKNOWN, ("`toy_judges:Slip` in the brack",)),
            (
                "a gate that holds a gap against another",
                GAP,
                ("a gap is not a mean over examples",),
            ),
        )
    ),
    Decision(
        name="as many examples are advised as settle a gate",
        make=audits(("--run", "mine", "--gate", "iid_agreement[toy_judges:Twin]>=0.99", *TWIN)),
        exits=1,
        # Wilson's lower end is n / (n + 1.96²) where all agree: 0.99 takes 381.
        says=("n=20, not at least 0.99 by its lower bound", "about 381 examples settle it"),
    ),
    Decision(
        name="an unchanged model is no worse than in the earlier run",
        make=audits(
            ("--run", "old"),
            ("--run", "mine", "--gate", "hard_scope>=old-0.05", "--gate-on", "value"),
        ),
        exits=0,
        never=("gate:", "this very one"),
    ),
    Decision(
        name="a comment in the reference's module makes no other reference of it",
        make=changed_reference(COMMENTED),
        exits=0,
        says=(
            "drift: the run `old` has answers of the reference `python:judge:Mine` with different",
        ),
        never=("gate:",),
    ),
    Decision(
        name="a reference whose code and answers changed is another one",
        make=changed_reference(JUDGE.format(sure=0.8)),
        exits=1,
        says=("the run `old` has a reference that gives other answers to the same texts",),
        never=("drift:",),
    ),
    Decision(
        name="a reference whose probabilities drifted is the same, and its drift is reported",
        make=changed_reference(JUDGE.format(sure=0.9005)),
        exits=0,
        says=("drift: the run `old`", "differ by up to 0.0005"),
        never=("gate:",),
    ),
    Decision(
        name="too few texts do not show that a reference with other code is the same",
        make=changed_reference(COMMENTED, "--n", "3", "--trials", "1"),
        exits=1,
        says=("differs in the code of the reference, and has its answers to only ", "8 are needed"),
    ),
    Decision(
        name="a gate against the folder of the run itself is refused before any model is asked",
        make=audits(("--run", "mine"), ("--run", "mine", "--gate", "hard_scope>=mine-0.05")),
        exits=2,
        says=("is the folder of this run", "--run"),
        never=("answering", "hard_scope of"),
    ),
    Decision(
        name="a gate against a run that is not there is refused before any model is asked",
        make=audits(("--run", "mine", "--gate", "hard_scope>=olld-0.02")),
        exits=2,
        says=("no target and no finished run", "scope list runs"),
        never=("answering", "hard_scope of"),
    ),
    Decision(
        name="a gate finds an earlier run by its bare name",
        make=audits(
            ("--run", "old", "--trials", "2"),
            ("--run", "mine", "--trials", "3", "--gate", "hard_scope>=old-0.3"),
        ),
        exits=1,
        says=("the run `old` differs in the setting `trials`",),
    ),
    Decision(
        name="the targets of an earlier run are named where it has not this one",
        make=audits(
            ("--run", "old", *TWIN),
            (
                *("--target", "python:toy_judges:Rough", "--run", "mine"),
                *("--gate", "hard_scope[toy_judges:Rough]>=old-0.3"),
            ),
        ),
        exits=1,
        says=("it has that of toy_judges:Slips, toy_judges:Twin, not of `toy_judges:R",),
    ),
    Decision(
        name="a gate against an earlier run is met where both keep the same",
        make=audits(
            ("--run", "old"),
            (
                *("--target", "python:toy_judges:Twin", "--run", "mine"),
                *("--gate", "hard_scope[toy_judges:Slips]>=old-0.3"),
            ),
        ),
        exits=0,
        never=("gate:",),
    ),
]
