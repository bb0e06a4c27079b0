"""Skips what needs a lexicon where the machine has none."""

import pytest

from perturbations.lexicon import stopwords
from perturbations.wordnet import wordnet
from scope.errors import ResourceError


@pytest.fixture(scope="session")
def lexicon() -> None:
    try:
        stopwords()
        wordnet()
    except ResourceError as error:
        pytest.skip(f"no lexicon on this machine: {error.found}")
