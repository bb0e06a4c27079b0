"""The verdict on each target of an audit: may it replace the reference?

It rests on accuracy, on agreement with the reference on unchanged texts, and on concordance and
reach on each capability; see `scope.statistics.power`. Agreement is compared with the baseline's,
and shown alone without one. Concordance is compared with the baseline's, or with 1. If a model
gives labels without probabilities, matched flips replace it, never against 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from scope.estimation.pairs import LABELS_ALONE
from scope.estimation.tasks.shares import IN_A_THOUGHT
from scope.jobs.audit.request import AuditRequest
from scope.jobs.audit.verdict_words import in_words, left_out, no_texts_help
from scope.metrics import in_both
from scope.printing import counted
from scope.records import AuditResult, Endpoint, Manifest, Measurement, Replacement, Undefined
from scope.statistics import (
    PlannedEndpoint,
    joint_power,
    judge_against_one,
    judge_estimate,
    judge_paired,
    planned_from,
    texts_for_power,
    verdicts,
)

ASSUMED_YIELD = 0.6
"""Share of changed texts that count for concordance, assumed before any is drawn."""


class Evidence(NamedTuple):
    """An endpoint, and the same for planning a larger sample; None where that is not possible."""

    endpoint: Endpoint
    planned: PlannedEndpoint | None = None


def paired_evidence(
    name: str,
    first: Sequence[float],
    second: Sequence[float],
    ids: Sequence[str],
    *,
    margin: float,
    rows: int,
    least: int = 0,
) -> Evidence:
    """Whether ``first`` is at most a margin below ``second`` on the same texts, of ``rows``."""
    endpoint = judge_paired(name, first, second, ids, margin=margin)
    if not ids:
        return Evidence(endpoint)
    planned = planned_from(name, first, second, ids, margin=margin, rows=rows, least=least)
    return Evidence(endpoint, planned)


def decided(
    evidence: Mapping[str, Sequence[Evidence]], degenerate: Mapping[str, str]
) -> Iterator[Replacement]:
    """The verdict on each target, with the number of texts that would decide an open one."""
    endpoints = {target: [part.endpoint for part in parts] for target, parts in evidence.items()}
    for verdict in verdicts(endpoints, degenerate=degenerate):
        plan = [part.planned for part in evidence[verdict.target] if part.planned is not None]
        rows = None
        is_open = verdict.decision == "not shown" and verdict.target not in degenerate
        if is_open and plan and not no_texts_help(verdict):
            rows = texts_for_power(plan, targets=len(evidence))
        yield replace(verdict, rows_needed=rows)


def audit_verdicts(result: AuditResult, request: AuditRequest) -> tuple[Replacement, ...]:
    """The verdict on each target; none in a matrix, and none without random candidates."""
    if request.is_matrix or not request.candidates:
        return ()
    judged = [card.name for card in result.manifest.targets if card.role == "target"]
    measured = _Measured(result, request)
    evidence = {target: list(measured.evidence(target)) for target in judged}
    reasons = {share.model: share.degenerate for share in result.answer_shares if share.degenerate}
    dead = {model: f"{model} is degenerate" for model in reasons}
    texts = result.manifest.data[0].used
    for card in result.manifest.models:
        missing = sum(left.count for left in card.missing)
        if missing > request.agreement_margin * texts:
            dead.setdefault(
                card.name, f"{card.name} gives no answer to {missing:,} of {texts:,} texts"
            )
    # Of a model whose thoughts are cut, the limit of tokens decides what it answers.
    for model in reasons.keys() & evidence.keys():
        if IN_A_THOUGHT in reasons[model]:
            dead[model] = f"of {model}, {reasons[model].rpartition('; ')[2]}"
            evidence[model] = [
                part._replace(endpoint=replace(part.endpoint, p_beyond=1.0))
                for part in evidence[model]
            ]
    if measured.baseline in dead:
        dead = dict.fromkeys(judged, dead[measured.baseline]) | dead
    if not measured.capabilities:
        dead = dict.fromkeys(judged, "no capability is assessed") | dead
    return tuple(
        replace(verdict, sentence=str(in_words(verdict, result)))
        for verdict in decided(evidence, dead)
    )


def planned_endpoints(request: AuditRequest, texts: int, labelled: int) -> list[PlannedEndpoint]:
    """The endpoints of the verdict on a target that differs on almost no text, before it answers.

    Parameters
    ----------
    request
        With the margins and the capabilities; `ASSUMED_YIELD` of the texts they change count.
    texts, labelled
        The numbers of unchanged texts and of those with a gold label.
    """
    plan = [
        PlannedEndpoint(
            name=f"concordance on {capability}",
            margin=request.concordance_margin,
            share=ASSUMED_YIELD,
            against_one=request.baseline is None,
        )
        for capability in request.capabilities
    ]
    unchanged = {"accuracy": (request.accuracy_margin, labelled)}
    if request.baseline is not None:
        unchanged["agreement"] = (request.agreement_margin, texts)
    plan += [
        PlannedEndpoint(name=name, margin=margin, share=count / texts, least=texts)
        for name, (margin, count) in unchanged.items()
        if count
    ]
    return plan


def plan_in_words(manifest: Manifest, request: AuditRequest) -> str:
    """The plan of the verdicts, stored in the manifest before any target answers."""
    settings, baseline, card = manifest.settings, manifest.baseline, manifest.data[0]
    targets = sum(model.role == "target" for model in manifest.models)
    plan = planned_endpoints(request, card.used, card.labelled)
    changed = min(card.used, request.n or card.used)
    power = joint_power(plan, changed, targets=targets)
    enough = texts_for_power(plan, targets=targets)
    more = f" (0.8 from {enough:,} texts on)" if enough and power < 0.8 else ""
    order = f"concordance {settings['concordance_margin']:g}"
    compared = (
        f"{order} below 1"
        if baseline is None
        else f"agreement {settings['agreement_margin']:g} and {order} below {baseline.name}'s"
    )
    reference = manifest.reference.name
    right = f"accuracy {settings['accuracy_margin']:g} below {reference}'s, "
    return (
        f"plan: may a target replace {reference}? {changed:,} changed and {card.used:,} unchanged "
        f"texts; limits: {right if card.labelled else ''}{compared}, reach "
        f"{settings['least_reach']:g}; power {power:.2f}{more} for {counted(targets, 'target')}, "
        f"reach not counted, if each answers as {baseline.name if baseline else reference} on "
        f"almost every text and {ASSUMED_YIELD:.0%} of the texts can be changed and compared"
    )


class _Measured:
    """What an audit has measured, as endpoints."""

    def __init__(self, result: AuditResult, request: AuditRequest) -> None:
        card = result.manifest.baseline
        self.baseline = "" if card is None else card.name
        self.changed = len({candidate.perturbation.example_id for candidate in result.candidates})
        self.unchanged = len(result.examples)
        apart = left_out(result)
        names = (capability.name for capability in result.manifest.capabilities)
        self.capabilities = [name for name in names if name not in apart]
        self._request = request
        self._by_key = {
            (measurement.metric, measurement.capability, measurement.target): measurement
            for measurement in result.measurements
            if measurement.subset is None
        }

    def evidence(self, target: str) -> Iterator[Evidence]:
        """Every endpoint of a target, judged or shown."""
        request = self._request
        gaps = self._by_key["iid_accuracy_gap", None, target]
        if gaps.values:
            even = replace(gaps, values=(0.0,) * len(gaps.values))
            yield self._paired("accuracy", gaps, even, request.accuracy_margin, unchanged=True)
        else:
            yield Evidence(Endpoint(name="accuracy", estimate=gaps.estimate))
        agreement = self._by_key["iid_agreement", None, target]
        if self.baseline:
            baseline = self._by_key["iid_agreement", None, self.baseline]
            margin = request.agreement_margin
            yield self._paired("agreement", agreement, baseline, margin, unchanged=True)
        else:
            yield Evidence(Endpoint(name="agreement", estimate=agreement.estimate))
        for capability in self.capabilities:
            yield self._concordance(target, capability)
            reach = self._by_key.get(("reach", capability, target))
            name = f"reach on {capability}"
            if reach is not None and LABELS_ALONE in str(reach.estimate):
                yield Evidence(Endpoint(name=name, estimate=reach.estimate))
            elif reach is not None:
                yield Evidence(judge_estimate(name, reach.estimate, limit=request.least_reach))

    def _concordance(self, target: str, capability: str) -> Evidence:
        name, margin = f"concordance on {capability}", self._request.concordance_margin
        models = (target, self.baseline) if self.baseline else (target,)
        if order := self._values("concordance", capability, models):
            if self.baseline:
                return self._paired(name, order[0], order[1], margin)
            values, ids = order[0].values, order[0].example_ids
            return Evidence(
                judge_against_one(name, values, ids, margin=margin),
                planned_from(name, values, None, ids, margin=margin, rows=self.changed),
            )
        missing = (self._by_key.get(("concordance", capability, model)) for model in models)
        reasons = [row.estimate for row in missing if row is not None and not row.values]
        why = reasons[0] if reasons else Undefined(reason="it was not measured")
        flips = self._values("informedness", capability, models)
        if self.baseline and flips and LABELS_ALONE in str(why):
            # Half of informedness plus 1: the share of followed changes, in 0..1.
            first, second = (
                replace(flip, values=tuple((value + 1) / 2 for value in flip.values))
                for flip in flips
            )
            return self._paired(f"matched flips on {capability}", first, second, margin)
        return Evidence(Endpoint(name=name, estimate=why, limit=-margin))

    def _values(self, metric: str, capability: str, models: Sequence[str]) -> list[Measurement]:
        """A metric of these models; nothing unless all have values."""
        rows = [self._by_key.get((metric, capability, model)) for model in models]
        measured = [row for row in rows if row is not None and row.values]
        return measured if len(measured) == len(models) else []

    def _paired(
        self,
        name: str,
        first: Measurement,
        second: Measurement,
        margin: float,
        *,
        unchanged: bool = False,
    ) -> Evidence:
        """First minus second, on the texts that both have."""
        ours, theirs, ids = in_both(first.by_text(), second.by_text())
        rows, least = (self.unchanged, self.unchanged) if unchanged else (self.changed, 0)
        return paired_evidence(name, ours, theirs, ids, margin=margin, rows=rows, least=least)
