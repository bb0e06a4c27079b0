"""The verdict on each target of an audit: may it replace the reference?

Five endpoints: accuracy; the same answers as the reference on unchanged texts; and on random
changes whether the target keeps its answer as often, reacts to the same changes (concordance), and
as strongly (reach). The last three are one number each over the capabilities that are assessed.

Without a baseline the verdict rests on accuracy and *keeps its answer*; same answers and reaction
are shown, and judged where a limit is named. Where the reference was sampled, how often it gives
the same answer twice is the yardstick of same answers. Without gold labels and any yardstick, same
answers stand for accuracy: where two models answer alike on 98 % of texts, accuracy differs by at
most 2 points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from reports.wording import rounded_up
from scope.errors import counted
from scope.estimation.answer_shares import IN_A_THOUGHT
from scope.jobs.audit.request import AuditRequest
from scope.metrics.invariance import in_both
from scope.records import AuditResult, Endpoint, Measurement, Replacement, Undefined, score_of
from scope.statistics.intervals import fewest_texts, numbers_and_ids, student_estimate
from scope.verdicts.decide import (
    ENDPOINTS,
    Kind,
    Pooled,
    error_at,
    error_of_second,
    judge_differences,
    judge_share,
    judge_slope,
    lacking_clusters,
    pooled,
)
from scope.verdicts.plan import (
    ALL_GOLD,
    Evidence,
    accuracy_evidence,
    is_own_yardstick,
    keeps_too_little,
    not_assessed,
    planned_differences,
    planned_slope,
    verdicts_on,
)
from scope.verdicts.words import OPTION, audit_words

ByText = Mapping[str, float]
Judge = Callable[..., Evidence]
"""From a name, values by text and how many margins it may lie below, to an endpoint."""


def audit_verdicts(
    result: AuditResult, request: AuditRequest, earlier: AuditResult | None = None
) -> tuple[Replacement, ...]:
    """The verdict on each target; none without random candidates.

    It is on the texts of an ``earlier`` run, too, whose plan was the same; of the texts that both
    have, the values of this run count.
    """
    if not request.candidates:
        return ()
    measured = _Measured(result, request, earlier)
    judged = (card.name for card in result.manifest.targets if card.role == "target")
    evidence = {target: list(measured.evidence(target)) for target in judged}
    dead = _degenerate(result, request)
    for share in result.answer_shares:
        # Of a model whose thoughts are cut, the limit of tokens decides what it answers.
        if share.model in evidence and IN_A_THOUGHT in (share.degenerate or ""):
            evidence[share.model] = [part.never_beyond for part in evidence[share.model]]
    few = lacking_clusters([text.example.id for text in result.examples])
    if why := dead.get(measured.baseline) or measured.none_assessed() or few:
        dead = dict.fromkeys(evidence, why) | dead
    # The texts needed are those of a second run, of which a quarter are here already; a third run
    # has no known error.
    error = error_of_second(0.25) if earlier is None else None
    return verdicts_on(evidence, dead, partial(audit_words, result=result), error=error)


def _degenerate(result: AuditResult, request: AuditRequest) -> dict[str, str]:
    """Why the answers of models are no evidence."""
    dead, texts = {}, result.manifest.data[0].used
    for card in result.manifest.models:
        # A model that writes nothing that can be read gives another answer than the reference.
        wrote_nothing = ("empty", "not readable") if request.role == "answer" else ()
        missing = sum(left.count for left in card.missing if left.reason not in wrote_nothing)
        if missing > request.agreement_margin * texts:
            dead[card.name] = f"{card.name} gives no answer to {missing:,} of {texts:,} texts"
    for share in result.answer_shares:
        if share.degenerate:
            cut = f"of {share.model}, {share.degenerate.rpartition('; ')[2]}"
            is_cut = IN_A_THOUGHT in share.degenerate
            dead[share.model] = cut if is_cut else f"{share.model} is degenerate"
    return dead


_ASSESSED_TOGETHER = (("keeps", "accuracy on changed texts"), ("concordance", "reach"))
"""On which capabilities the first is assessed, so is the second."""


class _Measured:
    """What an audit has measured, as endpoints; `ENDPOINTS` has the metric of each."""

    def __init__(
        self, result: AuditResult, request: AuditRequest, earlier: AuditResult | None
    ) -> None:
        card = result.manifest.baseline
        self.baseline = "" if card is None else card.name
        self._reference = result.manifest.reference.name
        names = [card.name for card in result.manifest.capabilities]
        self._left_out = {name: not_assessed(result, name) for name, _ in _ASSESSED_TOGETHER}
        self._assessed = {
            measure: [name for name in names if name not in few]
            for measures, few in zip(_ASSESSED_TOGETHER, self._left_out.values(), strict=True)
            for measure in measures
        }
        drawn = {(each.capability, each.perturbation.example_id) for each in result.candidates}
        changed = max((sum(c == name for c, _ in drawn) for name in names), default=0)
        self._texts_of: dict[Kind, int] = {"unchanged": len(result.examples), "changed": changed}
        self._request, self._result = request, result
        self._usual = (ENDPOINTS["agreement"].metric, None, self.baseline)
        if is_own_yardstick(result.manifest):
            self._usual = ("self_agreement", None, self._reference)
        texts = (*result.examples, *(earlier.examples if earlier else ()))
        self._texts = {text.example.id: text for text in texts}
        self._rows, before = (
            {(row.metric, row.capability, row.target): row for row in rows if row.subset is None}
            for rows in (result.measurements, earlier.measurements if earlier else ())
        )
        self._before = {key: row.by_text() for key, row in before.items() if key in self._rows}
        looks = int(str(result.manifest.settings.get("looks", 1)))
        self._error = error_at(result.look or looks, looks)
        if earlier is not None:
            seeds = {each.manifest.settings["seed"] for each in (result, earlier)}
            self._error = self._error_of_second(len(seeds) == 1)

    def _error_of_second(self, same_seed: bool) -> float:
        """The error of a claim on the texts of both runs: that of their least correlated number.

        With the same seed a text has the same changes in both.
        """
        shares = []
        metrics = {ENDPOINTS[name].metric for name in ("agreement", "keeps", "concordance")}
        for key, before in self._before.items():
            if key[0] in metrics:
                now = self._rows[key].by_text().keys()
                same = before if same_seed or key[1] is None else before.keys() - now
                shares.append(len(same) ** 2 / (len(before) * len(before.keys() | now) or 1))
        return error_of_second(min(shares, default=0.0))

    def _row(self, measure: str, capability: str | None, model: str) -> Measurement | None:
        return self._rows.get((ENDPOINTS[measure].metric, capability, model))

    def _values(self, measure: str, capability: str | None, model: str) -> dict[str, float]:
        """The values by text of this run, and of the earlier one on other texts."""
        return self._by_text((ENDPOINTS[measure].metric, capability, model))

    def _by_text(self, key: tuple[str, str | None, str]) -> dict[str, float]:
        return {**self._before.get(key, {}), **self._rows[key].by_text()}

    def none_assessed(self) -> str:
        """Why no capability is assessed, with the option that makes enough texts count."""
        if self._assessed["keeps"]:
            return ""
        few = "; ".join(f"{name}: {why}" for name, why in self._left_out["keeps"].items())
        rows = (row for key, row in self._rows.items() if key[0] == ENDPOINTS["keeps"].metric)
        most, option = max((len(row.values) for row in rows), default=0), ""
        if most and self._left_out["keeps"].keys() - keeps_too_little(self._result):
            needed = 1.1 * fewest_texts(self._request.keeps_margin)
            number = rounded_up(math.ceil(needed * self._texts_of["changed"] / most))
            option = f"{OPTION}{number} enough are"
        return f"no capability is assessed ({few}){option}"

    def evidence(self, target: str) -> Iterator[Evidence]:
        """Every endpoint of a target, judged or shown."""
        request, limit = self._request, self._request.least_concordance
        agreement = self._values("agreement", None, target)
        yield from self._accuracy(target, agreement)
        yield self._same_answers(target, agreement)
        differ = partial(self._differences, margin=request.keeps_margin)
        shown = partial(self._differences, margin=None)
        yield from self._pooled("keeps", (target, self._reference), differ)
        yield from self._pooled("accuracy on changed texts", (target, self._reference), shown)
        if self.baseline and limit is None:
            near = partial(self._differences, margin=request.concordance_margin)
            yield from self._pooled("concordance", (target, self.baseline), near)
        else:
            yield from self._pooled("concordance", (target,), partial(self._share, least=limit))
        yield from self._pooled("reach", (target,), self._strength)

    def _accuracy(self, target: str, agreement: ByText) -> Iterator[Evidence]:
        """Accuracy, or recovery, and the recall of classes."""
        request, row = self._request, self._row("accuracy", None, target)
        gaps, margin = self._values("accuracy", None, target), request.accuracy_margin
        if request.recovery is not None:
            yield self._recovery(gaps, request.recovery)
            return
        if row is None or not row.values:
            yield Evidence(Endpoint(name="accuracy", estimate=_reason([row])))
            return
        differ = [text for text, same in agreement.items() if same < 1]
        chosen = _chosen_labels(gaps, agreement, differ)
        # Where two models answer alike, their accuracy is the same whatever the label.
        complete = gaps.keys() >= {*differ}
        of_all = {text: gaps.get(text, 0.0) for text in agreement} if complete else gaps
        gold = {id_: text.example.label for id_, text in self._texts.items()}
        endpoints = {"accuracy": of_all}
        for name in request.recall:
            of_class = {text: gap for text, gap in gaps.items() if gold.get(text) == name}
            endpoints[f"recall of {name}"] = of_class
        for name, values in endpoints.items():
            if chosen and not (complete and name == "accuracy"):
                yield Evidence(Endpoint(name=name, estimate=chosen, limit=-margin))
            else:
                yield self._differences(name, Pooled(values), margin=margin)

    def _recovery(self, gaps: ByText, least: float) -> Evidence:
        """The share of the reference's accuracy, which takes gold labels on all texts."""
        labels = self._result.manifest.reference.labels
        right = {
            id_: score_of(each.reference, each.example.label, labels)
            for id_, each in self._texts.items()
        }
        if len(gaps) < len(right):
            none = Undefined(reason=ALL_GOLD.format(known=len(gaps), texts=len(right)))
            return Evidence(Endpoint(name="recovery", estimate=none, limit=least))
        scores = [(right[text] + gap, right[text]) for text, gap in gaps.items()]
        return accuracy_evidence("recovery", [scores], margin=0, recovery=least, error=self._error)

    def _same_answers(self, target: str, agreement: ByText) -> Evidence:
        """Same answers; without gold labels they stand for accuracy."""
        least, row = self._request.least_agreement, self._row("accuracy", None, target)
        if self._usual[2] and least is None:
            differences = _minus(agreement, self._by_text(self._usual))
            margin = self._request.agreement_margin
            return self._differences("agreement", Pooled(differences), margin=margin)
        if least is None and not (row and row.values):
            least = 1 - self._request.accuracy_margin
            evidence = self._share("agreement", Pooled(agreement), least=least)
            # Too few same answers show no loss of accuracy.
            return evidence.never_beyond._replace(planned=None)
        return self._share("agreement", Pooled(agreement), least=least)

    def _pooled(self, measure: str, models: Sequence[str], judge: Judge) -> Iterator[Evidence]:
        """An endpoint over the capabilities, then each of several by itself."""
        silent = measure == "accuracy on changed texts"
        silent |= measure == "reach" and self._request.reach_limit is None
        parts: dict[str, ByText] = {}
        undefined: dict[str, Undefined] = {}
        for capability in self._assessed[measure]:
            rows = [self._row(measure, capability, model) for model in models]
            if measure == "reach":
                # A strength says nothing where it is not known which changes move the reference.
                rows.append(self._row("concordance", capability, models[0]))
            if all(row and row.values for row in rows):
                each = [self._values(measure, capability, model) for model in models]
                parts[capability] = each[0] if len(models) == 1 else _minus(*each)
            else:
                undefined[capability] = _reason(rows)
        if len(parts) > 1:
            # Where a text lacks a capability: as most others, no difference, or a share of 1.
            missing = None if measure == "reach" else float(len(models) == 1)
            yield judge(measure, pooled([*parts.values()], missing=missing))
        for capability, values in parts.items():
            margins = 2 if len(parts) > 1 else 1
            yield judge(f"{measure} on {capability}", Pooled(values), margins)
        # Where none is measured the first reason stands for all.
        several = len(self._result.manifest.capabilities) > 1
        for capability, why in [] if silent else [*undefined.items()][: None if parts else 1]:
            name = f"{measure} on {capability}" if several else measure
            yield Evidence(Endpoint(name=name, estimate=why))

    def _differences(
        self, name: str, values: Pooled, margins: int = 1, *, margin: float | None
    ) -> Evidence:
        """First minus second; shown alone without a margin."""
        wide, (by_text, unevenness) = min(margins * (margin or 1), 0.99), values
        endpoint = judge_differences(
            name, by_text, margin=wide, unevenness=unevenness, error=self._error
        )
        return self._planned(endpoint, values, margin and wide)

    def _share(
        self, name: str, values: Pooled, margins: int = 1, *, least: float | None
    ) -> Evidence:
        """A mean between 0 and 1; shown alone without a limit."""
        limit = 0.5 if least is None else max(1 - margins * (1 - least), 0.01)
        by_text, unevenness = values
        endpoint = judge_share(name, by_text, least=limit, unevenness=unevenness, error=self._error)
        below = Pooled({id_: value - 1 for id_, value in by_text.items()}, unevenness)
        return self._planned(endpoint, below, None if least is None else 1 - limit)

    def _planned(self, endpoint: Endpoint, differences: Pooled, margin: float | None) -> Evidence:
        if margin is None:
            return Evidence(Endpoint(name=endpoint.name, estimate=endpoint.estimate))
        if not differences.values:
            return Evidence(endpoint)
        kind = ENDPOINTS[endpoint.measure].kind
        planned = planned_differences(
            endpoint.name,
            differences.values,
            margin=margin,
            unevenness=differences.unevenness,
            texts=self._texts_of[kind],
            kind=kind,
        )
        return Evidence(endpoint, planned)

    def _strength(self, name: str, values: Pooled, margins: int = 1) -> Evidence:
        by_text, least = values.values, self._request.reach_limit
        estimate = student_estimate(*numbers_and_ids(by_text), level=1 - 2 * self._error)
        if least is None:
            return Evidence(Endpoint(name=name, estimate=estimate))
        least **= margins
        texts = self._texts_of["changed"]
        return Evidence(
            judge_slope(name, estimate, least=least, most=1 / least, error=self._error),
            planned_slope(name, by_text, least=least, most=1 / least, texts=texts),
        )


def _chosen_labels(gaps: ByText, agreement: ByText, differ: Sequence[str]) -> Undefined | None:
    """Why labelled texts are no sample: more of those on which two models differ have a label."""
    unlabelled = [text for text in agreement if text not in gaps]
    labelled, alike = sum(text in gaps for text in differ), len(agreement) - len(differ)
    if labelled * alike <= 2 * (len(gaps) - labelled) * len(differ):
        return None
    few = counted(sum(text not in gaps for text in differ), "text")
    rest = counted(len(unlabelled), "text")
    return Undefined(reason=f"{few} of those that differ, and {rest} in all, have no right answer")


def _minus(first: ByText, second: ByText) -> ByText:
    """First minus second, on the texts that both have."""
    ours, theirs, ids = in_both(first, second)
    return {id_: a - b for id_, a, b in zip(ids, ours, theirs, strict=True)}


def _reason(rows: Sequence[Measurement | None]) -> Undefined:
    reasons = [row.estimate for row in rows if row is not None and not row.values]
    undefined = [reason for reason in reasons if isinstance(reason, Undefined)]
    return undefined[0] if undefined else Undefined(reason="it was not measured")
