"""The verdict on each target of an audit: may it replace the reference?

Five endpoints: accuracy; the same answers as the reference on unchanged texts; and on random
changes whether the target keeps its answer as often, reacts to the same changes (concordance), and
as strongly (reach). The last three are one number each over the capabilities that are assessed.

Without a baseline the verdict rests on accuracy and *keeps its answer*; same answers and reaction
are shown, and judged where a limit is named. Without gold labels, same answers stand for accuracy:
where two models answer alike on 98 % of texts, accuracy differs by at most 2 points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from reports.wording import rounded_up
from scope.estimation.answer_shares import IN_A_THOUGHT
from scope.jobs.audit.assessed import not_assessed
from scope.jobs.audit.request import AuditRequest
from scope.jobs.audit.verdict_words import in_words
from scope.metrics.invariance import in_both
from scope.printing import counted
from scope.records import AuditResult, Endpoint, Measurement, Replacement, Undefined, label_of
from scope.statistics.intervals import numbers_and_ids, student_estimate
from scope.statistics.margins import fewest_texts
from scope.verdicts.endpoints import (
    Pooled,
    decide,
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
    planned_differences,
    planned_slope,
    with_texts_needed,
)

ByText = Mapping[str, float]
Judge = Callable[[str, Pooled, int], Evidence]
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
    judged = [card.name for card in result.manifest.targets if card.role == "target"]
    measured = _Measured(result, request, earlier)
    evidence = {target: list(measured.evidence(target)) for target in judged}
    dead = _degenerate(result, request)
    for share in result.answer_shares:
        # Of a model whose thoughts are cut, the limit of tokens decides what it answers.
        if share.model in evidence and IN_A_THOUGHT in (share.degenerate or ""):
            evidence[share.model] = [part.never_beyond for part in evidence[share.model]]
    if measured.baseline in dead:
        dead = dict.fromkeys(judged, dead[measured.baseline]) | dead
    if not measured.capabilities["base_rate"]:
        few = "; ".join(f"{name}: {why}" for name, why in not_assessed(result, "base_rate").items())
        why = f"no capability is assessed ({few}){measured.enough_changed()}"
        dead = dict.fromkeys(judged, why) | dead
    if few := lacking_clusters([text.example.id for text in result.examples]):
        dead = dict.fromkeys(judged, few) | dead
    ends = {target: [part.endpoint for part in parts] for target, parts in evidence.items()}
    verdicts = list(decide(ends, degenerate=dead))
    if earlier is None:  # a third run has no known error
        # Those of a second run, of whose texts a quarter are here already.
        needed = partial(with_texts_needed, error=error_of_second(0.25))
        verdicts = [needed(verdict, evidence[verdict.target]) for verdict in verdicts]
    return tuple(replace(verdict, sentence=str(in_words(verdict, result))) for verdict in verdicts)


def _degenerate(result: AuditResult, request: AuditRequest) -> dict[str, str]:
    """Why the answers of models are no evidence."""
    dead, texts = {}, result.manifest.data[0].used
    for card in result.manifest.models:
        missing = sum(left.count for left in card.missing)
        if missing > request.agreement_margin * texts:
            dead[card.name] = f"{card.name} gives no answer to {missing:,} of {texts:,} texts"
    for share in result.answer_shares:
        if share.degenerate:
            cut = f"of {share.model}, {share.degenerate.rpartition('; ')[2]}"
            is_cut = IN_A_THOUGHT in share.degenerate
            dead[share.model] = cut if is_cut else f"{share.model} is degenerate"
    return dead


class _Measured:
    """What an audit has measured, as endpoints."""

    def __init__(
        self, result: AuditResult, request: AuditRequest, earlier: AuditResult | None
    ) -> None:
        card = result.manifest.baseline
        self.baseline = "" if card is None else card.name
        self._reference = result.manifest.reference.name
        names = [card.name for card in result.manifest.capabilities]
        self.capabilities = {
            metric: [name for name in names if name not in not_assessed(result, metric)]
            for metric in ("base_rate", "concordance")
        }
        self.capabilities["reach"] = self.capabilities["concordance"]
        self.capabilities["changed_accuracy"] = self.capabilities["base_rate"]
        self._unchanged = len(result.examples)
        drawn = {(each.capability, each.perturbation.example_id) for each in result.candidates}
        self._changed = max((sum(c == name for c, _ in drawn) for name in names), default=0)
        self._request, self._result = request, result
        texts = (*result.examples, *(earlier.examples if earlier else ()))
        self._texts = {text.example.id: text for text in texts}
        self._by_key, before = (
            {(row.metric, row.capability, row.target): row for row in rows if row.subset is None}
            for rows in (result.measurements, earlier.measurements if earlier else ())
        )
        self._before = {key: row.by_text() for key, row in before.items() if key in self._by_key}
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
        for key, before in self._before.items():
            if key[0] in ("iid_agreement", "base_rate", "concordance"):
                now = self._by_key[key].by_text().keys()
                same = before if same_seed or key[1] is None else before.keys() - now
                shares.append(len(same) ** 2 / (len(before) * len(before.keys() | now) or 1))
        return error_of_second(min(shares, default=0.0))

    def _values(self, metric: str, capability: str | None, model: str) -> dict[str, float]:
        """The values by text of this run, and of the earlier one on other texts."""
        key = (metric, capability, model)
        return {**self._before.get(key, {}), **self._by_key[key].by_text()}

    def enough_changed(self) -> str:
        """The option that makes enough texts count for a capability, if any text does."""
        rows = [row for row in self._by_key.values() if row.metric == "base_rate"]
        most = max((len(row.values) for row in rows), default=0)
        if not most:
            return ""
        needed = fewest_texts(self._request.keeps_margin)
        return f"; with --n {rounded_up(math.ceil(1.1 * needed * self._changed / most))} enough are"

    def evidence(self, target: str) -> Iterator[Evidence]:
        """Every endpoint of a target, judged or shown."""
        request = self._request
        yield from self._on_unchanged(target)
        differ = partial(self._differences, margin=request.keeps_margin)
        yield from self._pooled("keeps", "base_rate", (target, self._reference), differ)
        shown = partial(self._differences, margin=None)
        models = (target, self._reference)
        yield from self._pooled("accuracy on changed texts", "changed_accuracy", models, shown)
        limit = request.least_concordance
        compared = (target, self.baseline) if self.baseline and limit is None else (target,)
        judge: Judge = partial(self._differences, margin=request.concordance_margin)
        if len(compared) == 1:
            judge = partial(self._share, least=limit)
        yield from self._pooled("concordance", "concordance", compared, judge)
        yield from self._pooled("reach", "reach", (target,), self._strength)

    def _on_unchanged(self, target: str) -> Iterator[Evidence]:
        """Accuracy and same answers."""
        request = self._request
        gaps = self._by_key["iid_accuracy_gap", None, target]
        agreement = self._values("iid_agreement", None, target)
        if request.recovery is not None:
            yield self._recovery(self._values("iid_accuracy_gap", None, target), request.recovery)
        elif gaps.values:
            known = self._values("iid_accuracy_gap", None, target)
            differ = [text for text, same in agreement.items() if same < 1]
            chosen = _chosen_labels(known, agreement, differ)
            gold = {id_: text.example.label for id_, text in self._texts.items()}
            every = {text: known.get(text, 0.0) for text in agreement}
            margin = request.accuracy_margin
            if known.keys() >= set(differ):
                # Where two models answer alike, their accuracy is the same whatever the label.
                yield self._differences("accuracy", Pooled(every), 1, margin=margin)
            elif chosen:
                yield Evidence(Endpoint(name="accuracy", estimate=chosen, limit=-margin))
            else:
                yield self._differences("accuracy", Pooled(known), 1, margin=margin)
            for name in request.recall:
                of_class = {text: gap for text, gap in known.items() if gold.get(text) == name}
                if chosen:
                    end = Endpoint(name=f"recall of {name}", estimate=chosen, limit=-margin)
                    yield Evidence(end)
                    continue
                yield self._differences(f"recall of {name}", Pooled(of_class), 1, margin=margin)
        else:
            yield Evidence(Endpoint(name="accuracy", estimate=gaps.estimate))
        least = request.least_agreement
        if self.baseline and least is None:
            baseline = self._values("iid_agreement", None, self.baseline)
            differences = Pooled(_minus(agreement, baseline))
            yield self._differences("agreement", differences, 1, margin=request.agreement_margin)
            return
        without_gold = least is None and not gaps.values
        if without_gold:
            least = 1 - request.accuracy_margin
        evidence = self._share("agreement", Pooled(agreement), 1, least=least)
        # Without gold, too few same answers show no loss of accuracy.
        yield evidence.never_beyond._replace(planned=None) if without_gold else evidence

    def _recovery(self, gaps: ByText, least: float) -> Evidence:
        """The share of the reference's accuracy, which takes gold labels on all texts."""
        labels = self._result.manifest.reference.labels
        right = {
            id_: float(label_of(each.reference, labels) == each.example.label)
            for id_, each in self._texts.items()
        }
        if len(gaps) < len(right):
            none = Undefined(reason=ALL_GOLD.format(known=len(gaps), texts=len(right)))
            return Evidence(Endpoint(name="recovery", estimate=none, limit=least))
        scores = [(right[text] + gap, right[text]) for text, gap in gaps.items()]
        return accuracy_evidence("recovery", [scores], margin=0, recovery=least, error=self._error)

    def _pooled(
        self, name: str, metric: str, models: Sequence[str], judge: Judge
    ) -> Iterator[Evidence]:
        """An endpoint over the capabilities, then each of several by itself."""
        parts: dict[str, ByText] = {}
        undefined: dict[str, Undefined] = {}
        for capability in self.capabilities[metric]:
            rows = [self._by_key.get((metric, capability, model)) for model in models]
            measured = [row for row in rows if row is not None and row.values]
            if len(measured) < len(models):
                undefined[capability] = _reason(rows)
            else:
                each = [self._values(metric, capability, model) for model in models]
                parts[capability] = each[0] if len(models) == 1 else _minus(*each)
        if len(parts) > 1:
            # Where a text lacks a capability: as most others, no difference, or a share of 1.
            missing = None if metric == "reach" else float(len(models) == 1)
            yield judge(name, pooled([*parts.values()], missing=missing), 1)
        for capability, values in parts.items():
            margins = 2 if len(parts) > 1 else 1
            yield judge(f"{name} on {capability}", Pooled(values), margins)
        # Where none is measured the first reason stands for all.
        for capability, why in [*undefined.items()][: None if parts else 1]:
            if metric != "changed_accuracy":
                left_out = f"{name} on {capability}" if parts else name
                yield Evidence(Endpoint(name=left_out, estimate=why))

    def _differences(
        self, name: str, values: Pooled, margins: int, *, margin: float | None
    ) -> Evidence:
        """First minus second; shown alone without a margin."""
        by_text, unevenness = values
        wide = min(margins * (margin or 1), 0.99)
        endpoint = judge_differences(
            name, by_text, margin=wide, unevenness=unevenness, error=self._error
        )
        if margin is None:
            return Evidence(Endpoint(name=name, estimate=endpoint.estimate))
        return self._planned(endpoint, values, wide)

    def _share(self, name: str, values: Pooled, margins: int, *, least: float | None) -> Evidence:
        """A mean between 0 and 1; shown alone without a limit."""
        by_text, unevenness = values
        limit = 0.5 if least is None else max(1 - margins * (1 - least), 0.01)
        endpoint = judge_share(name, by_text, least=limit, unevenness=unevenness, error=self._error)
        if least is None:
            return Evidence(Endpoint(name=name, estimate=endpoint.estimate))
        below = {id_: value - 1 for id_, value in by_text.items()}
        return self._planned(endpoint, Pooled(below, unevenness), 1 - limit)

    def _planned(self, endpoint: Endpoint, differences: Pooled, margin: float) -> Evidence:
        unchanged = endpoint.measure in ("accuracy", "recall", "agreement")
        planned = planned_differences(
            endpoint.name,
            differences.values,
            margin=margin,
            unevenness=differences.unevenness,
            texts=self._unchanged if unchanged else self._changed,
            kind="unchanged" if unchanged else "changed",
        )
        return Evidence(endpoint, planned)

    def _strength(self, name: str, values: Pooled, margins: int) -> Evidence:
        by_text = values.values
        estimate = student_estimate(*numbers_and_ids(by_text), level=1 - 2 * self._error)
        least = self._request.reach_limit
        if least is None:
            return Evidence(Endpoint(name=name, estimate=estimate))
        least **= margins
        return Evidence(
            judge_slope(name, estimate, least=least, most=1 / least, error=self._error),
            planned_slope(name, by_text, least=least, most=1 / least, texts=self._changed),
        )


def _chosen_labels(gaps: ByText, agreement: ByText, differ: Sequence[str]) -> Undefined | None:
    """Why labelled texts are no sample: more of those on which two models differ have a label."""
    unlabelled = [text for text in agreement if text not in gaps]
    labelled, alike = sum(text in gaps for text in differ), len(agreement) - len(differ)
    if labelled * alike <= 2 * (len(gaps) - labelled) * len(differ):
        return None
    few = counted(sum(text not in gaps for text in differ), "text")
    rest = counted(len(unlabelled), "text")
    return Undefined(reason=f"{few} of those that differ, and {rest} in all, have no gold label")


def _minus(first: ByText, second: ByText) -> ByText:
    """First minus second, on the texts that both have."""
    ours, theirs, ids = in_both(first, second)
    return {id_: a - b for id_, a, b in zip(ids, ours, theirs, strict=True)}


def _reason(rows: Sequence[Measurement | None]) -> Undefined:
    reasons = [row.estimate for row in rows if row is not None and not row.values]
    undefined = [reason for reason in reasons if isinstance(reason, Undefined)]
    return undefined[0] if undefined else Undefined(reason="it was not measured")
