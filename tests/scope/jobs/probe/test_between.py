"""Two models beside each other, by hand."""

import numpy as np
import pytest

from scope.jobs.probe import between as job
from scope.jobs.probe.between import alignments, differences
from scope.probes import align_layers, pearson

SENTENCES = tuple(
    f"{first} {number} saw bob in {number % 5}"
    for number, first in enumerate(("the", "a", "who", "ann", "bob", "paris") * 5)
)
WANTED = np.array([0.0, 1, 2, 3, 4, 5])


def test_each_model_is_held_against_each_later_one():
    given = {
        "a": WANTED**2,
        "b": np.array([1.0, 0, 2, 3, 5, 4]),
        "c": np.array([5.0, 4, 3, 2, 1, 1]),
    }
    found = differences("final", given, WANTED)
    assert [(one.first, one.second) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    for one in found:
        assert one.step == "final"
        apart = pearson(given[one.first], WANTED) - pearson(given[one.second], WANTED)
        assert one.pearson.value == pytest.approx(apart)
    assert differences("raw", {"a": WANTED}, WANTED) == ()


def test_a_map_is_that_of_the_sentences(bags, other):
    models = [bags(SENTENCES), other(SENTENCES)]
    (found,), notes = alignments(models, SENTENCES, seed=4)
    rows = [model.table.rows(SENTENCES) for model in models]
    expected = align_layers(*rows, seed=4)
    assert (found.first, found.second, found.sentences) == ("bags", "other", 30)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.margins, expected.margins)
    assert found.chance == expected.chance
    assert notes == ()


def test_of_many_sentences_the_seed_draws_some(bags, other, monkeypatch):
    monkeypatch.setattr(job, "MOST_SENTENCES", 12)
    models = [bags(SENTENCES), other(SENTENCES)]
    first, again, others = (alignments(models, SENTENCES, seed).maps[0] for seed in (0, 0, 1))
    assert first.sentences == 12
    assert first == again
    assert first.values != others.values


def test_too_few_sentences_give_a_note_in_place_of_a_map(bags, other):
    found = alignments([bags(SENTENCES), other(SENTENCES)], SENTENCES[:9], seed=0)
    assert found.maps == ()
    assert found.notes == ("no map of the layers of bags and other: 9 sentences",)
