"""Every kind of evidence that a case offers."""

from __future__ import annotations

from collections.abc import Iterator

from scope.decision.case import Case, Kind
from scope.evidence.chance_corrected import chance_corrected_scores
from scope.evidence.invariances import invariance_scores
from scope.evidence.log_probabilities import log_probability_scores
from scope.evidence.shared_mistakes import SharedMistakes, value_of_a_copy
from scope.metrics import METRICS, Metric


def kinds_of_evidence(case: Case, shared: SharedMistakes, soft_scope: Metric) -> tuple[Kind, ...]:
    """The kinds that decide, then those that are only shown.

    What decides is measured against what the other models answer, or on texts that were made for
    the reference; CAPA and error consistency allow for chance alone.
    """
    return (*_deciding(case, shared, soft_scope), *_shown(case))


def _deciding(case: Case, shared: SharedMistakes, soft_scope: Metric) -> Iterator[Kind]:
    yield Kind(
        name="shared_mistakes",
        scores=shared.scores,
        copy=value_of_a_copy(case.answers, shared),
        decides=True,
    )
    of_probabilities = log_probability_scores(case.answers)
    if of_probabilities is not None:
        yield Kind(name="log_probabilities", scores=of_probabilities, copy=1.0, decides=True)
    for pairs in case.pairs:
        for metric in (METRICS["hard_scope"], soft_scope):
            scores = invariance_scores(pairs, metric, case.units)
            if scores is not None:
                yield Kind(
                    name=str(metric),
                    capability=pairs.capability,
                    scores=scores,
                    copy=1.0,
                    decides=True,
                )


def _shown(case: Case) -> Iterator[Kind]:
    for key, scores in chance_corrected_scores(case.answers).items():
        yield Kind(name=key, scores=scores, copy=1.0, decides=False)
