"""Searches the perturbations of a reference, one capability at a time, resumably."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scope.foreign import NOT_THEIRS, Failed, attempt
from scope.jobs.expected_queries import CountedClassifier, expect_queries
from scope.jobs.sharing import SharedSearches
from scope.models.cached import CachedClassifier
from scope.printing import counted, first_line, shortened, writable
from scope.protocols import Capability, LeavesWords, Progress, SearchOptions
from scope.records import Example, Outcome, Perturbation
from scope.store import Run

LINES_OF_A_TRACE = 200
"""Most lines of a traceback in a result: what a third party raises may be of any length."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PerturbationSet:
    """The result of one capability's search, in the order of examples and trials."""

    outcome: Outcome
    perturbations: tuple[Perturbation, ...]


def find_perturbations(
    capability: Capability,
    reference: CachedClassifier,
    examples: Sequence[Example],
    options: SearchOptions,
    run: Run,
    progress: Progress,
    *,
    kept_as: str | None = None,
) -> PerturbationSet:
    """Search every example that the run does not know yet, and keep each as it is found.

    The run keeps them under the capability's name, or ``kept_as`` where it searches more than one
    reference. Progress is shown in queries, answered of those expected.

    A capability that fails does not end the audit: its outcome says why, with the traceback, and
    the others go on. What the user can fix, such as a full disk, does end it.
    """
    key = kept_as or capability.name
    shared = SharedSearches(capability, reference, examples, options, run.shared)
    known = _with_all_trials(run.perturbations(key), options.trials)
    others = shared.known(one.id for one in examples if (one.id, options.trials) not in known)
    run.add_perturbations(key, others)
    known.update({(one.example_id, one.trial): one for one in others})

    def search() -> PerturbationSet:
        waiting = [one for one in examples if (one.id, options.trials) not in known]
        recorded = _recorded_queries(known, examples, options.trials)
        expected = expect_queries(capability, examples, options, recorded)
        shown = progress.task(
            f"{capability.name}: distinct queries", expected.total, expected.answered
        )
        with shown as advance:
            counted = CountedClassifier(reference, expected, advance)
            for trials in capability.search(counted, waiting, options):
                _require_all_trials(capability, trials, options)
                run.add_perturbations(key, trials)
                shared.keep(trials)
                known.update({(one.example_id, one.trial): one for one in trials})
                expected.finish(trials[0].example_id)
                advance(0)
        ordered = tuple(
            known[example.id, trial]
            for example in examples
            for trial in range(1, options.trials + 1)
        )
        outcome = _measured(capability, ordered, _left_alone(capability, examples))
        return PerturbationSet(outcome=outcome, perturbations=ordered)

    # A third party's capability may fail in any way, also by `sys.exit(0)`.
    found = attempt(search, passing=NOT_THEIRS)
    if isinstance(found, Failed):
        return PerturbationSet(outcome=_failed(capability, found.error), perturbations=())
    return found


def changed_texts(run: Run, kept_as: str) -> list[str]:
    """The texts that a search, as the run keeps it, has found so far."""
    return [one.text for one in run.perturbations(kept_as).values() if one.text is not None]


def _with_all_trials(
    known: Mapping[tuple[str, int], Perturbation], trials: int
) -> dict[tuple[str, int], Perturbation]:
    """Those of the examples of which every trial is known: of damaged ones some are missing."""
    count = Counter(example for example, _ in known)
    return {key: one for key, one in known.items() if count[key[0]] == trials}


def _recorded_queries(
    known: Mapping[tuple[str, int], Perturbation], examples: Sequence[Example], trials: int
) -> dict[str, int]:
    """What the searches that the run knows have asked, by example."""
    return {
        one.id: sum(known[one.id, trial].queries for trial in range(1, trials + 1))
        for one in examples
        if (one.id, trials) in known
    }


def _require_all_trials(
    capability: Capability, trials: Sequence[Perturbation], options: SearchOptions
) -> None:
    numbers = sorted(one.trial for one in trials)
    if numbers != list(range(1, options.trials + 1)) or len({one.example_id for one in trials}) > 1:
        raise ValueError(
            f"{capability.name} gave the trials {numbers} at once, not all {options.trials} of one "
            "example"
        )


def _left_alone(capability: Capability, examples: Sequence[Example]) -> str | None:
    """In words what of the texts was left as it is; None where nothing was."""
    if not isinstance(capability, LeavesWords):
        return None
    words = sum(capability.left_alone(example.text) for example in examples)
    return f"{counted(words, 'word')} too long to be changed" if words else None


def _measured(
    capability: Capability, perturbations: Sequence[Perturbation], note: str | None
) -> Outcome:
    failures = Counter(one.failure for one in perturbations if one.failure is not None)
    return Outcome(
        capability=capability.name,
        status="measured",
        reason=note,
        searched=len(perturbations),
        found=len(perturbations) - failures.total(),
        queries=sum(one.queries for one in perturbations),
        failures=dict(sorted(failures.items())),
    )


def _failed(capability: Capability, error: BaseException) -> Outcome:
    return Outcome(
        capability=capability.name,
        status="failed",
        reason=writable(first_line(error)),
        trace=shortened(
            writable("".join(traceback.format_exception(error))), LINES_OF_A_TRACE, 20_000
        ),
    )
