"""Pairs that nobody scored, by a saved probe of a tiny random checkpoint."""

import numpy as np
import pytest
from tiny_language import write_tiny_llama
from tiny_probe import write_probe

import scope
from scope.errors import DataError
from scope.models.latents import Readout

FIRST = ["the film was good", "ann", "paris", ""]
SECOND = ["a dull film", "ann", "bob saw ann", "bob"]


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    monkeypatch.setenv("SCOPE_CACHE", str(tmp_path / "cache"))
    write_tiny_llama(tmp_path / "model", chat=False)
    return write_probe(tmp_path / "probe", tmp_path / "model", Readout(kind="last"))


def test_scores_lie_in_the_range_that_the_probe_was_fitted_on(tiny):
    scores = scope.similarity(FIRST, SECOND, probe=tiny.folder)
    expected = [1 + 4 * tiny.value(*pair) for pair in zip(FIRST[:3], SECOND[:3], strict=True)]
    assert scores.tolist() == pytest.approx([*expected, 1.0])
    assert scores[1] == 5.0
    assert np.array_equal(scores, scope.similarity(SECOND, FIRST, probe=str(tiny.folder)))


def test_a_model_that_was_moved_is_named(tiny, tmp_path):
    before = scope.similarity(FIRST, SECOND, probe=tiny.folder)
    (tmp_path / "model").rename(tmp_path / "moved")
    moved = f"hf:{tmp_path / 'moved'}"
    assert np.array_equal(before, scope.similarity(FIRST, SECOND, probe=tiny.folder, model=moved))


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [("ann", "bob", "`ann` beside `bob`"), (["ann", "bob"], ["ann"], "2 beside 1")],
)
def test_two_lists_of_one_length_are_asked_for(tiny, first, second, found):
    with pytest.raises(DataError) as error:
        scope.similarity(first, second, probe=tiny.folder)
    assert error.value.found == found
