"""The measurements and outcomes of a test of reuse, as the records of all jobs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from scope.jobs.reuse.questions import ItemSet
from scope.records import GOLD, Measurement, Outcome, Verdict


def measurements(verdicts: Sequence[Verdict], *, labelled: bool) -> tuple[Measurement, ...]:
    """The suspect's evidence against each reference, and every model's accuracy.

    Accuracy is measured on the original questions, where right answers are known. A sequential
    test has none, because it asks the reference's mistakes first.
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
    sets: Mapping[str, ItemSet], verdicts: Sequence[Verdict], names: Sequence[str]
) -> tuple[Outcome, ...]:
    """The outcome of each search, or of the task or the plain texts if nothing was searched.

    ``sets`` has the name of the reference as key, ``names`` are the capabilities or the task. With
    several references an outcome names its own.
    """
    several = len(sets) > 1
    searched = [
        replace(
            found.outcome,
            capability=f"{found.outcome.capability}{f' of {name}' if several else ''}",
        )
        for name, items in sets.items()
        for found in items.sets
    ]
    if searched:
        return tuple(searched)
    what = ", ".join(names) or "texts"
    return tuple(
        Outcome(
            capability=f"{what}{f' for {one.reference}' if several else ''}",
            status="measured",
            searched=one.looks[-1].asked if one.looks else len(sets[one.reference].items),
            found=one.shared,
            queries=one.queries,
        )
        for one in verdicts
    )
