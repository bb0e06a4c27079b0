"""Names in gates that are not there."""

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


UNKNOWN = "iid_agreement[toy_judges:Slip]>=0.1"
NOT_ASKED_FOR = "hard_scope[synonym]>=0.2"

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
        )
    )
]
