"""Decisions on audits: a dead model must not pass, and a good one on skewed data must."""

import csv

import toy_judges
from decision_cases.cases import Decision

BALANCED = toy_judges.texts(30, 30)
SKEWED = toy_judges.texts(90, 10)
MANY = toy_judges.texts(100, 100)
NEVER = ("internal error",)


def write_data(path, rows=BALANCED, *, labels=True):
    """A table of texts, with their labels or without."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(("text", "label") if labels else ("text",))
        table.writerows(row if labels else row[:1] for row in rows)


def audit(*more, reference="Judge", targets=("Twin",), data=BALANCED, labels=True):
    """One audit on these texts."""

    def make(folder):
        write_data(folder / "rows.csv", data, labels=labels)
        yield (
            *("audit", "--reference", f"python:toy_judges:{reference}"),
            *(part for name in targets for part in ("--target", f"python:toy_judges:{name}")),
            *("--capability", "typo", "--trials", "1", "--data", "rows.csv", "--run", "mine"),
            *more,
        )

    return make


def gate(*texts, on="interval"):
    """These gates, as options."""
    return (*(part for text in texts for part in ("--gate", text)), "--gate-on", on)


HARD = gate("hard_scope>=0.8")
OLD_FORM = ("--fail-under", "iid_agreement=0.1")
EVERY_FORM = (
    "hard_scope>=0.8",
    "ood_agreement[typo,toy_judges:Enthusiast]>=0",
    "soft_scope[typo]>=0",
    "iid_accuracy_gap<=1",
)
WITHOUT_ITS_SILENCE = ("hard_scope>=0.8", "iid_accuracy_gap<=0.1")
"""Gates that `Fails` would pass if the texts without an answer did not count."""
BY_BOUND = ("bound",)
JUDGED = ("hard_scope", "ood_agreement", "soft_scope(tolerance=0.1, cutoff=1.0)")
DEAD_PAGE = ("toy_judges:Enthusiast is degenerate: ", "positive 100 %")

DECISIONS = [
    *(
        Decision(
            name=f"a target that gives one answer to everything passes no gate on the {on}",
            make=audit(*gate(*EVERY_FORM, on=on), *OLD_FORM, targets=("Enthusiast",)),
            exits=1,
            says=(
                "Enthusiast is degenerate: it answers `positive` to 60 of 60 texts",
                "toy_judges:Enthusiast may not replace toy_judges:Judge",
                "it passes no verdict and no gate",
                *(f"gate: {one} of toy_judges:Enthusiast on typo: toy_judges" for one in JUDGED),
                "gate: iid_accuracy_gap of toy_judges:Enthusiast: toy_judges:Enthusiast is degen",
                "gate: iid_agreement of toy_judges:Enthusiast: toy_judges:Enthusiast is degenerate",
            ),
            never=NEVER,
            page=DEAD_PAGE,
            page_never=("Enthusiast keeps",),
        )
        for on in ("interval", "value")
    ),
    Decision(
        name="a target that draws lots does not pass",
        make=audit(*gate("hard_scope>=0"), targets=("Random",), data=MANY),
        exits=1,
        says=("Random is degenerate: its accuracy", "hardly better than chance", "Cohen's kappa"),
        page=("toy_judges:Random is degenerate: ",),
    ),
    Decision(
        name="a reference that gives one answer to everything ends the audit",
        make=audit(reference="Enthusiast"),
        exits=2,
        says=("the reference `toy_judges:Enthusiast` is degenerate: it answers `positive` to",),
        never=("it keeps", "hard_scope", "Traceback"),
    ),
    Decision(
        name="a good target on skewed data passes",
        make=audit(*HARD, data=SKEWED),
        exits=0,
        says=("It is too early to say whether toy_judges:Twin may replace", "100.0 %"),
        never=("degenerate",),
        page=(
            "positive 90 %, negative 10 %",
            "Same answers all toy_judges:Twin 1.000[0.963, 1.000]100",
        ),
    ),
    Decision(
        name="a good target on skewed data passes without labels",
        make=audit(*HARD, data=SKEWED, labels=False),
        exits=0,
        never=("degenerate",),
    ),
    Decision(
        name="a target that gives no answer to one text in eight does not pass",
        make=audit(*gate(*WITHOUT_ITS_SILENCE, on="value"), targets=("Fails",), data=MANY),
        exits=1,
        says=(
            "toy_judges:Fails may not replace toy_judges:Judge",
            "no answer of toy_judges:Fails: 25 (no number), such as",
            "gate: hard_scope of toy_judges:Fails",
            "gate: iid_accuracy_gap of toy_judges:Fails",
        ),
        never=("Traceback", "internal error"),
    ),
    *(
        Decision(
            name=f"{of} beyond the bound by its value alone {told}",
            make=audit(*gate(text, on=on), targets=(target, "Twin"), data=BALANCED),
            exits=exits,
            says=says,
            never=("degenerate",),
        )
        for of, text, target in (
            ("a share", "hard_scope[toy_judges:Slips]>=0.95", "Slips"),
            ("a gap", "iid_accuracy_gap[toy_judges:Rough]<=0.05", "Rough"),
        )
        for on, told, exits, says in (
            ("interval", "fails", 1, BY_BOUND),
            ("value", "passes where the value decides", 0, ()),
        )
    ),
    Decision(
        name="a share whose interval lies beyond the bound passes",
        make=audit(*gate("hard_scope>=0.9", "iid_accuracy_gap<=0.05"), data=MANY),
        exits=0,
        never=("gate:",),
    ),
    Decision(
        name="what is undefined passes no gate",
        make=audit(*gate("iid_accuracy_gap<=1"), labels=False),
        exits=1,
        says=("iid_accuracy_gap of toy_judges:Twin is undefined", "not at most 1"),
    ),
]
