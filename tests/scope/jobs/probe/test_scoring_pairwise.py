"""Two models beside each other, by hand."""

import numpy as np
import pytest

from scope.jobs.probe import scoring as job
from scope.jobs.probe.scoring import alignments, differences
from scope.probes import align_layers, pearson_difference
from scope.probes.correlations import pearson
from scope.records import ScoredPair

SENTENCES = tuple(
    f"{first} {number} saw bob in {number % 5}"
    for number, first in enumerate(("the", "a", "who", "ann", "bob", "paris") * 5)
)
PAIRS = tuple(
    ScoredPair(id=first, first=first, second=second, score=1.0)
    for first, second in zip(SENTENCES[::2], SENTENCES[1::2], strict=True)
)
WANTED = np.array([0.0, 1, 2, 3, 4, 5])
ALONE = np.arange(6)


def test_each_model_is_held_against_each_later_one():
    given = {
        "a": WANTED**2,
        "b": np.array([1.0, 0, 2, 3, 5, 4]),
        "c": np.array([5.0, 4, 3, 2, 1, 1]),
    }
    found = differences("final", given, WANTED, ALONE)
    assert [(one.first, one.second) for one in found] == [("a", "b"), ("a", "c"), ("b", "c")]
    for one in found:
        assert one.step == "final"
        apart = pearson(given[one.first], WANTED) - pearson(given[one.second], WANTED)
        assert one.pearson.value == pytest.approx(apart)
    assert differences("raw", {"a": WANTED}, WANTED, ALONE) == ()


def test_pairs_that_hang_together_count_as_one():
    given = {"a": np.tile(WANTED**2, 2), "b": np.tile([1.0, 0, 2, 3, 5, 4], 2)}
    wanted, groups = np.tile(WANTED, 2), np.tile(ALONE, 2)
    (found,) = differences("final", given, wanted, groups)
    assert found.pearson == pearson_difference(given["a"], given["b"], wanted, groups)
    assert found.pearson != pearson_difference(given["a"], given["b"], wanted)


def test_a_map_is_that_of_the_sentences(bags, other):
    models = [bags(SENTENCES), other(SENTENCES)]
    (found,), notes = alignments(models, PAIRS, seed=4)
    rows = [model.table.rows(SENTENCES) for model in models]
    expected = align_layers(*rows, seed=4, groups=np.arange(30) // 2)
    assert (found.first, found.second, found.sentences) == ("bags", "other", 30)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.margins, expected.margins)
    assert found.chance == expected.chance
    assert notes == ()


def test_of_many_sentences_the_seed_draws_some(bags, other, monkeypatch):
    monkeypatch.setattr(job, "MOST_SENTENCES", 24)
    models = [bags(SENTENCES), other(SENTENCES)]
    first, again, others = (alignments(models, PAIRS, seed).maps[0] for seed in (0, 0, 1))
    assert first.sentences == 24
    assert first == again
    assert first.values != others.values


def test_too_few_sentences_give_a_note_in_place_of_a_map(bags, other):
    found = alignments([bags(SENTENCES), other(SENTENCES)], PAIRS[:4], seed=0)
    assert found.maps == ()
    assert found.notes == ("no CKA map of bags and other: 4 groups of sentences",)
