"""How often is an independent suspect called related where the controls are unfit?

    python benchmarks/reuse_error_rates.py [--simulations 1000] [--controls N ...]
                                           [--world NAME ...] [--json]

Made-up models answer 600 questions with five options. All are misled by the same wrong options;
what a model knows depends on its skill and on how hard the question is. 5, 8, 13, 19 or 24 controls
are drawn in each of these ways (`WORLDS`), 1,000 times each, and the verdict is that of
`scope reuse` at 0.05:

- `fit`: as skilled as the suspect, and drawn as it is;
- `weaker`, `stronger`: 0.05 to 0.35 less, or more, skilled than the suspect;
- `one_family`: each took 60 % of its answers from one base model;
- `heavy_tails`: all models took a heavy-tailed share of their answers from one base;
- `few_of_like_skill`: a sixth are of the suspect's skill, all others stronger by 0.2 to 0.4;
- `near_copies`: each took 95 % of its answers from one base model;
- `half_guess`, `half_guess_derived_30`: fit controls, and as many more that guess;
- `derived_10`, `derived_15`, `derived_30`: fit controls, and a suspect that took such a percentage
  of its answers from the reference: here *related* is right.

A suspect whose agreement has a p-value above 0.25 cannot be called related, and is judged no
further. Derived suspects are judged 200 times.

Keys of --json, for each: `WORLD_N_simulations`, `WORLD_N_related` (counts, of N controls) and
`WORLD_N_rate` with `_low` and `_high` (95 %, Wilson) of *related*. `alpha`, `seconds`, `holds`
(whether each lower bound of an independent suspect is at most alpha), and `python`, `numpy`,
`processor`, `cores`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from surroundings import bounded, command, show, surroundings

from scope.jobs.perturbing import soft_scope_metric
from scope.jobs.reuse.evidence import Case, CaseItem
from scope.jobs.reuse.judging import agreement_test, finding_of
from scope.jobs.reuse.pool import AnswerMatrix
from scope.jobs.reuse.verdicts import conclude
from scope.progress import suitable_progress
from scope.protocols import Progress
from scope.records import Verdict
from scope.statistics.intervals import mean_estimate

ALPHA = 0.05
CONTROLS = (5, 8, 13, 19, 24)
OPTIONS = 5
QUESTIONS = 600
SIMULATIONS = 1000
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

    def uniform(self, low: float, high: float, size: int) -> list[float]:
        """Skills, or differences between skills."""
        return list(map(float, self.generator.uniform(low, high, size=size)))

    def guess(self) -> Answers:
        """A model that answers at random."""
        return self.generator.integers(0, OPTIONS, size=QUESTIONS)


World = Callable[[Exam, int], list[Answers]]
"""The reference, the suspect and the controls, by their number."""


def _fit(exam: Exam, controls: int) -> list[Answers]:
    return [exam.model(skill) for skill in exam.uniform(0.3, 0.55, controls + 2)]


def _of_other_skill(side: int) -> World:
    def made(exam: Exam, controls: int) -> list[Answers]:
        (suspect,) = exam.uniform(0.4, 0.6, 1)
        suspect -= 0.2 * (side > 0)
        gaps = exam.uniform(0.05, 0.35, controls)
        skills = [max(suspect + side * gap, 0.02) for gap in gaps]
        return [exam.model(skill) for skill in (*exam.uniform(0.25, 0.55, 1), suspect, *skills)]

    return made


def _of_one_source(share: float) -> World:
    def made(exam: Exam, controls: int) -> list[Answers]:
        reference, suspect, *others = _fit(exam, controls)
        base = exam.model(0.45)
        return [reference, suspect, *(exam.taking(each, base, share) for each in others)]

    return made


def _heavy_tails(exam: Exam, controls: int) -> list[Answers]:
    base, models = exam.model(0.45), _fit(exam, controls)
    shares = np.minimum(0.05 * exam.generator.pareto(1.0, size=len(models)), 0.9)
    return [exam.taking(each, base, share) for each, share in zip(models, shares, strict=True)]


def _few_of_like_skill(exam: Exam, controls: int) -> list[Answers]:
    reference, suspect = exam.uniform(0.25, 0.45, 2)
    alike = exam.uniform(suspect - 0.05, suspect + 0.05, controls // 6)
    far = exam.uniform(suspect + 0.2, suspect + 0.4, controls - controls // 6)
    return [exam.model(skill) for skill in (reference, suspect, *alike, *far)]


def _derived(share: float) -> World:
    def made(exam: Exam, controls: int) -> list[Answers]:
        reference, suspect, *others = _fit(exam, controls)
        return [reference, exam.taking(suspect, reference, share), *others]

    return made


def _and_guessers(fit: World) -> World:
    def made(exam: Exam, controls: int) -> list[Answers]:
        return [*fit(exam, controls), *(exam.guess() for _ in range(controls))]

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


def case_of(
    names: Sequence[str],
    answers: AnswerMatrix,
    derivatives: Mapping[str, AnswerMatrix] | None = None,
) -> Case:
    """The answers of these models, the reference's and the suspect's first, as a test sees them."""
    reference, suspect, *controls = names
    items = [str(place) for place in range(len(answers.gold))]
    return Case(
        reference=reference,
        suspect=suspect,
        controls=tuple(controls),
        items=[CaseItem(item, item, "", "", "", "") for item in items],
        answers=answers,
        derivatives=derivatives or {},
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
    (verdict,) = conclude(
        [finding_of(case, alpha=ALPHA, soft_scope=soft_scope_metric(0.1, 1.0))], ALPHA
    )
    return verdict


def hardly_agrees(case: Case) -> bool:
    """Whether the verdict surely is not *related*, by what is quickly computed."""
    agreement = agreement_test(case, np.ones(len(case.controls), dtype=np.bool_))
    return agreement is None or agreement.p_value > FAR


def is_derived(world: str) -> bool:
    """Whether the suspects of a world took answers from the reference."""
    return "derived" in world


def figures(
    worlds: Sequence[str], counts: Sequence[int], simulations: int, progress: Progress
) -> dict[str, Any]:
    """How often a suspect is related in these worlds, among these numbers of controls."""
    result: dict[str, Any] = {"alpha": ALPHA}
    began = time.monotonic()
    cells = [(name, controls) for name in worlds for controls in counts]
    with progress.task("worlds", len(cells)) as advance:
        for name, controls in cells:
            times = min(simulations, DERIVED) if is_derived(name) else simulations
            related = [float(_is_related(name, controls, seed)) for seed in range(times)]
            rate = mean_estimate(related, list(map(str, range(times))))
            key = f"{name}_{controls}"
            result |= {f"{key}_simulations": times, f"{key}_related": round(sum(related))}
            result |= {
                each: round(value, 4) for each, value in bounded(f"{key}_rate", rate).items()
            }
            advance()
    lows = [
        result[f"{name}_{controls}_rate_low"] for name, controls in cells if not is_derived(name)
    ]
    result["holds"] = all(low <= ALPHA for low in lows)
    return {**result, "seconds": round(time.monotonic() - began, 1)}


def _is_related(world: str, controls: int, seed: int) -> bool:
    exam = Exam(seed)
    case = made_up_case(exam, WORLDS[world](exam, controls))
    return not hardly_agrees(case) and verdict_on(case).decision == "related"


def main() -> None:
    """Simulate, and print lines or JSON; exit with 1 where an error rate does not hold."""
    parser = command(__doc__)
    parser.add_argument("--simulations", type=int, default=SIMULATIONS, help="of each kind")
    parser.add_argument("--world", action="append", choices=list(WORLDS), help="only this; repeat")
    parser.add_argument(
        "--controls", action="append", type=int, help="a number of controls; repeat"
    )
    arguments = parser.parse_args()
    worlds = arguments.world or list(WORLDS)
    counts = arguments.controls or CONTROLS
    result = figures(worlds, counts, arguments.simulations, suitable_progress())
    show(result | surroundings("numpy"), as_json=arguments.json)
    sys.exit(not result["holds"])


if __name__ == "__main__":
    main()
