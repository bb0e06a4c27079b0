"""Files of lines, and matrices and fleets of which hardly more than the answers matters."""

from string import ascii_lowercase

import numpy as np
import pytest

from scope.jobs.fleet.matrix import CorrectnessMatrix
from scope.jobs.fleet.stored_fleet import Fleet


@pytest.fixture
def write(tmp_path):
    """Writes a file line by line; gives its path."""

    def written(name, *lines):
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return written


@pytest.fixture(scope="session")
def matrix_of():
    """Builds a matrix of answers, with numbers for what is not given."""

    def build(correct, **parts):
        answers = np.asarray(correct, dtype=np.float32)
        questions, models = answers.shape
        usual = {
            "models": tuple(ascii_lowercase[:models]),
            "ids": tuple(f"q{place}" for place in range(questions)),
            "texts": ("",) * questions,
            "categories": (None,) * questions,
        }
        return CorrectnessMatrix(**{**usual, **parts}, correct=answers)

    return build


@pytest.fixture(scope="session")
def fleet_of(matrix_of):
    """Builds the fleet of a forecaster that is fitted on answers, with names for the rest."""

    def build(forecaster, table, answers, **parts):
        matrix = matrix_of(answers)
        usual = {
            "forecaster": forecaster.fit(table, matrix.correct),
            "models": matrix.models,
            "skills": np.nanmean(matrix.correct, axis=0),
            "answered": (~np.isnan(matrix.correct)).sum(axis=0),
            "ids": matrix.ids,
            "texts_digest": matrix.texts,
            "encoder": "hf:toy",
        }
        return Fleet(**{**usual, **parts})

    return build


@pytest.fixture
def encoder():
    """An encoder by the length of a text and its first letter."""

    class Letters:
        spec, fingerprint = "hf:letters", "letters-1"

        def encode(self, texts):
            return np.array([[len(text), ord(text[0])] for text in texts], dtype=np.float32)

    return Letters()
