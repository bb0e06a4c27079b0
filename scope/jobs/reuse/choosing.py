"""Chooses controls among stored models by the suspect's accuracy, without their similarity.

The rank of the pair has its error rate if suspect, reference and controls are exchangeable given
their skill: each pair is as likely as the others to be the most similar. A choice preserves this
for the suspect if it depends only on the accuracies (without right answers, on the agreement
with most models), and not on similarity to the reference. Leaving out models that are similar to
the reference would make any suspect stand out; leaving out those that are similar to the suspect
does the same if the suspect is similar to the reference. So neither is done. A candidate is left
out, in this order, if

1. it is of the family of the suspect, a reference or a derivative by name: both names have the same
   first word, and at most half of the candidates have it;
2. it leaves more than a quarter of the questions unanswered: it would have no rank;
3. enough models that are nearer to the suspect in accuracy have been chosen;
4. it is kin of a control that was chosen before it: their discrete CAPA is more than three robust
   standard deviations above what their skills explain (`kin` in `scope.jobs.reuse.consensus`),
   among eight stored models or more. Kin do not vary independently. The error rate is then that
   among unrelated models: a family with many members counts once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from scope.errors import DataError
from scope.estimation.tasks.shares import SILENT
from scope.jobs.reuse.answer_matrix import NOT_ASKED, AnswerMatrix, answer_matrix, option_blocks
from scope.jobs.reuse.consensus import kin, skill
from scope.jobs.reuse.models import FEWEST_CONTROLS, ReuseModels
from scope.jobs.reuse.questions import ReuseItem
from scope.jobs.reuse.responses import Responses
from scope.jobs.reuse.usability import same_stem
from scope.records import CandidateControl
from scope.statistics import mean_estimate


def with_chosen_controls(
    models: ReuseModels, items: Sequence[ReuseItem], responses: Responses, number: int | None
) -> tuple[ReuseModels, tuple[CandidateControl, ...]]:
    """The models with the chosen candidates among the controls, and every candidate.

    Parameters
    ----------
    number
        Number of candidates to choose, nearest to the suspect in accuracy; None for all that are
        fit.

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
    known = (models.suspect, *models.references, *models.derivatives)
    taken = [model.name for model in known]
    every_candidate = tuple(considered(answers, names, taken, len(fixed), number))
    chosen = {each.model for each in every_candidate if not each.left_out}
    controls = (*models.controls, *(each for each in models.candidates if each.name in chosen))
    if len(controls) < FEWEST_CONTROLS:
        left = [f"{each.model}: {each.left_out}" for each in every_candidate if each.left_out]
        raise DataError(
            f"{len(controls)} controls of {len(models.candidates)} stored models "
            f"({'; '.join(left[:5])})",
            expected=f"at least {FEWEST_CONTROLS} models of other families with their answers",
            fix="add stored models to --controls-from, or name controls with --control",
        )
    return replace(models, controls=controls, candidates=()), every_candidate


def considered(
    answers: AnswerMatrix, names: Sequence[str], taken: Sequence[str], first: int, most: int | None
) -> Iterator[CandidateControl]:
    """The candidates from row ``first`` on, by their distance from the suspect in accuracy.

    Row 0 is the suspect; the rows before ``first`` are controls already.
    """
    skills, enough = skill(answers), answers.given.mean(axis=1, keepdims=True) >= 1 - SILENT
    others = replace(answers, answers=np.where(enough, answers.answers, NOT_ASKED)[1:])
    related = kin(others, option_blocks(others), skill(others))
    rows = np.arange(first, len(names))
    rows = rows[np.argsort(abs(skills[rows] - skills[0]), kind="stable")]
    families = {other: name for name in taken for other in same_stem(name, names[first:])}
    chosen = list(range(1, first))
    for row in map(int, rows):
        alike = [names[other] for other in chosen if related[row - 1, other - 1]]
        answered = answers.given[row]
        why = ""
        if names[row] in families:
            why = f"its name begins like that of {families[names[row]]}"
        elif answered.mean() < 1 - SILENT:
            why = f"it answered {answered.mean():.0%} of the questions, fewer than {1 - SILENT:.0%}"
        elif most is not None and len(chosen) >= most:
            why = f"{most} controls are named or nearer to the suspect in accuracy"
        elif alike:
            why = f"its answers are more like those of {alike[0]} than skill explains"
        chosen += [] if why else [row]
        asked = answers.asked[row]
        right = answers.answers[row, asked] == answers.expected_right()[asked]
        measured = mean_estimate(right.astype(float), answers.units[asked].astype(str).tolist())
        yield CandidateControl(model=names[row], skill=measured, left_out=why)
