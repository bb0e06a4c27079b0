"""How likely is a verdict reached, and how many texts does it take?

The power of an endpoint is the share of 99 times 99 counts of gains and losses, quantiles of their
Poisson distributions, at which it is within; that of a slope is normal. That of a verdict is the
product over its endpoints, as if they were independent; where a text on which one fails is likely
one on which others do, it is greater.

Accuracy as an endpoint: points below the reference's, or the share of it that is kept.

Several benchmarks are one number, the unweighted mean of theirs. Their questions weigh differently
where one has more than another, and the rarest losses weigh most. How many of these may not have
come up was chosen by simulation (benchmarks/verdict_error_rates_benchmarks.py), with all of the
loss on the shortest of benchmarks of 50 to 2,000 questions, too. A normal test of the benchmarks'
variances errs up to .056, the unevenness of capabilities up to .053, this one up to .031.

Which capabilities a verdict rests on: those of which enough texts count.

The reference alone decides it, by its answers to the random candidates, before any target answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import harmonic_mean
from typing import NamedTuple

import numpy as np

from scope.errors import counted
from scope.records import (
    ERROR,
    AuditResult,
    Endpoint,
    Manifest,
    Replacement,
    TextsNeeded,
    Undefined,
)
from scope.statistics.intervals import (
    ByText,
    Discordance,
    design_effect,
    discordance,
    effective,
    fewest_texts,
    normal_quantile,
    numbers_and_ids,
    paired_within,
    sum_by_unit,
)
from scope.statistics.paired import recovery as recovery_estimate, recovery_tails
from scope.verdicts.decide import ENDPOINTS, Kind, decide, endpoint_of, judge_differences

_CHANCES = (np.arange(99) + 0.5) / 99

POWER = 0.8
"""The power that an advised number of texts gives each open endpoint."""

MOST_TEXTS = 50_000
"""No more texts are advised."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedEndpoint:
    """An endpoint with its margin, and how much the two models differ.

    ``share`` is how many texts count for each text of the kind: the yield. ``difference`` is the
    mean difference, ``discordance`` the mean of its size by text, and ``square`` that of its
    square; None where each is 0 or 1. ``unevenness`` is that of `pooled`. Of a slope,
    ``difference`` is its distance from the nearer limit less ``margin``, and ``deviation`` the
    standard deviation of its values by text. ``answered_otherwise`` is the share of texts on which
    a gold label can matter, if more than those discordant.
    """

    name: str
    margin: float
    discordance: float = 0.0
    difference: float = 0.0
    square: float | None = None
    unevenness: float = 1.0
    share: float = 1.0
    kind: Kind = "changed"
    deviation: float | None = None
    answered_otherwise: float = 0.0

    @property
    def if_equal(self) -> PlannedEndpoint:
        """The same, were the two models as good on average."""
        return replace(self, difference=0.0)

    def power(self, texts: int, *, error: float = ERROR) -> float:
        """How likely the endpoint is within.

        Examples
        --------
        >>> planned = PlannedEndpoint(name="accuracy", margin=0.02, discordance=0.05)
        >>> round(planned.power(1000), 2)
        0.78
        """
        # Here and not above: scipy.special takes half a second to import.
        from scipy.special import ndtr, pdtrik

        count = texts * self.share
        if self.deviation is not None:
            error_of_mean = max(self.deviation, 1e-9) / math.sqrt(count)
            distance = (self.difference + self.margin) / error_of_mean
            return float(ndtr(distance - normal_quantile(1 - 2 * error)))
        size = max(self.discordance, abs(self.difference), 1e-9)
        square = size if self.square is None else max(self.square, 1e-9)
        gains, losses = (count * (size + side * self.difference) / 2 for side in (1, -1))
        seen = effective(gains, losses, count * square, count, unevenness=self.unevenness)
        if seen.n < fewest_texts(self.margin, error=error):
            return 0.0
        # The size of a text's difference, in effective texts.
        unit = float(seen.n) / count * square / size
        drawn = [unit * np.ceil(pdtrik(_CHANCES, mean / unit)) for mean in seen[:2]]
        gained, lost = np.meshgrid(*drawn)
        within = paired_within(seen._replace(gains=gained, losses=lost), self.margin)
        return float((within < error).mean())


def planned_differences(
    name: str,
    differences: ByText,
    *,
    margin: float,
    texts: int,
    kind: Kind,
    unevenness: float = 1.0,
) -> PlannedEndpoint:
    """Return an endpoint as ``texts`` texts show it, with two made-up discordant ones.

    ``differences`` and ``unevenness`` are as for `judge_differences`: more texts are assumed to
    come in clusters as alike and as large.

    Examples
    --------
    Of 40 texts 20 count; none differs, so 2 of 20 are assumed to:

    >>> planned_differences("keeps", [0.0] * 20, margin=0.05, texts=40, kind="changed").discordance
    0.1
    """
    numbers, ids = numbers_and_ids(differences)
    values, n = np.array(numbers), len(numbers)
    effect = float(design_effect(values, ids))
    return PlannedEndpoint(
        name=name,
        margin=margin,
        discordance=(float(np.abs(values).sum()) + 2 * effect) / n,
        difference=float(values.sum()) / n,
        square=(float((values**2).sum()) + 2 * effect) / n,
        unevenness=unevenness,
        share=n / effect / texts,
        kind=kind,
    )


def planned_slope(
    name: str, values: ByText, *, least: float, most: float, texts: int
) -> PlannedEndpoint:
    """Return a slope as its values by text show it; if equal it is 1.

    Two made-up texts that differ by 1 enter its deviation.

    Examples
    --------
    >>> planned_slope("reach", [0.8, 1.0] * 20, least=0.7, most=1.43, texts=40).margin
    0.3
    """
    numbers = sum_by_unit(*numbers_and_ids(values))
    count, mean = float(numbers.sizes.sum()), numbers.mean
    margin = round(min(1 - least, most - 1), 9)
    return PlannedEndpoint(
        name=name,
        margin=margin,
        difference=min(mean - least, most - mean) - margin,
        share=count / texts,
        deviation=math.sqrt((numbers.squares + 2 * (count / numbers.distinct) ** 2) / count),
    )


def joint_power(plan: Sequence[PlannedEndpoint], unchanged: int, changed: int) -> float:
    """Return how likely a target may replace, were all as assumed.

    Examples
    --------
    >>> plan = [PlannedEndpoint(name="accuracy", margin=0.05, kind="unchanged"),
    ...         PlannedEndpoint(name="synonym", margin=0.05, share=0.5)]
    >>> joint_power(plan, 100, 100), round(joint_power(plan, 100, 200), 2)
    (0.0, 1.0)
    """
    sizes = {"unchanged": unchanged, "changed": changed}
    return math.prod(end.power(sizes[end.kind]) for end in plan)


def texts_for_power(planned: PlannedEndpoint, *, error: float = ERROR) -> int | None:
    """Return how many texts give the endpoint a power of 0.8; None if more than `MOST_TEXTS`.

    Examples
    --------
    >>> texts_for_power(PlannedEndpoint(name="accuracy", margin=0.05, discordance=0.02))
    124
    """
    few, enough = 0, MOST_TEXTS
    if planned.power(enough, error=error) < POWER:
        return None
    while enough - few > 1:
        middle = (few + enough) // 2
        reached = planned.power(middle, error=error) >= POWER
        few, enough = (few, middle) if reached else (middle, enough)
    return enough


class Evidence(NamedTuple):
    """An endpoint, and the same for planning a larger sample; None where that is not possible."""

    endpoint: Endpoint
    planned: PlannedEndpoint | None = None

    @property
    def never_beyond(self) -> Evidence:
        """The same, where what is seen may not speak against the target."""
        return self._replace(endpoint=replace(self.endpoint, p_beyond=1.0))


def verdicts_on(
    evidence: Mapping[str, Sequence[Evidence]],
    degenerate: Mapping[str, str],
    words: Callable[[Replacement], object],
    *,
    error: float | None = ERROR,
) -> tuple[Replacement, ...]:
    """The verdict on each target, with its sentence in ``words``.

    An open one has how many texts decide it, by `with_texts_needed`, unless ``error`` is None.
    ``degenerate`` is as for `decide`.
    """
    ends = {target: [part.endpoint for part in parts] for target, parts in evidence.items()}
    verdicts = list(decide(ends, degenerate=degenerate))
    if error is not None:
        verdicts = [
            with_texts_needed(each, evidence[each.target], error=error) for each in verdicts
        ]
    return tuple(replace(verdict, sentence=str(words(verdict))) for verdict in verdicts)


def with_texts_needed(
    verdict: Replacement, evidence: Sequence[Evidence], *, error: float = ERROR
) -> Replacement:
    """Add to an open verdict how many texts decide its open endpoints, at an ``error`` of each."""
    if verdict.decision != "not shown" or not verdict.open:
        return verdict
    is_open = [part for part in evidence if part.endpoint.name in verdict.open]
    plan = [part.planned for part in is_open if part.endpoint.needed]
    known = [planned for planned in plan if planned is not None]
    if not known or len(known) < len(plan):
        return verdict
    return replace(
        verdict,
        if_equal=_texts_needed([planned.if_equal for planned in known], error),
        if_as_seen=_texts_needed(known, error),
    )


def _texts_needed(plan: Sequence[PlannedEndpoint], error: float) -> TextsNeeded | None:
    """The most that an endpoint of each kind needs; None if no number decides one of them."""
    needed: dict[Kind, int] = {}
    gold = None
    for planned in plan:
        texts = texts_for_power(planned, error=error)
        if texts is None:
            return None
        needed[planned.kind] = max(needed.get(planned.kind, 0), texts)
        if planned.name.startswith("accuracy"):
            gold = math.ceil(texts * max(planned.discordance, planned.answered_otherwise))
    return TextsNeeded(unchanged=needed.get("unchanged"), changed=needed.get("changed"), gold=gold)


ALL_GOLD = "it takes a right answer to every text, and {known:,} of {texts:,} have one"
"""Why a recovery is not measured."""

Scores = Sequence[tuple[float, float]]
"""Target's and reference's of each question: 1 for a right answer, 0 for a wrong one."""


def accuracy_evidence(
    name: str,
    benchmarks: Sequence[Scores],
    *,
    margin: float,
    recovery: float | None = None,
    otherwise: float = 0.0,
    ids: Sequence[str] = (),
    error: float = ERROR,
) -> Evidence:
    """Return the endpoint over the mean of benchmarks without common questions, and its plan.

    Parameters
    ----------
    name
        The name of the endpoint.
    benchmarks
        Each has a question at least.
    margin
        How much less accurate the target may be, in 0..1.
    recovery
        In place of it: the least share of the reference's accuracy.
    otherwise
        The share of questions to which the two give different answers, for the plan.
    ids
        Of one benchmark, those of the questions, which may have clusters; not with a recovery.

    Examples
    --------
    One loss of 100 and none of 50 is a mean of half a point:

    >>> scores = [[(0.0, 1.0)] + [(1.0, 1.0)] * 99, [(1.0, 1.0)] * 50]
    >>> print(accuracy_evidence("accuracy", scores, margin=0.02).endpoint.estimate)
    -0.005 [-0.041, 0.027]
    """
    weights, unevenness = weights_of([len(scores) for scores in benchmarks])
    pairs = [
        (weight * target, weight * reference)
        for weight, scores in zip(weights, benchmarks, strict=True)
        for target, reference in scores
    ]
    differences, total = [target - reference for target, reference in pairs], len(pairs)
    by_text = dict(zip(ids, differences, strict=True)) if ids else differences
    if recovery is None:
        endpoint = judge_differences(
            name, by_text, margin=margin, unevenness=unevenness, error=error
        )
    else:
        seen = discordance(differences, unevenness=unevenness)
        endpoint = _recovery(name, pairs, recovery, seen, error)
        margin = (1 - recovery) * math.fsum(reference for _, reference in pairs) / total
    if isinstance(endpoint.estimate, Undefined):
        return Evidence(endpoint)
    planned = planned_differences(
        name, by_text, margin=margin, texts=total, kind="unchanged", unevenness=unevenness
    )
    return Evidence(endpoint, replace(planned, answered_otherwise=otherwise))


def _recovery(name: str, pairs: Scores, least: float, seen: Discordance, error: float) -> Endpoint:
    """Whether the targets' scores are at least a share of the reference's."""
    kept = math.fsum(map(min, pairs)) * float(seen.n) / len(pairs)
    counts = kept, float(seen.losses), float(seen.gains)
    estimate = recovery_estimate(*counts, len(pairs), level=1 - 2 * error)
    return endpoint_of(name, estimate, recovery_tails(*counts, least), error, least=least)


def weights_of(sizes: Sequence[int]) -> tuple[list[float], float]:
    """Return what a question of each benchmark weighs in the mean, and how uneven that is.

    Examples
    --------
    >>> weights, unevenness = weights_of([100, 300])
    >>> [round(weight, 2) for weight in weights], round(unevenness, 2)
    ([2.0, 0.67], 1.7)
    """
    weights = [sum(sizes) / size / len(sizes) for size in sizes]
    return weights, (math.fsum(weights) / len(weights)) ** 0.4 * max(weights) ** 0.6


ENOUGH = 100
"""Texts that count for concordance up to which more are drawn for a capability."""

DISCORDANT = (0.0, 0.02, 0.05, 0.1)
"""Shares of texts on which two models differ, for which a plan gives its power."""


class Counted(NamedTuple):
    """Texts of a capability that have a random candidate, and that have a pair for concordance."""

    keeps: int
    pairs: int


def too_few(counts: Mapping[str, int], margin: float) -> dict[str, str]:
    """Why capabilities are not assessed: no target could be shown to be within on so few texts.

    Each needs as many texts as show *within* at twice the margin where nothing differs. A pooled
    number counts for their harmonic mean, which must reach as many as the margin itself needs.

    Examples
    --------
    >>> too_few({"typo": 300, "synonym": 30}, 0.05)
    {'synonym': '30 texts count, at least 35 are needed'}
    """
    left, few = dict(counts), {}
    while left:
        least = min(left, key=lambda name: (left[name], name))
        needed = fewest_texts(margin if len(left) == 1 else 2 * margin)
        texts = f"{counted(left[least], 'text')} count"
        if left[least] < needed:
            few[least] = f"{texts}, at least {needed} are needed"
        elif harmonic_mean([*left.values()]) < fewest_texts(margin):
            few[least] = f"{texts}, too few beside the others"
        else:
            break
        del left[least]
    return few


def not_assessed(result: AuditResult, measure: str) -> dict[str, str]:
    """The reasons why capabilities are not assessed by ``keeps`` or ``concordance``."""
    drawn = {outcome.capability: outcome for outcome in result.candidate_outcomes}
    why = {
        name: str(outcome.reason) for name, outcome in drawn.items() if outcome.status != "measured"
    }
    why |= keeps_too_little(result) if measure == "keeps" else {}
    margin = result.manifest.settings.get(f"{measure}_margin")
    counts: dict[str, int] = {}
    for row in result.measurements:
        of_all = row.metric == ENDPOINTS[measure].metric and row.subset is None and row.values
        if of_all and row.capability not in why:
            capability = str(row.capability)
            counts[capability] = max(counts.get(capability, 0), len(row.values))
    return why | (too_few(counts, margin) if isinstance(margin, float) else {})


def keeps_too_little(result: AuditResult) -> dict[str, str]:
    """Of which capabilities the reference keeps less than twice the limit.

    There no target, or hardly any, can lose as much as the limit.
    """
    name, margin = result.manifest.reference.name, result.manifest.settings.get("keeps_margin")
    needed = 2 * margin if isinstance(margin, float) else 0.0
    return {
        str(row.capability): f"{name} keeps its answer under {100 * row.estimate.value:.2g}\u00a0% "
        f"of changes, at least {100 * needed:g}\u00a0% are needed"
        for row in result.measurements
        if row.metric == ENDPOINTS["keeps"].metric and row.subset is None and row.target == name
        if not isinstance(row.estimate, Undefined) and row.estimate.value < needed
    }


def all_assessed(result: AuditResult, counts: Mapping[str, Counted]) -> bool:
    """Whether every capability that is assessed on all texts, by their ``counts``, already is."""
    for place, measure in enumerate(("keeps", "concordance")):
        texts = {capability: count[place] for capability, count in counts.items()}
        few = too_few(texts, float(str(result.manifest.settings[f"{measure}_margin"])))
        if not not_assessed(result, measure).keys() & texts.keys() <= few.keys():
            return False
    return True


def limits_in_words(manifest: Manifest) -> str:
    """The limits of the verdicts, as the manifest holds them before any model answers."""
    settings, baseline, card = manifest.settings, manifest.baseline, manifest.data[0]
    limits = [f"keeps its answer under random changes {settings['keeps_margin']:g} less often"]
    recall = f" and recall of {settings['recall']}" if "recall" in settings else ""
    if recovery := settings["recovery"]:
        limits.insert(0, f"recovery {recovery:g}")
    elif card.labelled:
        limits.insert(0, f"accuracy{recall} {settings['accuracy_margin']:g} lower")
    names = " or ".join(card.name for card in manifest.references)
    words = f"may a target replace {names}? Limits: {', '.join(limits)} than it"
    further = (
        ("same answers", _least_agreement(manifest), "agreement_margin"),
        ("same reaction", settings["least_concordance"], "concordance_margin"),
        ("strength of reaction", settings["least_reach"], ""),
    )
    for name, least, margin in further:
        if least is not None:
            words += f", {name} at least {least:g}"
        elif baseline is not None:
            words += f", {name} {settings[margin]:g} below {baseline.name}'s"
        elif name == "same answers" and is_own_yardstick(manifest):
            words += f", {name} {settings[margin]:g} below its own when asked twice"
    return words


def is_own_yardstick(manifest: Manifest) -> bool:
    """Whether the reference, asked twice, is the yardstick of same answers.

    Not where these stand for accuracy, as there are no right answers.
    """
    settings, labelled = manifest.settings, manifest.data[0].labelled > 0
    named = settings.get("least_agreement") is not None
    return "samples" in settings and manifest.baseline is None and labelled and not named


def _least_agreement(manifest: Manifest) -> float | None:
    """The least share of same answers; None where it is not judged, or as the yardstick's."""
    settings, least = manifest.settings, manifest.settings["least_agreement"]
    has_yardstick = manifest.baseline is not None or is_own_yardstick(manifest)
    if least is None and not has_yardstick and not manifest.data[0].labelled:
        return 1 - float(str(settings["accuracy_margin"]))
    return None if least is None else float(str(least))


def plan_in_words(manifest: Manifest, counts: Mapping[str, Counted]) -> str:
    """The texts that count and the power of a verdict, before any target answers."""
    card, settings = manifest.data[0], manifest.settings
    margin = float(str(settings["keeps_margin"]))
    few = too_few({name: count.keeps for name, count in counts.items()}, margin)
    used = {name: count for name, count in counts.items() if name not in few}
    texts = [f"{count.keeps:,} of {name}" for name, count in used.items()]
    words = _counting(card.used, texts, few)
    if not used:
        return words
    powers = [
        f"{joint_power(_planned(manifest, used, share), 1, 1):.2f} if {share:.0%}"
        for share in DISCORDANT
    ]
    left_out = ["strength", *(name for name in ("recall", "cluster") if name in settings)]
    left_out += ["same answers"] * is_own_yardstick(manifest)
    return (
        f"{words}; chance of a ✓ for a target as good as required, "
        f"{' and '.join(left_out)} left out: {', '.join(powers)} of texts differ"
    )


def _counting(unchanged: int, texts: Sequence[str], few: Mapping[str, str]) -> str:
    words = f"plan: {unchanged:,} unchanged texts; changed texts that count: "
    words += ", ".join(texts) or "too few"
    return words + "".join(f"; {name} is not assessed, as {why}" for name, why in few.items())


def undecided_in_words(manifest: Manifest, capabilities: Sequence[str], texts: int) -> str:
    """Why no capability can be assessed if each changes at most ``texts``; empty if one can be."""
    few = too_few(dict.fromkeys(capabilities, texts), float(str(manifest.settings["keeps_margin"])))
    at_most = {name: f"at most {why}" for name, why in few.items()}
    is_open = len(few) == len(capabilities)
    return _counting(manifest.data[0].used, (), at_most) if is_open else ""


def _planned(
    manifest: Manifest, counts: Mapping[str, Counted], share: float
) -> list[PlannedEndpoint]:
    """The endpoints with the texts that count, as if one text were planned."""
    card, settings = manifest.data[0], manifest.settings
    texts: dict[str, float] = {"accuracy": card.labelled}
    texts["keeps"] = harmonic_mean([count.keeps for count in counts.values()])
    least = _least_agreement(manifest)
    if manifest.baseline is not None or least is not None:
        texts["agreement"] = card.used
    if manifest.baseline is not None:
        texts["concordance"] = harmonic_mean([max(count.pairs, 1) for count in counts.values()])
    return [
        PlannedEndpoint(
            name=name,
            margin=1 - limit if limit else float(str(settings[f"{name}_margin"])),
            discordance=max(share, 2 / number),
            difference=-share if limit else 0.0,
            share=number,
        )
        for name, number in texts.items()
        for limit in [least if name == "agreement" else None]
        if number
    ]
