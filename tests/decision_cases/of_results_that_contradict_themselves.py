"""Decisions on an earlier run whose result was changed and has a right checksum again."""

import json

from decision_cases.cases import Decision
from decision_cases.of_audits import write_data
from decision_cases.of_earlier_runs import AUDIT

from scope.checksums import sealed, unsealed


def after_a_change(change, *command):
    def make(folder):
        write_data(folder / "rows.csv")
        yield (*AUDIT, "--run", "old")
        path = folder / "runs" / "old" / "result.json"
        result = json.loads(unsealed(path.read_text(encoding="utf-8")).text)
        change(result)
        path.write_text(sealed(json.dumps(result)), encoding="utf-8")
        yield command

    return make


def of_nobody(result):
    for row in result["measurements"]:
        row["target"] = "nobody"


DECISIONS = [
    Decision(
        name="a result that measures none of its models gets no report",
        make=after_a_change(of_nobody, "report", "old"),
        exits=2,
        says=("it measures 'nobody', which is none of its models",),
    ),
]
