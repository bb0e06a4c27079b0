"""The verdict on each target of an audit: may it replace the reference?

It rests on accuracy, on agreement with the reference on unchanged texts, and on concordance and
reach on each capability; see `scope.statistics.power`. Agreement is compared with the
baseline's, and shown alone without one. Concordance is compared with the baseline's, or with 1.
Where a model gives labels without probabilities, matched flips take its place, never against 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from reports.wording import short
from scope.estimation.pairs import LABELS_ALONE
from scope.jobs.audit.request import AuditRequest
from scope.printing import counted
from scope.records import (
    AuditResult,
    Endpoint,
    Estimate,
    Manifest,
    Measurement,
    Replacement,
    Undefined,
)
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

NO_GOLD = "the data have no gold labels"


class _Evidence(NamedTuple):
    """An endpoint, and the same for planning a larger audit; None where that is not possible."""

    endpoint: Endpoint
    planned: PlannedEndpoint | None = None


def audit_verdicts(result: AuditResult, request: AuditRequest) -> tuple[Replacement, ...]:
    """The verdict on each target; none in a matrix, and none without random candidates."""
    if request.is_matrix or not request.candidates:
        return ()
    judged = [card.name for card in result.manifest.targets if card.role == "target"]
    measured = _Measured(result, request)
    evidence = {target: list(measured.evidence(target)) for target in judged}
    dead = {
        share.model: f"{share.model} is degenerate"
        for share in result.answer_shares
        if share.degenerate
    }
    if measured.baseline in dead:
        dead = dict.fromkeys(judged, dead[measured.baseline]) | dead
    if not measured.capabilities:
        dead = dict.fromkeys(judged, "no capability is assessed") | dead
    endpoints = {target: [one.endpoint for one in own] for target, own in evidence.items()}
    found = []
    for verdict in verdicts(endpoints, degenerate=dead):
        plan = [one.planned for one in evidence[verdict.target] if one.planned is not None]
        undecided = verdict.decision == "not shown" and verdict.target not in dead
        rows = None
        if undecided and plan and not any(map(no_texts_help, verdict.endpoints)):
            rows = texts_for_power(plan, targets=len(judged))
        planned = replace(verdict, rows_needed=rows)
        found.append(replace(planned, sentence=_sentence(planned, result, measured)))
    return tuple(found)


def planned_endpoints(request: AuditRequest, texts: int, labelled: int) -> list[PlannedEndpoint]:
    """The endpoints of the verdict on a target that differs on almost no text, before it answers.

    Parameters
    ----------
    request
        With the margins and the capabilities; `ASSUMED_YIELD` of the texts they change count.
    texts, labelled
        How many unchanged texts there are, and how many have a gold label.
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
    """The plan of the verdicts, as the manifest holds it before any target answers."""
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
        f"but for reach, if each scores as {baseline.name if baseline else reference} on almost "
        f"every text and {ASSUMED_YIELD:.0%} of the changed texts count"
    )


class _Measured:
    """What an audit has measured, as endpoints."""

    def __init__(self, result: AuditResult, request: AuditRequest) -> None:
        card = result.manifest.baseline
        self.baseline = "" if card is None else card.name
        self.changed = len({candidate.perturbation.example_id for candidate in result.candidates})
        self.unchanged = len(result.examples)
        drawn = {outcome.capability: outcome for outcome in result.candidate_outcomes}
        found = {
            capability.name: drawn[capability.name] for capability in result.manifest.capabilities
        }
        self.left_out = {
            name: str(one.reason) for name, one in found.items() if one.status == "not applicable"
        }
        self.capabilities = [name for name in found if name not in self.left_out]
        self._request = request
        self._by_key = {
            (measurement.metric, measurement.capability, measurement.target): measurement
            for measurement in result.measurements
            if measurement.subset is None
        }

    def evidence(self, target: str) -> Iterator[_Evidence]:
        """Every endpoint of a target, judged or shown."""
        request = self._request
        gaps = self._by_key["iid_accuracy_gap", None, target]
        if gaps.values:
            even = replace(gaps, values=(0.0,) * len(gaps.values))
            yield self._paired("accuracy", gaps, even, request.accuracy_margin, unchanged=True)
        else:
            yield _Evidence(Endpoint(name="accuracy", estimate=Undefined(reason=NO_GOLD)))
        agreement = self._by_key["iid_agreement", None, target]
        if self.baseline:
            baseline = self._by_key["iid_agreement", None, self.baseline]
            margin = request.agreement_margin
            yield self._paired("agreement", agreement, baseline, margin, unchanged=True)
        else:
            yield _Evidence(Endpoint(name="agreement", estimate=agreement.estimate))
        for capability in self.capabilities:
            yield self._concordance(target, capability)
            reach = self._by_key.get(("reach", capability, target))
            name = f"reach on {capability}"
            if reach is not None and LABELS_ALONE in str(reach.estimate):
                yield _Evidence(Endpoint(name=name, estimate=reach.estimate))
            elif reach is not None:
                yield _Evidence(judge_estimate(name, reach.estimate, limit=request.least_reach))

    def _concordance(self, target: str, capability: str) -> _Evidence:
        name, margin = f"concordance on {capability}", self._request.concordance_margin
        models = (target, self.baseline) if self.baseline else (target,)
        if order := self._values("concordance", capability, models):
            if self.baseline:
                return self._paired(name, order[0], order[1], margin)
            values, ids = order[0].values, order[0].example_ids
            return _Evidence(
                judge_against_one(name, values, ids, margin=margin),
                planned_from(name, values, None, ids, margin=margin, rows=self.changed),
            )
        missing = (self._by_key.get(("concordance", capability, model)) for model in models)
        reasons = [one.estimate for one in missing if one is not None and not one.values]
        why = reasons[0] if reasons else Undefined(reason="it was not measured")
        flips = self._values("informedness", capability, models)
        if self.baseline and flips and LABELS_ALONE in str(why):
            # Half of informedness plus 1: the share of followed changes, in 0..1.
            first, second = (
                replace(flip, values=tuple((value + 1) / 2 for value in flip.values))
                for flip in flips
            )
            return self._paired(f"matched flips on {capability}", first, second, margin)
        return _Evidence(Endpoint(name=name, estimate=why, limit=-margin))

    def _values(self, metric: str, capability: str, models: Sequence[str]) -> list[Measurement]:
        """A metric of these models; nothing unless all have values."""
        found = [self._by_key.get((metric, capability, model)) for model in models]
        measured = [one for one in found if one is not None and one.values]
        return measured if len(measured) == len(models) else []

    def _paired(
        self,
        name: str,
        first: Measurement,
        second: Measurement,
        margin: float,
        *,
        unchanged: bool = False,
    ) -> _Evidence:
        """First minus second, on the texts that both have."""
        of_first, of_second = (
            dict(zip(one.example_ids, one.values, strict=True)) for one in (first, second)
        )
        ids = [example for example in of_first if example in of_second]
        ours, theirs = ([of[id_] for id_ in ids] for of in (of_first, of_second))
        endpoint = judge_paired(name, ours, theirs, ids, margin=margin)
        if not ids:
            return _Evidence(endpoint)
        rows, least = (self.unchanged, self.unchanged) if unchanged else (self.changed, 0)
        planned = planned_from(name, ours, theirs, ids, margin=margin, rows=rows, least=least)
        return _Evidence(endpoint, planned)


def no_texts_help(endpoint: Endpoint) -> bool:
    """Whether no number of texts can be given: undefined, surely worse, or an open reach."""
    estimate, limit = endpoint.estimate, endpoint.limit
    if limit is None:
        return False
    if not isinstance(estimate, Estimate) or endpoint.state == "beyond":
        return True
    if endpoint.name.startswith("reach on "):
        return endpoint.state != "within"
    return limit < 0 and estimate.high < 0


def opening(verdict: Replacement, reference: str) -> str:
    """The first words of a verdict's sentence: the verdict itself."""
    shown = "" if verdict.decision != "not shown" else "It is not shown that "
    may = "may not" if verdict.decision == "may not" else "may"
    return f"{shown}{verdict.target} {may} replace {reference}"


def _sentence(verdict: Replacement, result: AuditResult, measured: _Measured) -> str:
    """The verdict for a reader who reads nothing else."""
    reference = result.manifest.reference.name
    by_name = {endpoint.name: endpoint for endpoint in verdict.endpoints}
    parts = [opening(verdict, reference)]
    if verdict.decision == "may replace":
        parts[0] += " in what was assessed" if verdict.not_judged or measured.left_out else ""
        within = [name for name in by_name if name not in verdict.not_judged]
        parts[0] += f": {named(within)} are within limits"
    elif verdict.decision == "may not":
        parts[0] += f": {_beyond(verdict, reference, measured)}"
    else:
        parts[0] += f": {verdict.reason or _not_within(verdict)}"
        if verdict.rows_needed:
            parts.append(_more_texts(verdict.rows_needed, result, measured.baseline or reference))
    for name in verdict.not_judged:
        estimate = by_name[name].estimate
        if name == "agreement":
            parts.append("Agreement is shown and not judged: there is no baseline")
        elif isinstance(estimate, Undefined):
            parts.append(f"{name.capitalize()} is not assessed: {estimate.reason}")
    parts += [f"{name} is not assessed: {why}" for name, why in measured.left_out.items()]
    parts += [f"Measured against {measured.baseline}"] if measured.baseline else []
    return ". ".join(parts) + "."


def _beyond(verdict: Replacement, reference: str, measured: _Measured) -> str:
    """Accuracy, a reach or else the surest endpoint beyond, then the names of the others."""
    beyond = [endpoint for endpoint in verdict.endpoints if endpoint.name in verdict.beyond]
    worst = max(
        beyond,
        key=lambda end: (end.name == "accuracy", end.name.startswith("reach"), -end.p_beyond),
    )
    others = [name for name in verdict.beyond if name != worst.name]
    verb = "is" if len(others) == 1 else "are"
    also = f", and {named(others)} {verb} beyond limits, too" if others else ""
    return _in_words(worst, reference, measured) + also


def _in_words(endpoint: Endpoint, reference: str, measured: _Measured) -> str:
    """An endpoint's number, what it is compared with, and its limit."""
    name, estimate, limit = endpoint.name, endpoint.estimate, endpoint.limit or 0.0
    if not isinstance(estimate, Estimate):
        return f"{name} is {estimate}"
    if name.startswith("reach on "):
        on = name.removeprefix("reach ")
        if estimate.value >= 0:
            times = f"{estimate.value:.2f} times as far"
            return f"it moves {times} as {reference} {on} (limit {limit:g})"
        against = "it moves against" if estimate.high < 0 else "it is not shown to move with"
        return f"{against} {reference} {on} (reach {short(estimate)}, limit {limit:g})"
    if limit > 0:
        return f"its {name} is {estimate.value:.2f} (limit {limit:g})"
    if name == "accuracy":
        below = f"{-100 * estimate.value:.1f} points below {reference}'s"
        return f"its accuracy is {below} (limit {-100 * limit:g})"
    return f"its {name} is {-estimate.value:.3f} below {measured.baseline}'s (limit {-limit:g})"


def _not_within(verdict: Replacement) -> str:
    """The endpoints that are not within, and why those that are undefined are so."""
    found = [endpoint for endpoint in verdict.endpoints if endpoint.name in verdict.open]
    parts = [
        f"{one.name} is {one.estimate}" for one in found if isinstance(one.estimate, Undefined)
    ]
    unclear = [one.name for one in found if isinstance(one.estimate, Estimate)]
    parts += [f"{named(unclear)} may lie beyond limits"] if unclear else []
    return "; ".join(parts)


def named(names: Sequence[str]) -> str:
    """Endpoints by name, those of several capabilities together.

    >>> named(["accuracy", "reach on typo", "concordance on typo", "reach on noise"])
    'accuracy, reach on typo and noise, and concordance on typo'
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        measure, _, capability = name.partition(" on ")
        groups.setdefault(measure, []).extend(filter(None, [capability]))
    parts = [f"{one} on {listed(on)}" if on else one for one, on in groups.items()]
    return listed(parts, ", and " if any(" and " in part for part in parts) else " and ")


def _more_texts(rows: int, result: AuditResult, standard: str) -> str:
    """How many texts give the verdict the wanted power, and whether the data have them."""
    rounded = rounded_up(rows)
    card = result.manifest.data[0]
    known = card.rows - card.duplicates - card.empty
    lacking = f" (these data have {known:,})" if known < rows else ""
    return (
        f"A new run on about {rounded:,} changed and unchanged texts with another --seed{lacking} "
        f"shows it with power 0.8 if it is as good as {standard}"
    )


def rounded_up(rows: int) -> int:
    """The next number of two digits and zeros.

    Examples
    --------
    >>> rounded_up(1147), rounded_up(98)
    (1200, 98)
    """
    digits: int = 10 ** max(0, len(str(rows)) - 2)
    return -(-rows // digits) * digits


def listed(parts: Sequence[str], last: str = " and ") -> str:
    """Several names in a sentence: commas, and ``last`` before the last one."""
    return last.join(filter(None, (", ".join(parts[:-1]), parts[-1])))
