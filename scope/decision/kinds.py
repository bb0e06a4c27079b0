"""All kinds of evidence on a case."""

from __future__ import annotations

from collections.abc import Iterator

from scope.decision.case import Case, Kind
from scope.estimation.pairs import InvariantPairs
from scope.evidence.chance_corrected import chance_corrected_scores
from scope.evidence.invariances import asked_pairs, invariance_scores
from scope.evidence.log_probabilities import log_probability_scores
from scope.evidence.shared_mistakes import SharedMistakes, value_of_a_copy
from scope.metrics import METRICS, Metric
from scope.statistics import mean_estimate


def kinds_of_evidence(case: Case, shared: SharedMistakes, soft_scope: Metric) -> tuple[Kind, ...]:
    """The kinds that decide the verdict, then those that are only shown.

    Only kinds that correct for the other models' answers decide. Hard- and Soft-SCoPE, CAPA and
    error consistency do not: a robust model keeps most invariances, and models with the same base
    keep the same ones.
    """
    return (
        *_deciding(case, shared),
        *(kind for pairs in case.pairs for kind in _invariances(case, pairs, soft_scope)),
        *_chance_corrected(case),
    )


def _deciding(case: Case, shared: SharedMistakes) -> Iterator[Kind]:
    yield Kind(
        name="shared_mistakes",
        scores=shared.scores,
        copy=value_of_a_copy(case.answers, shared),
        decides=True,
    )
    scores = log_probability_scores(case.answers)
    if scores is not None:
        yield Kind(name="log_probabilities", scores=scores, copy=1.0, most=1.0, decides=True)


def _invariances(case: Case, asked: InvariantPairs, soft_scope: Metric) -> Iterator[Kind]:
    pairs = asked_pairs(asked, case.units)
    for metric in (METRICS["hard_scope"], soft_scope):
        scores = invariance_scores(pairs, metric, case.units)
        if scores is not None:
            yield Kind(
                name=str(metric),
                capability=pairs.capability,
                scores=scores,
                copy=1.0,
                most=1.0,
                # Examples without a pair are not counted, although their part is 0.
                suspect=mean_estimate(pairs.values(metric, 0), pairs.example_ids),
                decides=False,
            )


def _chance_corrected(case: Case) -> Iterator[Kind]:
    for key, scores in chance_corrected_scores(case.answers).items():
        yield Kind(name=key, scores=scores, copy=1.0, most=1.0, decides=False)
