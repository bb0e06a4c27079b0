"""Data files that are damaged, of another kind than their name says, or enormous."""

from hostile.cases import REFUSED, WORKS, Case, given

MODELS = ("--reference", "python:toy_models:Reference", "--target", "python:toy_models:Student")
AUDIT = ("audit", *MODELS, "--capability", "typo", "--n", "4", "--run", "mine")
ROWS = "text,label\n" + "".join(
    f"a fine film number {number},{('negative', 'positive')[number % 2]}\n" for number in range(20)
)

CASES = [
    Case(
        name="a plain table",
        make=given(*AUDIT, "--data", "rows.csv", rows__csv=ROWS),
        exits=WORKS,
    ),
    Case(
        name="an empty table",
        make=given(*AUDIT, "--data", "rows.csv", rows__csv=""),
        says=["rows.csv", "empty"],
    ),
    Case(
        name="binary rubbish",
        make=given(*AUDIT, "--data", "rows.csv", rows__csv=bytes(range(256)) * 9),
        exits=REFUSED,
    ),
]
