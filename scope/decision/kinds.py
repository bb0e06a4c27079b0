"""Every kind of evidence that a case offers."""

from __future__ import annotations

from collections.abc import Iterator

from scope.decision.case import Case, Kind
from scope.evidence.chance_corrected import chance_corrected_scores
from scope.evidence.invariances import asked_pairs, invariance_scores
from scope.evidence.log_probabilities import log_probability_scores
from scope.evidence.shared_mistakes import SharedMistakes, value_of_a_copy
from scope.metrics import METRICS, Metric
from scope.statistics import mean_estimate


def kinds_of_evidence(case: Case, shared: SharedMistakes, soft_scope: Metric) -> tuple[Kind, ...]:
    """The kinds that decide, then those that are only shown.

    What decides is measured against what the other models answer, or on texts that were made for
    the reference; CAPA and error consistency allow for chance alone.
    """
    return (*_deciding(case, shared, soft_scope), *_turned(case, soft_scope), *_shown(case))


def _turned(case: Case, soft_scope: Metric) -> Iterator[Kind]:
    """Where the suspect was searched: does the reference keep the suspect's invariances?

    The reference then stands where the suspect stands elsewhere, among the same controls. It is
    shown only: a control is ranked against the suspect here, and against the reference there.
    """
    for pairs in (asked_pairs(one, case.units) for one in case.turned):
        for metric in (METRICS["hard_scope"], soft_scope):
            scores = invariance_scores(pairs, metric, case.units)
            if scores is not None:
                yield Kind(
                    name=str(metric),
                    capability=f"{pairs.capability} of the suspect",
                    scores=scores,
                    copy=1.0,
                    most=1.0,
                    suspect=mean_estimate(pairs.values(metric, 0), pairs.example_ids),
                    decides=False,
                )


def _deciding(case: Case, shared: SharedMistakes, soft_scope: Metric) -> Iterator[Kind]:
    yield Kind(
        name="shared_mistakes",
        scores=shared.scores,
        copy=value_of_a_copy(case.answers, shared),
        decides=True,
    )
    of_probabilities = log_probability_scores(case.answers)
    if of_probabilities is not None:
        yield Kind(
            name="log_probabilities", scores=of_probabilities, copy=1.0, most=1.0, decides=True
        )
    for pairs in (asked_pairs(one, case.units) for one in case.pairs):
        for metric in (METRICS["hard_scope"], soft_scope):
            scores = invariance_scores(pairs, metric, case.units)
            if scores is not None:
                yield Kind(
                    name=str(metric),
                    capability=pairs.capability,
                    scores=scores,
                    copy=1.0,
                    most=1.0,
                    # Examples without a pair are no evidence of it, though they have a part of 0.
                    suspect=mean_estimate(pairs.values(metric, 0), pairs.example_ids),
                    decides=True,
                )


def _shown(case: Case) -> Iterator[Kind]:
    for key, scores in chance_corrected_scores(case.answers).items():
        yield Kind(name=key, scores=scores, copy=1.0, most=1.0, decides=False)
