"""Which capabilities a verdict rests on: those of which enough texts count.

The reference alone decides it, by its answers to the random candidates, before any target answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import harmonic_mean
from typing import NamedTuple

from scope.errors import counted
from scope.estimation.pairs import texts_that_count
from scope.records import AuditResult, Manifest, ScoredExample, ScoredPerturbation
from scope.statistics.intervals import fewest_texts
from scope.verdicts.plan import PlannedEndpoint, joint_power

ENOUGH = 100
"""Texts that count for concordance up to which more are drawn for a capability."""

DISCORDANT = (0.0, 0.02, 0.05, 0.1)
"""Shares of texts on which two models differ, for which a plan gives its power."""


class Counted(NamedTuple):
    """Texts of a capability that have a random candidate, and that have a pair for concordance."""

    keeps: int
    pairs: int


def counted_texts(
    capabilities: Sequence[str],
    examples: Sequence[ScoredExample],
    candidates: Sequence[ScoredPerturbation],
    gap: float,
) -> dict[str, Counted]:
    """The texts that count, by capability."""
    return {
        name: Counted(*texts_that_count(name, examples, candidates, gap)) for name in capabilities
    }


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


def not_assessed(result: AuditResult, metric: str) -> dict[str, str]:
    """The reasons why capabilities are not assessed by ``base_rate`` or ``concordance``."""
    drawn = {outcome.capability: outcome for outcome in result.candidate_outcomes}
    why = {
        name: str(outcome.reason) for name, outcome in drawn.items() if outcome.status != "measured"
    }
    name = "keeps_margin" if metric == "base_rate" else "concordance_margin"
    margin = result.manifest.settings.get(name)
    counts: dict[str, int] = {}
    for row in result.measurements:
        of_all = row.metric == metric and row.subset is None and row.values
        if of_all and row.capability not in why:
            capability = str(row.capability)
            counts[capability] = max(counts.get(capability, 0), len(row.values))
    return why | (too_few(counts, margin) if isinstance(margin, float) else {})


def all_assessed(result: AuditResult, counts: Mapping[str, Counted]) -> bool:
    """Whether every capability that is assessed on all texts, by their ``counts``, already is."""
    of_metric = {"base_rate": "keeps", "concordance": "concordance"}
    for place, (metric, name) in enumerate(of_metric.items()):
        texts = {capability: count[place] for capability, count in counts.items()}
        few = too_few(texts, float(str(result.manifest.settings[f"{name}_margin"])))
        if not not_assessed(result, metric).keys() & texts.keys() <= few.keys():
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
    return words


def _least_agreement(manifest: Manifest) -> float | None:
    """The least share of same answers; None where it is not judged, or as the baseline's."""
    settings, least = manifest.settings, manifest.settings["least_agreement"]
    if least is None and manifest.baseline is None and not manifest.data[0].labelled:
        return 1 - float(str(settings["accuracy_margin"]))
    return None if least is None else float(str(least))


def plan_in_words(manifest: Manifest, counts: Mapping[str, Counted]) -> str:
    """The texts that count and the power of a verdict, before any target answers."""
    card, settings = manifest.data[0], manifest.settings
    margin = float(str(settings["keeps_margin"]))
    few = too_few({name: count.keeps for name, count in counts.items()}, margin)
    used = {name: count for name, count in counts.items() if name not in few}
    texts = [f"{count.keeps:,} of {name}" for name, count in used.items()]
    words = f"plan: {card.used:,} unchanged texts; changed texts that count: "
    words += ", ".join(texts) or "none"
    words += "".join(f"; {name} is not assessed, as {reason}" for name, reason in few.items())
    if not used:
        return words
    powers = [
        f"{joint_power(_planned(manifest, used, share), 1, 1):.2f} if {share:.0%}"
        for share in DISCORDANT
    ]
    left_out = ["strength", *(name for name in ("recall", "cluster") if name in settings)]
    return (
        f"{words}; chance of a ✓ for a target as good as required, "
        f"{' and '.join(left_out)} left out: {', '.join(powers)} of texts differ"
    )


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
