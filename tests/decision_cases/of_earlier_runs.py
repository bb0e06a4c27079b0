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
from pathlib import Path

from toy_judges import Judge

class Mine(Judge):
    def classify(self, texts):
        sure = float(Path("weights").read_text())
        return [[1 - sure, sure] if self.likes(one) else [sure, 1 - sure] for one in texts]
"""
"""A reference whose module or weights are changed between two runs."""


def changed_reference(module, sure=0.9):
    """Two audits with a reference whose module or weights are others in the second."""

    def make(folder):
        write_data(folder / "rows.csv")
        audit = (
            *("audit", "--reference", "python:judge:Mine", *TWIN, "--capability", "typo"),
            *("--data", "rows.csv", "--n", "20"),
        )
        (folder / "judge.py").write_text(JUDGE)
        (folder / "weights").write_text("0.9")
        yield (*audit, "--run", "old")
        (folder / "judge.py").write_text(module)
        (folder / "weights").write_text(str(sure))
        yield (*audit, "--run", "mine", "--gate", "hard_scope>=old-0.05", "--gate-on", "value")

    return make


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
        name="an unchanged model is no worse than in the earlier run",
        make=audits(
            ("--run", "old"),
            ("--run", "mine", "--gate", "hard_scope>=old-0.05", "--gate-on", "value"),
        ),
        exits=0,
        never=("gate:", "this very one"),
    ),
    Decision(
        name="a reference whose code changed is another one",
        make=changed_reference(f"# The same model.{JUDGE}"),
        exits=1,
        says=("the run `old` differs in the reference",),
    ),
    Decision(
        name="a reference that reads other weights is another one",
        make=changed_reference(JUDGE, sure=0.8),
        exits=1,
        says=("the run `old` has a reference that gives other answers to the same texts",),
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
