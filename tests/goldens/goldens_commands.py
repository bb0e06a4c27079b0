"""The commands of the goldens; those of a chain run one after the other in one folder."""

from __future__ import annotations

import shlex
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Golden:
    """One command whose outcome is kept in the file of its name; `run` is that whose JSON it is."""

    name: str
    words: tuple[str, ...]
    run: str = ""


def golden(name: str, command: str) -> Golden:
    """A command with a run of its own, unless it makes none."""
    run = "" if command.startswith("report ") else name
    words = shlex.split(f"{command} --run {run}" if run else command)
    return Golden(name=name, words=tuple(words), run=run)


_TOYS = "--target python:toys:Student --target python:toys:Stranger --data texts.csv"
_TOY_AUDIT = f"audit --reference python:toys:Reference {_TOYS} --capability typo --n-unchanged 12"
_SUSPECT = "reuse --task choice --data exam.jsonl --suspect predictions:suspects.tsv"
_DERIVED = "--derivative 'predictions:tuned.tsv#*'"
_OURS = "--reference predictions:suspects.tsv#ours --control 'predictions:controls.tsv#*'"
CHAINS = (
    (
        golden(
            "audit-typo",
            f"{_TOY_AUDIT} --gate ood_agreement>=0.1 --gate 'hard_scope[typo,toys:Student]>=0.5'",
        ),
        golden(
            "audit-gates-fail",
            f"{_TOY_AUDIT} --seed 1 --trials 1 --gate hard_scope>=0.99"
            " --gate 'ood_agreement[typo,toys:Stranger]>=0.9'",
        ),
        golden("report-again", "report audit-typo --json-full"),
    ),
    (
        golden(
            "audit-next-token-toys",
            "audit --reference python:toys:Speaker --target python:toys:YoungSpeaker"
            " --target python:toys:Babbler --data texts.csv --role next_token --capability typo"
            " --next-tokens 3 --n-unchanged 8",
        ),
    ),
    (golden("fleet-embed-mean", "fleet embed --data answers.csv --forecaster mean"),),
    (
        golden("reuse-copy", f"{_SUSPECT}#copy {_OURS} --fail-on related"),
        golden("reuse-other", f"{_SUSPECT}#other {_OURS} {_DERIVED} --json-full"),
        golden(
            "reuse-two-references",
            f"{_SUSPECT}#partly {_OURS} --reference predictions:suspects.tsv#theirs"
            " --exclude-control 'k2*' --alpha 0.1",
        ),
    ),
    (
        golden(
            "compare-toys",
            "compare --model python:toys:Reader --model python:toys:Skimmer"
            " --model python:toys:Silent --encoder none --n 15 --task choice"
            " --task extractive_qa --task cloze --data choice=choices.jsonl"
            " --data extractive_qa=passages.json --data cloze=text:book.txt",
        ),
        golden(
            "compare-saved",
            "compare --model 'predictions:some.tsv#*' --task choice --data exam.jsonl"
            " --gate capa>=0.9 --gate accuracy>=0.1",
        ),
    ),
)
