"""The numbers of a test of reuse in the form that all jobs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scope.jobs.probes import ProbeSet
from scope.records import GOLD, Measurement, Outcome, Verdict


def measurements(verdicts: Sequence[Verdict], *, labelled: bool) -> tuple[Measurement, ...]:
    """The suspect's evidence against each reference, and every model's accuracy.

    Accuracy is that on the first reference's probes, and only where right answers are known.
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
    for verdict in verdicts[:1] if labelled else ():
        skills = [(verdict.suspect, verdict.skill)]
        skills += [(one.model, one.skill) for one in verdict.controls]
        found += [
            Measurement(metric="accuracy", target=name, against=GOLD, estimate=skill)
            for name, skill in skills
        ]
    return tuple(found)


def outcomes(
    sets: Mapping[str, ProbeSet], verdicts: Sequence[Verdict], asked: Sequence[str]
) -> tuple[Outcome, ...]:
    """What became of each search; of the task, or of the plain texts, where nothing was searched.

    ``asked`` names the task.
    """
    searched = [found.outcome for probes in sets.values() for found in probes.sets]
    if searched:
        return tuple(searched)
    return tuple(
        Outcome(
            capability=", ".join(asked) or "texts",
            status="measured",
            searched=len(sets[one.reference].questions),
            found=one.shared,
            queries=one.queries,
        )
        for one in verdicts
    )
