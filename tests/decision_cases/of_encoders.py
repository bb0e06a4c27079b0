"""Decisions on SemScore and least similarities: what measures them is known, or it is refused."""

import json

from decision_cases.cases import Decision
from decision_cases.of_audits import write_data
from decision_cases.of_stale_answers import (
    AUDIT,
    COMPARE,
    FIRST,
    MODULE,
    OTHER,
    PROBE,
    write_questions,
    write_reader,
)


def compare_by_probe(then, *, first=True):
    """A comparison by a probe, and other weights of the probe's model before the last time."""

    def make(folder):
        write_reader(folder)
        write_questions(folder / "questions.jsonl")
        command = (
            *COMPARE[:3],
            *("--model", "python:toy_answerers:Skimmer", "--task", "extractive_qa"),
            *("--data", "questions.jsonl", "--semscore", "probe:fitted#python:reader:Reader"),
            *("--run", "compared"),
        )
        yield (*PROBE, "--save", "fitted")
        if first:
            yield command
        (folder / "weights.json").write_text(json.dumps(then))
        yield command

    return make


BY_ENCODER = (*COMPARE[:-4], "--encoder", "python:reader:Reader", "--run", "mine")
KEPT_SIMILAR = (*AUDIT, "--min-similarity", "0.8", "--encoder", "python:reader:Reader")


def once(command):
    """One command."""

    def make(folder):
        write_data(folder / "rows.csv")
        write_reader(folder)
        write_questions(folder / "questions.jsonl")
        (folder / "mine.py").write_text(MODULE)
        yield command

    return make


DECISIONS = [
    *(
        Decision(
            name=f"no SemScore is measured by a probe of the former model {when}",
            make=compare_by_probe(OTHER, **how),
            exits=2,
            says=("`python:reader:Reader` is not the model", "fit the probe in `fitted` again"),
            never=("answering", "sem_score", "Traceback"),
            costly=True,
        )
        for when, how in (
            ("when the run is opened again", {}),
            ("on texts that were never read", {"first": False}),
        )
    ),
    Decision(
        name="SemScore is measured by a probe whose model is as it was",
        make=compare_by_probe(FIRST),
        exits=0,
        page=("by a probe of python:reader:Reader", "SemScore toy_answerers:Reader gold 0."),
        costly=True,
        never=("another model",),
    ),
    *(
        Decision(
            name=f"an encoder of Python behind {what} is refused before any model is asked",
            make=once(command),
            exits=2,
            says=("an encoder of the scheme `python`", "hf:NAME"),
            never=("answering", "Traceback"),
        )
        for what, command in (("SemScore", BY_ENCODER), ("a least similarity", KEPT_SIMILAR))
    ),
]
