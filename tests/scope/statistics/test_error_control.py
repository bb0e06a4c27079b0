"""How often 2,000 unrelated suspects are called derived, by each way of reaching a verdict.

One simulated world is a set of questions, three references, a suspect and 24 controls, all drawn
alike from one population of models: each has a skill of its own, and tastes of its own for some
wrong options, so that two of them agree more than chance and some pairs much more than others. The
suspect is related to no reference; or, to see that the tests can tell, takes 40 % of its answers
from the first.

The kinds of evidence are simple ones, in weights that let no two models tie but by equal answers.
"""

from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from scope.statistics import holm
from scope.statistics.conformal import conformal_p_value, controls_needed, joint_statistic
from scope.statistics.sequential import SequentialTest

WORLDS, DERIVED_WORLDS = 2000, 300
CONTROLS, REFERENCES, ITEMS, OPTIONS, TASTES = 24, 3, 200, 4, 3
GRID = np.arange(1, CONTROLS + 2) / (CONTROLS + 1)
# 0.12 is the smallest p-value after Holm's correction over three.
ALPHAS = (0.04, 0.05, 0.1, 0.12, 0.2, 0.5)
LOOKS = range(20, ITEMS + 1, 20)
COPIED = 0.4
AT_ONCE = 100


class PValues(NamedTuple):
    """One array a way of reaching a verdict; shape (worlds,), or (worlds, 3) for references."""

    one_kind: np.ndarray
    holm_over_kinds: np.ndarray
    joint: np.ndarray
    sequential_last: np.ndarray
    sequential_least: np.ndarray
    holm_over_references: np.ndarray


def draw_answers(generator, worlds):
    """The answers of references, suspect and controls; the right option is 0.

    Shape (worlds, models, items).
    """
    models = REFERENCES + 1 + CONTROLS
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


def kinds_of_evidence(reference, pool, weights):
    """Three likenesses to the reference of each model of the pool; shape (3, models).

    They hang together: agreement on the reference's mistakes, on all questions, and on the half
    of the questions that it shares with few of the pool.
    """
    alike = (pool == reference) * weights
    mistakes = reference != 0
    rare = (pool == reference).mean(axis=0) < 0.5
    return np.stack([alike[:, mistakes].sum(axis=1), alike.sum(axis=1), alike[:, rare].sum(axis=1)])


def p_value_of_first(values):
    return conformal_p_value(float(values[0]), values[1:])


def p_values_of_world(answers, weights):
    references, pool = answers[:REFERENCES], answers[REFERENCES:]
    kinds = [kinds_of_evidence(reference, pool, weights) for reference in references]
    joint = [p_value_of_first(joint_statistic(table)) for table in kinds]
    single = [p_value_of_first(row) for row in kinds[0]]
    test = SequentialTest(references[0], pool[1:], [OPTIONS] * ITEMS, looks=LOOKS)
    looks = [look.p_value for look in test.looks_at(pool[0])]
    return single[0], min(holm(single)), joint[0], looks[-1], min(looks), holm(joint)


def simulate(worlds, *, seed, copied=0.0):
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(worlds // AT_ONCE):
        answers = draw_answers(generator, AT_ONCE)
        taken = generator.random((AT_ONCE, ITEMS)) < copied
        answers[:, REFERENCES] = np.where(taken, answers[:, 0], answers[:, REFERENCES])
        weights = generator.uniform(0.5, 1.5, (AT_ONCE, ITEMS))
        found += [p_values_of_world(*world) for world in zip(answers, weights, strict=True)]
    return PValues(*map(np.array, zip(*found, strict=True)))


@pytest.fixture(scope="module")
def unrelated():
    return simulate(WORLDS, seed=20)


@pytest.fixture(scope="module")
def derived():
    return simulate(DERIVED_WORLDS, seed=21, copied=COPIED)


def most_allowed(alpha):
    """Alpha and three standard deviations of a share of 2,000."""
    return alpha + 3 * (alpha * (1 - alpha) / WORLDS) ** 0.5


@pytest.mark.parametrize("way", ["one_kind", "joint"])
def test_unrelated_suspects_have_p_values_uniform_on_their_grid(unrelated, way):
    ranks = np.rint(getattr(unrelated, way) * (CONTROLS + 1)).astype(int)
    counts = np.bincount(ranks, minlength=CONTROLS + 2)[1:]
    assert getattr(unrelated, way) == pytest.approx(GRID[ranks - 1])
    # The chance of a greater deviation, if they are uniform, is 0.001.
    assert stats.chisquare(counts).statistic < stats.chi2.ppf(0.999, CONTROLS)
    distance = np.abs(counts.cumsum() / WORLDS - GRID).max()
    assert distance < stats.kstwo.ppf(0.999, WORLDS)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(
    "way", ["one_kind", "holm_over_kinds", "joint", "sequential_last", "sequential_least"]
)
def test_unrelated_suspects_are_called_derived_no_more_often_than_alpha(unrelated, way, alpha):
    assert (getattr(unrelated, way) <= alpha).mean() <= most_allowed(alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_of_three_references_any_is_named_no_more_often_than_alpha(unrelated, alpha):
    named = (unrelated.holm_over_references <= alpha).any(axis=1)
    assert named.mean() <= most_allowed(alpha)


def test_the_models_are_heterogeneous_as_real_ones_are():
    answers = draw_answers(np.random.default_rng(3), 20)
    skill = (answers == 0).mean(axis=2)
    assert 0.05 < skill.std(axis=1).mean() < 0.3
    wrong = (answers[:, 0] != 0) & (answers[:, 1] != 0)
    alike = ((answers[:, 0] == answers[:, 1]) & wrong).sum() / wrong.sum()
    # More alike in their mistakes than the third that chance would give.
    assert alike > 0.4


@pytest.mark.parametrize(
    "way", ["one_kind", "holm_over_kinds", "joint", "sequential_last", "sequential_least"]
)
def test_a_suspect_with_two_answers_in_five_taken_is_found(derived, way):
    # Holm's correction over three kinds costs the smallest p-value its last step: 3 / 25.
    level = 0.12 if way == "holm_over_kinds" else 0.05
    assert controls_needed(0.05) <= CONTROLS
    assert (getattr(derived, way) <= level).mean() > 0.8
