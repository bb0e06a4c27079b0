"""Chooses controls among stored models by the suspect's accuracy, before likeness is looked at.

The rank of the suspect has its error rate if suspect and controls are exchangeable given their
skill: without reuse each is as likely as the others to be the most similar to the reference. A
choice keeps this if it depends on the accuracies (without right answers, on how often a model gives
the answer of most) alone, and not on similarity to the reference.
Leaving out models that are similar to the reference would make any suspect stand out; leaving out
those that are similar to the suspect does the same where the suspect is similar to the reference.
So neither is done. A candidate is left out, in this order, if

1. it is of the family of the suspect or a reference by name: both names have the same first word,
   and at most half of the candidates have it;
2. it leaves more than a quarter of the questions unanswered: it would have no rank;
3. enough models that are nearer to the suspect in accuracy have been chosen;
4. it is nearly a copy of a control that was chosen before it: their discrete CAPA is above
   `NEAR_COPY`. Copies do not vary independently. The error rate is then that among different
   models, of which a family with many copies is a smaller part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from scope.errors import DataError
from scope.estimation.tasks.shares import SILENT
from scope.jobs.reuse.answer_matrix import AnswerMatrix, answer_matrix, option_blocks
from scope.jobs.reuse.consensus import pairwise_kappa, skill
from scope.jobs.reuse.models import FEWEST_CONTROLS, ReuseModels
from scope.jobs.reuse.questions import ReuseItem
from scope.jobs.reuse.responses import Responses
from scope.jobs.reuse.usability import same_stem
from scope.records import CandidateControl
from scope.statistics import mean_estimate

NEAR_COPY = 0.45
"""Of 29 models that answered MMLU-Pro, no two of different families reach 0.42; successive versions
of one base reach 0.47 to 0.56."""


def with_chosen_controls(
    models: ReuseModels, items: Sequence[ReuseItem], responses: Responses, number: int | None
) -> tuple[ReuseModels, tuple[CandidateControl, ...]]:
    """The models with the chosen candidates among the controls, and every candidate.

    Parameters
    ----------
    number
        How many to choose, those nearest to the suspect in accuracy; None for all that are fit.

    Raises
    ------
    DataError
        When fewer than two controls are left.
    """
    if not models.candidates:
        return models, ()
    questions = [item for item in items if item.id == item.unit]
    fixed = (models.suspect, *models.controls)
    every = (*fixed, *models.candidates)
    # The suspect last: a stored model that fails costs it no question.
    rows = [responses.answers(model, questions) for model in reversed(every)]
    answers = answer_matrix([item.key for item in questions], rows[::-1])
    names = [model.name for model in every]
    taken = [model.name for model in (models.suspect, *models.references)]
    considered = tuple(_considered(answers, names, taken, len(fixed), number))
    chosen = {each.model for each in considered if not each.left_out}
    controls = (*models.controls, *(each for each in models.candidates if each.name in chosen))
    if len(controls) < FEWEST_CONTROLS:
        reasons = "; ".join(f"{each.model}: {each.left_out}" for each in considered[:5])
        raise DataError(
            f"{len(controls)} controls of {len(considered)} stored models ({reasons})",
            expected=f"at least {FEWEST_CONTROLS} models of other families with their answers",
            fix="add stored models to --controls-from, or name controls with --control",
        )
    return replace(models, controls=controls, candidates=()), considered


def _considered(
    answers: AnswerMatrix,
    names: Sequence[str],
    taken: Sequence[str],
    first: int,
    number: int | None,
) -> Iterator[CandidateControl]:
    """The candidates from row ``first`` on, by their distance from the suspect in accuracy.

    Row 0 is the suspect; the rows before ``first`` are controls already.
    """
    skills, kappas = skill(answers), pairwise_kappa(answers, option_blocks(answers))
    rows = np.arange(first, len(names))
    if number is not None:
        rows = rows[np.argsort(abs(skills[rows] - skills[0]), kind="stable")]
    kin = {other: name for name in taken for other in same_stem(name, names[first:])}
    chosen = list(range(1, first))
    for row in map(int, rows):
        copies = [other for other in chosen if kappas[row, other] > NEAR_COPY]
        answered = answers.given[row]
        why = ""
        if names[row] in kin:
            why = f"its name begins like that of {kin[names[row]]}"
        elif answered.mean() < 1 - SILENT:
            why = f"it answered {answered.mean():.0%} of the questions, fewer than {1 - SILENT:.0%}"
        elif number is not None and len(chosen) >= number:
            why = f"{number} controls are nearer to the suspect in accuracy"
        elif copies:
            alike = f"their discrete CAPA is {kappas[row, copies[0]]:.2f}, above {NEAR_COPY:g}"
            why = f"it is nearly a copy of {names[copies[0]]}: {alike}"
        chosen += [] if why else [row]
        right = answers.answers[row, answered] == answers.expected_right()[answered]
        measured = mean_estimate(right.astype(float), answers.units[answered].astype(str).tolist())
        yield CandidateControl(model=names[row], skill=measured, left_out=why)
