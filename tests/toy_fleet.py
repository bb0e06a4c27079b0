"""Small made-up fleets: questions of a few kinds, models that are good at some of them."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np

from scope.jobs.fleet.questions import QuestionLayout

LAYOUT = QuestionLayout(vector=4, encoder="toy")

# Prints a digest of a fitted forecaster's forecasts: run in a new process, it must print the same.
DIGEST = """
import toy_fleet
from {module} import {name}
print(toy_fleet.digest({name}, {parameters}))
"""


def digest(forecaster, **parameters):
    """Of what it predicts once fitted."""
    table, answers = fleet(seed=3)
    fitted = forecaster(layout=LAYOUT, **parameters).fit(table, answers)
    return hashlib.sha256(fitted.predict_proba(table).tobytes()).hexdigest()


def assert_the_same_in_a_new_process(forecaster, **parameters):
    """A fitted forecaster's bytes do not depend on the process that fitted it."""
    program = DIGEST.format(
        module=forecaster.__module__,
        name=forecaster.__name__,
        parameters=", ".join(f"{name}={value!r}" for name, value in parameters.items()),
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest(forecaster, **parameters)


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
