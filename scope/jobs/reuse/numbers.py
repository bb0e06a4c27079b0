"""The numbers of a test of reuse in the form that all jobs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scope.jobs.reuse.items import ItemSet
from scope.records import GOLD, Measurement, Outcome, Verdict


def measurements(verdicts: Sequence[Verdict], *, labelled: bool) -> tuple[Measurement, ...]:
    """The suspect's evidence against each reference, and every model's accuracy.

    Accuracy is that on the questions as they are, where right answers are known; there is none of a
    sequential test, which begins with what the reference gets wrong.
    """
    found = [
        Measurement(
            metric=one.kind,
            target=verdict.suspect,
            against=verdict.reference,
            capability=one.capability,
            estimate=one.suspect,
        )
        for verdict in verdicts
        for one in verdict.evidence
    ]
    for verdict in [one for one in verdicts[:1] if labelled and not one.looks]:
        skills = [(verdict.suspect, verdict.skill)]
        skills += [(one.model, one.skill) for one in verdict.controls]
        found += [
            Measurement(metric="accuracy", target=name, against=GOLD, estimate=skill)
            for name, skill in skills
        ]
    return tuple(found)


def outcomes(
    sets: Mapping[str, ItemSet], verdicts: Sequence[Verdict], asked: Sequence[str]
) -> tuple[Outcome, ...]:
    """What became of each search; of the task, or of the plain texts, where nothing was searched.

    ``sets`` go by whose they are, ``asked`` names the task. Whose they are is told where it could
    be doubted.
    """
    several = len(sets) > 1
    searched = [
        replace(
            found.outcome,
            capability=f"{found.outcome.capability}{f' of {name}' if several else ''}",
        )
        for name, probes in sets.items()
        for found in probes.sets
    ]
    if searched:
        return tuple(searched)
    what = ", ".join(asked) or "texts"
    return tuple(
        Outcome(
            capability=f"{what}{f' for {one.reference}' if several else ''}",
            status="measured",
            searched=one.queries,
            found=one.shared,
            queries=one.queries,
        )
        for one in verdicts
    )
