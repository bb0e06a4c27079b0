"""Wrong inputs of all jobs: each is refused, with an exit code and a first line that are kept."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

_AUDIT = (
    "audit --reference python:toys:Reference --target python:toys:Student --data texts.csv"
    " --capability typo --n 4"
)
_COMPARE = "compare --model python:toys:Reader --model python:toys:Skimmer"
_CHOICE = f"{_COMPARE} --task choice --data choices.jsonl"
_REUSE = (
    "reuse --suspect predictions:suspects.tsv#copy --reference predictions:suspects.tsv#ours"
    " --control 'predictions:controls.tsv#*' --task choice --data exam.jsonl"
)
_BAGS = "probe --model python:toys:Bags"


def _instead(usual: str, old: str, new: str) -> str:
    if old not in usual:
        raise ValueError(f"{old} is not in {usual}")
    return usual.replace(old, new)


_COMMANDS = {
    "audit-unknown-scheme": _instead(_AUDIT, "python:toys:Reference", "hff:x"),
    "audit-unknown-capability": _instead(_AUDIT, "typo", "tpyo"),
    "audit-unknown-metric-in-gate": f"{_AUDIT} --gate hard_scpoe>=0.9",
    "audit-gate-without-value": f"{_AUDIT} --gate hard_scope",
    "audit-missing-data": _instead(_AUDIT, "texts.csv", "missing.csv"),
    "audit-missing-attribute": _instead(_AUDIT, ":Reference", ":Nothing"),
    "audit-missing-predictions": _instead(_AUDIT, "python:toys:Student", "predictions:none.jsonl"),
    "audit-labels-do-not-match": _instead(_AUDIT, ":Student", ":OtherLabels"),
    "audit-not-a-number": _instead(_AUDIT, ":Reference", ":NotANumber"),
    "audit-constant-reference": _instead(_AUDIT, ":Reference", ":Constant") + "0",
    "audit-no-text-column": _instead(_AUDIT, "texts.csv", "numbers.csv"),
    "audit-gold-labels-of-another-kind": _instead(_AUDIT, "texts.csv", "stars.csv"),
    "audit-no-texts-wanted": _instead(_AUDIT, "--n 4", "--n 0"),
    "audit-cutoff-below-tolerance": f"{_AUDIT} --cutoff 0.01",
    "audit-preset-without-synonym": f"{_AUDIT} --setting preset=strong",
    "audit-hidden-run": f"{_AUDIT} --run ..hidden",
    "audit-without-target": _instead(_AUDIT, "--target python:toys:Student", ""),
    "audit-next-token-of-classifier": f"{_AUDIT} --role next_token",
    "compare-unknown-task": _instead(_CHOICE, "--task choice", "--task chioce"),
    "compare-data-for-another-task": _instead(_CHOICE, "choices.jsonl", "cloze=text:book.txt"),
    "compare-model-without-role": _instead(_CHOICE, ":Reader", ":Speaker"),
    "compare-unknown-setting": f"{_CHOICE} --setting min_wrods=3",
    "reuse-suspect-among-controls": f"{_REUSE} --control predictions:suspects.tsv#copy",
    "reuse-alpha-above-one": f"{_REUSE} --alpha 1.5",
    "reuse-no-such-row": _instead(_REUSE, "#copy", "#cpoy"),
    "reuse-constant-reference": _instead(_REUSE, "#ours", "#constant"),
    "embed-all-right": "fleet embed --data all_right.csv --forecaster mean",
    "embed-no-such-file": "fleet embed --data missing.csv --forecaster mean",
    "forecast-no-such-fleet": "fleet forecast --fleet nowhere --questions new.csv",
    "predict-one-benchmark": "fleet predict --data all_right.csv",
    "probe-no-pairs": _BAGS,
    "probe-unknown-step": f"{_BAGS} --data pairs.csv --step rwa",
    "probe-no-latents": "probe --model python:toys:Reference --data pairs.csv",
    "report-no-such-run": "report nowhere",
    "list-unknown-kind": "list metric",
    "no-such-command": "adit",
}
WRONG: Mapping[str, Sequence[str]] = {
    name: shlex.split(command) for name, command in _COMMANDS.items()
}
