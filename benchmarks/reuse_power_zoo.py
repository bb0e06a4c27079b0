"""What a verdict of reuse is worth, on models whose lineage is known because they were built here.

Every model of the zoo is a suspect for every reference. The controls are the models that are
derived from none: the independents and the other references, without the suspect and without what
the suspect is derived from. Suspects derived from the reference are related pairs, all others are
unrelated: the independents, the hard negatives among them (the same public base, fine-tuned on the
same texts), and what is derived from another reference. All suspects are asked the same: plain
texts, and the perturbations of the reference.

Keys of --json: `zoo_observed_fpr_at_05`, also with `_low` and `_high`, is the share of independent
suspects that the verdict at an error rate of 0.05 calls related. For each KIND of derivation, and
for `hard_negatives`, `independents` and `of_others`: `zoo_KIND_pairs` and `zoo_KIND_related` (a
share of the verdicts). `zoo_verdicts` (one line for each related pair), `zoo_pairs`,
`zoo_related_pairs`, `zoo_models`, `zoo_queries` (a suspect's, for each reference),
`zoo_search_queries` (to a reference).

The answers are kept in `runs/reuse-power-zoo`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from reuse_power_answers import Judged, lines
from reuse_zoo_answers import ZooAnswers, ask_zoo
from surroundings import bounded
from zoo.building import build_zoo
from zoo.lineage import DERIVED, Zoo, ZooModel

from scope.answers import Run
from scope.jobs.perturbing import soft_scope_metric
from scope.jobs.reuse.judging import finding_of
from scope.jobs.reuse.pool import ReuseModels
from scope.jobs.reuse.responses import make_case
from scope.jobs.reuse.verdicts import conclude
from scope.paths import cache_folder
from scope.progress import suitable_progress
from scope.records import Decision, Verdict
from scope.statistics.intervals import mean_estimate

PERTURBED = 200
TRIALS = 1
SEED = 0
ALPHA = 0.05
UNRELATED = ("hard_negatives", "independents", "of_others")
RUN = Path("runs") / "reuse-power-zoo"


@dataclass(frozen=True, kw_only=True)
class Tried:
    """One verdict, and what is known of the pair.

    ``group`` is the derivation of the suspect, or how it is unrelated.
    """

    reference: str
    suspect: str
    group: str
    verdict: Verdict

    @property
    def related(self) -> bool:
        """Whether the suspect is derived from the reference."""
        return self.group in DERIVED


def figures(arguments: argparse.Namespace) -> dict[str, Any]:
    """Build, ask, judge every pair, and measure."""
    progress = suitable_progress()
    zoo = build_zoo(cache_folder() / "zoo", seed=SEED, progress=progress)
    question = {"job": "benchmark", "perturbed": PERTURBED, "trials": TRIALS, "seed": SEED}
    with Run.open(RUN, question) as run:
        answers = ask_zoo(
            zoo, run, perturbed=PERTURBED, trials=TRIALS, seed=SEED, progress=progress
        )
        pairs = [(one, other) for one in zoo.references for other in zoo if other != one]
        tried = []
        with progress.task("verdicts", len(pairs)) as advance:
            for reference, suspect in pairs:
                tried.append(_try(zoo, answers, reference, suspect))
                advance()
    return {
        "zoo_models": len(zoo.models),
        "zoo_pairs": len(tried),
        "zoo_related_pairs": sum(one.related for one in tried),
        **_false_positives(tried),
        **_by_group(tried),
        "zoo_verdicts": "\n".join(lines([Judged(one.related, one.verdict) for one in tried])),
        "zoo_queries": round(float(np.mean([one.verdict.queries for one in tried]))),
        "zoo_search_queries": round(
            float(np.mean([each.sets[0].outcome.queries for each in answers.items.values()]))
        ),
    }


def _try(zoo: Zoo, answers: ZooAnswers, reference: ZooModel, suspect: ZooModel) -> Tried:
    controls = [
        one.name
        for one in (*zoo.references, *zoo.independents)
        if one.name not in (reference.name, suspect.name, suspect.source)
    ]
    models = ReuseModels(
        suspect=answers.model(suspect.name, "suspect"),
        references=(answers.model(reference.name, "reference"),),
        controls=tuple(answers.model(name, "control") for name in controls),
    )
    case = make_case(models, models.references[0], answers.items[reference.name], answers.responses)
    finding = finding_of(case, alpha=ALPHA, soft_scope=soft_scope_metric(0.1, 1.0))
    (verdict,) = conclude([finding], ALPHA)
    return Tried(
        reference=reference.name,
        suspect=suspect.name,
        group=_group(reference, suspect),
        verdict=verdict,
    )


def _group(reference: ZooModel, suspect: ZooModel) -> str:
    if suspect.source == reference.name:
        return suspect.kind
    if suspect.hard_negative_of == reference.name:
        return "hard_negatives"
    return "of_others" if suspect.source else "independents"


def _false_positives(tried: Sequence[Tried]) -> dict[str, float]:
    """The share of independents called related; a model's verdicts are no independent evidence."""
    strangers = [one for one in tried if one.group in ("independents", "hard_negatives")]
    estimate = mean_estimate(
        [float(one.verdict.decision == "related") for one in strangers],
        [one.suspect for one in strangers],
    )
    return bounded("zoo_observed_fpr_at_05", estimate)


def _by_group(tried: Sequence[Tried]) -> dict[str, float]:
    """How often each verdict is given to each group."""
    found: dict[str, float] = {}
    for group in (*DERIVED, *UNRELATED):
        ours = [one for one in tried if one.group == group]
        found[f"zoo_{group}_pairs"] = len(ours)
        found[f"zoo_{group}_related"] = _share(ours, "related")
    return found


def _share(tried: Sequence[Tried], decision: Decision) -> float:
    return float(np.mean([one.verdict.decision == decision for one in tried]))
