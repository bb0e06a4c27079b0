"""How often 2,000 unrelated suspects are called related by the rank of a pair among all pairs.

One simulated world is a set of questions, a reference, a suspect and 8 controls, all drawn alike
from one population of models: each has a skill of its own, and tastes of its own for some wrong
options, so that two of them agree more than chance and some pairs much more than others. The
suspect is related to the reference in none; or, to see that the test can tell, takes 40 % of its
answers from it.

The kinds of evidence are simple ones, in weights that let no two pairs tie but by equal answers.
"""

import numpy as np
import pytest
from scipy import stats

from scope.statistics.between_models import conformal_p_value, controls_needed, joint_statistic

WORLDS, DERIVED_WORLDS = 2000, 300
CONTROLS, ITEMS, OPTIONS, TASTES = 8, 200, 4, 3
ROWS, COLUMNS = np.triu_indices(CONTROLS + 2, 1)
GRID = np.arange(1, len(ROWS) + 1) / len(ROWS)
ALPHAS = (0.025, 0.05, 0.1, 0.2, 0.5)
COPIED = 0.4
AT_ONCE = 100


def draw_answers(generator, worlds):
    """The answers of reference, suspect and controls; the right option is 0.

    Shape (worlds, models, items).
    """
    models = 2 + CONTROLS
    skill = generator.normal(1.2, 0.8, (worlds, models, 1)).astype(np.float32)
    style = generator.normal(0, 0.6, (worlds, models, TASTES)).astype(np.float32)
    tempting = generator.normal(0, 1, (worlds, 1, ITEMS * OPTIONS)).astype(np.float32)
    tastes = generator.normal(0, 1, (worlds, TASTES, ITEMS * OPTIONS)).astype(np.float32)
    liking = tempting + style @ tastes
    # Gumbel noise turns the greatest of the likings into a draw by their softmax.
    noise = generator.standard_exponential(liking.shape, dtype=np.float32)
    liking -= np.log(np.maximum(noise, np.finfo(np.float32).tiny))
    liking = liking.reshape(worlds, models, ITEMS, OPTIONS)
    liking[..., 0] += skill
    return liking.argmax(axis=-1)


def kinds_of_evidence(answers, weights):
    """Three likenesses of each pair of models; shape (3, pairs).

    They hang together: agreement on what the first of the two or the second has wrong, on all
    questions, and on the half of the questions that most models have wrong.
    """
    first, second = answers[ROWS], answers[COLUMNS]
    alike = (first == second) * weights
    hard = (answers == 0).mean(axis=0) < 0.5
    wrong = alike * ((first != 0) + (second != 0))
    return np.stack([wrong.sum(axis=1), alike.sum(axis=1), alike[:, hard].sum(axis=1)])


def p_values_of_world(answers, weights):
    kinds = kinds_of_evidence(answers, weights)
    return [
        conformal_p_value(float(values[0]), values[1:])
        for values in (kinds[0], joint_statistic(kinds))
    ]


def simulate(worlds, *, seed, copied=0.0):
    """The p-values by one kind and by all together; shape (2, worlds)."""
    generator = np.random.default_rng(seed)
    p_values = []
    for _ in range(worlds // AT_ONCE):
        answers = draw_answers(generator, AT_ONCE)
        taken = generator.random((AT_ONCE, ITEMS)) < copied
        answers[:, 1] = np.where(taken, answers[:, 0], answers[:, 1])
        weights = generator.uniform(0.5, 1.5, (AT_ONCE, ITEMS))
        p_values += [p_values_of_world(*world) for world in zip(answers, weights, strict=True)]
    return np.array(p_values).T


@pytest.fixture(scope="module")
def unrelated():
    return simulate(WORLDS, seed=20)


@pytest.mark.parametrize("way", [0, 1], ids=["one kind", "joint"])
def test_unrelated_suspects_have_p_values_uniform_on_their_grid(unrelated, way):
    ranks = np.rint(unrelated[way] * len(ROWS)).astype(int)
    counts = np.bincount(ranks, minlength=len(ROWS) + 1)[1:]
    # The chance of a greater deviation, if they are uniform, is 0.001.
    assert stats.chisquare(counts).statistic < stats.chi2.ppf(0.999, len(ROWS) - 1)
    distance = np.abs(counts.cumsum() / WORLDS - GRID).max()
    assert distance < stats.kstwo.ppf(0.999, WORLDS)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_unrelated_suspects_are_called_related_no_more_often_than_alpha(unrelated, alpha):
    allowed = alpha + 3 * (alpha * (1 - alpha) / WORLDS) ** 0.5
    assert ((unrelated <= alpha).mean(axis=1) <= allowed).all()


def test_the_models_are_heterogeneous_as_real_ones_are():
    answers = draw_answers(np.random.default_rng(3), 20)
    skill = (answers == 0).mean(axis=2)
    assert 0.05 < skill.std(axis=1).mean() < 0.3
    wrong = (answers[:, 0] != 0) & (answers[:, 1] != 0)
    alike = ((answers[:, 0] == answers[:, 1]) & wrong).sum() / wrong.sum()
    # More alike in their mistakes than the third that chance would give.
    assert alike > 0.4


def test_a_suspect_with_two_answers_in_five_taken_is_found():
    assert controls_needed(0.05) <= CONTROLS
    _, joint = simulate(DERIVED_WORLDS, seed=21, copied=COPIED)
    assert (joint <= 0.05).mean() > 0.8
