"""Small made-up fleets: questions of a few kinds, models that are good at some of them."""

import numpy as np

from scope.jobs.fleet.questions import QuestionLayout

LAYOUT = QuestionLayout(vector=4, encoder="toy")


def fleet(questions=60, models=6, seed=0, unknown=0.1):
    """A table and answers whose log-odds are bilinear in question and model, plus a skill."""
    generator = np.random.default_rng(seed)
    table = generator.standard_normal((questions, LAYOUT.vector))
    table /= np.linalg.norm(table, axis=1, keepdims=True)
    skills = generator.standard_normal(models)
    tastes = 4 * generator.standard_normal((LAYOUT.vector, models))
    chances = 1 / (1 + np.exp(-(skills + table @ tastes)))
    answers = (generator.random(chances.shape) < chances).astype(np.float32)
    answers[generator.random(chances.shape) < unknown] = np.nan
    return table.astype(np.float32), answers
