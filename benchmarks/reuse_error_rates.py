"""How often is an independent suspect called related where the controls are unfit?

    python benchmarks/reuse_error_rates.py [--simulations 1000] [--world NAME ...] [--json]

Made-up models answer 600 questions with five options. All are misled by the same wrong options;
what a model knows depends on its skill and on how hard the question is. 24 controls are drawn in
each of these ways (`WORLDS`), 1,000 times each, and the verdict is that of `scope reuse` at 0.05:

- `fit`: as skilled as the suspect, and drawn as it is;
- `weaker`, `stronger`: 0.05 to 0.35 less, or more, skilled than the suspect;
- `one_family`: each took 60 % of its answers from one base model;
- `heavy_tails`: they, and the suspect, took a heavy-tailed share from a base of the reference;
- `few_of_like_skill`: 4 of the suspect's skill, all others stronger by 0.2 to 0.4;
- `near_copies`: each took 95 % of its answers from one base model;
- `half_guess`, `half_guess_derived_30`: 24 fit controls, and 24 more that guess;
- `derived_10`, `derived_15`, `derived_30`: fit controls, and a suspect that took such a percentage
  of its answers from the reference: here *related* is right.

A suspect whose agreement has a p-value above 0.25 cannot be called related, and is judged no
further. The first 100 simulations, and derived suspects 200 times, are judged in full: on them it
is shown how often p by rank is at most alpha, and how often rank and paired test would accuse.

Keys of --json, for each: `WORLD_simulations`, `WORLD_related` (counts), `WORLD_rate` with `_low`
and `_high` (95 %, Wilson) of *related*; of those judged in full `WORLD_in_full`,
`WORLD_undecided`, `WORLD_not_related`, `WORLD_small_rank` (p by rank at most alpha) and
`WORLD_by_rank_alone` (rank and paired test). `alpha`, `seconds`, `holds`
(whether each lower bound of an independent suspect is at most alpha), and `python`, `numpy`,
`processor`, `cores`.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from surroundings import command, show, surroundings

from scope.jobs.preparation import soft_scope_metric
from scope.jobs.reuse.answer_matrix import AnswerMatrix
from scope.jobs.reuse.case import Case, CaseItem
from scope.jobs.reuse.judging import agreement_test, finding_of
from scope.jobs.reuse.verdicts import conclude
from scope.progress import suitable_progress
from scope.protocols import Progress
from scope.records import Estimate, Verdict
from scope.statistics import mean_estimate

ALPHA = 0.05
CONTROLS = 24
OPTIONS = 5
QUESTIONS = 600
SIMULATIONS = 1000
IN_FULL = 100
DERIVED = 200
FAR = 0.25

Answers = NDArray[np.int64]


class Exam:
    """Questions with one right option, and models that answer them; the seed decides all."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.gold = self.generator.integers(0, OPTIONS, size=QUESTIONS)
        appeal = self.generator.dirichlet(np.full(OPTIONS, 0.7), size=QUESTIONS)
        self._appeal = appeal.cumsum(axis=1)
        self._difficulty = self.generator.normal(size=QUESTIONS)

    def model(self, skill: float) -> Answers:
        """An independent model, which knows about such a share of the answers."""
        ability = 1.2 * np.log(skill / (1 - skill))
        knows = self.generator.random(QUESTIONS) < 1 / (1 + np.exp(self._difficulty - ability))
        misled = (self.generator.random((QUESTIONS, 1)) > self._appeal).sum(axis=1)
        return np.where(knows, self.gold, np.minimum(misled, OPTIONS - 1))

    def taking(self, own: Answers, source: Answers, share: float) -> Answers:
        """A model's answers with such a share of them from another one."""
        return np.where(self.generator.random(QUESTIONS) < share, source, own)

    def uniform(self, low: float, high: float, size: int = CONTROLS) -> list[float]:
        """Skills, or differences between skills."""
        return [float(one) for one in self.generator.uniform(low, high, size=size)]

    def guess(self) -> Answers:
        """A model that answers at random."""
        return self.generator.integers(0, OPTIONS, size=QUESTIONS)


World = Callable[[Exam], list[Answers]]
"""The reference, the suspect and the controls."""


def _fit(exam: Exam) -> list[Answers]:
    return [exam.model(skill) for skill in exam.uniform(0.3, 0.55, CONTROLS + 2)]


def _of_other_skill(side: int) -> World:
    def made(exam: Exam) -> list[Answers]:
        (suspect,) = exam.uniform(0.4, 0.6, 1)
        suspect -= 0.2 * (side > 0)
        skills = [max(suspect + side * gap, 0.02) for gap in exam.uniform(0.05, 0.35)]
        return [exam.model(skill) for skill in (*exam.uniform(0.25, 0.55, 1), suspect, *skills)]

    return made


def _of_one_source(share: float) -> World:
    def made(exam: Exam) -> list[Answers]:
        reference, suspect, *controls = _fit(exam)
        base = exam.model(0.45)
        return [reference, suspect, *(exam.taking(one, base, share) for one in controls)]

    return made


def _heavy_tails(exam: Exam) -> list[Answers]:
    reference, *others = _fit(exam)
    base = exam.model(0.45)
    shares = np.minimum(0.05 * exam.generator.pareto(1.0, size=len(others)), 0.9)
    taken = [exam.taking(one, base, share) for one, share in zip(others, shares, strict=True)]
    return [exam.taking(reference, base, 0.6), *taken]


def _few_of_like_skill(exam: Exam) -> list[Answers]:
    reference, suspect = exam.uniform(0.25, 0.45, 2)
    alike = exam.uniform(suspect - 0.05, suspect + 0.05, 4)
    far = exam.uniform(suspect + 0.2, suspect + 0.4, CONTROLS - 4)
    return [exam.model(skill) for skill in (reference, suspect, *alike, *far)]


def _derived(share: float) -> World:
    def made(exam: Exam) -> list[Answers]:
        reference, suspect, *controls = _fit(exam)
        return [reference, exam.taking(suspect, reference, share), *controls]

    return made


def _and_guessers(fit: World) -> World:
    def made(exam: Exam) -> list[Answers]:
        return [*fit(exam), *(exam.guess() for _ in range(CONTROLS))]

    return made


WORLDS: Mapping[str, World] = {
    "fit": _fit,
    "weaker": _of_other_skill(-1),
    "stronger": _of_other_skill(1),
    "one_family": _of_one_source(0.6),
    "heavy_tails": _heavy_tails,
    "few_of_like_skill": _few_of_like_skill,
    "near_copies": _of_one_source(0.95),
    "half_guess": _and_guessers(_fit),
    "derived_10": _derived(0.10),
    "derived_15": _derived(0.15),
    "derived_30": _derived(0.30),
    "half_guess_derived_30": _and_guessers(_derived(0.30)),
}


def case_of(names: Sequence[str], answers: AnswerMatrix) -> Case:
    """The answers of these models, the reference's and the suspect's first, as a test sees them."""
    reference, suspect, *controls = names
    items = [str(place) for place in range(len(answers.gold))]
    return Case(
        reference=reference,
        suspect=suspect,
        controls=tuple(controls),
        items=[CaseItem(one, one, "", "", "", "") for one in items],
        answers=answers,
        hash="",
        queries=len(items),
    )


def made_up_case(exam: Exam, answers: list[Answers]) -> Case:
    """The answers of made-up models to an exam."""
    matrix = AnswerMatrix(
        answers=np.array(answers),
        options=np.full(QUESTIONS, OPTIONS),
        gold=exam.gold,
        units=np.arange(QUESTIONS),
    )
    return case_of([f"model {place}" for place in range(len(answers))], matrix)


def verdict_on(case: Case) -> Verdict:
    """The verdict of `scope reuse` on these answers."""
    finding = finding_of(case, alpha=ALPHA, soft_scope=soft_scope_metric(0.1, 1.0), seed=0)
    (verdict,) = conclude([finding], ALPHA, assume_no_label_training=True)
    return verdict


def hardly_agrees(case: Case) -> bool:
    """Whether the verdict surely is not *related*, by what is quickly computed."""
    agreement = agreement_test(case, np.ones(len(case.controls), dtype=np.bool_))
    return agreement is None or agreement.p_value > FAR


def rank_is_small(verdict: Verdict) -> bool:
    """Whether the p-value by rank is at most alpha."""
    return verdict.p_rank is not None and verdict.p_rank <= ALPHA


def by_rank_alone(verdict: Verdict) -> bool:
    """Whether rank and paired test alone would call the suspect related."""
    paired = verdict.paired
    return rank_is_small(verdict) and paired is not None and paired.p_more <= ALPHA


def is_derived(world: str) -> bool:
    """Whether the suspects of a world took answers from the reference."""
    return "derived" in world


def figures(worlds: Sequence[str], simulations: int, progress: Progress) -> dict[str, Any]:
    """The counts of these worlds."""
    found: dict[str, Any] = {"alpha": ALPHA}
    began = time.monotonic()
    most = {name: DERIVED if is_derived(name) else simulations for name in worlds}
    times = {name: min(simulations, most[name]) for name in worlds}
    with progress.task("simulations", sum(times.values())) as advance:
        for name in worlds:
            verdicts: list[Verdict | None] = []
            in_full = times[name] if is_derived(name) else IN_FULL
            for seed in range(times[name]):
                exam = Exam(seed)
                case = made_up_case(exam, WORLDS[name](exam))
                skipped = seed >= in_full and hardly_agrees(case)
                verdicts.append(None if skipped else verdict_on(case))
                advance()
            found |= _counted(name, verdicts, in_full)
    independent = [name for name in worlds if not is_derived(name)]
    found["holds"] = all(found[f"{name}_rate_low"] <= ALPHA for name in independent)
    return {**found, "seconds": round(time.monotonic() - began, 1)}


def _counted(name: str, verdicts: Sequence[Verdict | None], in_full: int) -> dict[str, Any]:
    related = [float(one is not None and one.decision == "related") for one in verdicts]
    rate = mean_estimate(related, [str(place) for place in range(len(related))])
    assert isinstance(rate, Estimate)
    judged = [one for one in verdicts[:in_full] if one is not None]
    decisions = Counter(one.decision for one in judged)
    return {
        f"{name}_simulations": len(verdicts),
        f"{name}_related": round(sum(related)),
        f"{name}_rate": round(rate.value, 4),
        f"{name}_rate_low": round(rate.low, 4),
        f"{name}_rate_high": round(rate.high, 4),
        f"{name}_in_full": len(judged),
        f"{name}_undecided": decisions["undecided"],
        f"{name}_not_related": decisions["not related"],
        f"{name}_small_rank": sum(map(rank_is_small, judged)),
        f"{name}_by_rank_alone": sum(map(by_rank_alone, judged)),
    }


def main() -> None:
    """Simulate, and print lines or JSON; exit with 1 where an error rate does not hold."""
    parser = command(__doc__)
    parser.add_argument("--simulations", type=int, default=SIMULATIONS, help="of each kind")
    parser.add_argument("--world", action="append", choices=list(WORLDS), help="only this; repeat")
    arguments = parser.parse_args()
    worlds = arguments.world or list(WORLDS)
    found = figures(worlds, arguments.simulations, suitable_progress())
    show(found | surroundings("numpy"), as_json=arguments.json)
    sys.exit(not found["holds"])


if __name__ == "__main__":
    main()
