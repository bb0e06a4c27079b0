"""Which test pairs share sentences, with each other and with what was learned from; by hand."""

import numpy as np
import pytest

from scope.jobs.probe.leakage_groups import groups_of_sentences, leakage_groups, notes_on_overlap
from scope.jobs.probe.pairs import GivenPairs
from scope.records import ScoredPair


def pairs_of(*sides):
    """A pair for each two letters."""
    return tuple(
        ScoredPair(id=str(place), first=side[0], second=side[1], score=1.0)
        for place, side in enumerate(sides)
    )


def given(train="", development="", test=""):
    parts = (pairs_of(*part.split()) for part in (train, development, test))
    return GivenPairs(**dict(zip(("train", "development", "test"), parts, strict=True)), cards=())


def test_pairs_that_share_a_sentence_are_one_group_and_a_known_sentence_makes_a_pair_seen():
    leakage = leakage_groups(given("ax", "yd", "ab cd ef fb gh"))
    assert leakage.groups.tolist() == [0, 1, 0, 0, 2]
    assert leakage.unseen.tolist() == [False, False, True, True, True]
    assert (leakage.group_count, leakage.unseen_count) == (3, 3)


def test_a_saved_probe_does_not_know_what_is_unseen():
    pairs = given(test="ab cd")
    assert leakage_groups(pairs).unseen is None
    assert leakage_groups(pairs).unseen_count == 0
    (note,) = notes_on_overlap(pairs)
    assert "does not contain its training pairs" in note


def test_sentences_belong_to_the_group_of_their_pairs():
    pairs = pairs_of("ab", "cd", "eb")
    found = groups_of_sentences(pairs, ("d", "e", "a", "b"))
    np.testing.assert_array_equal(found, [1, 0, 0, 0])


@pytest.mark.parametrize(
    ("parts", "unlabelled", "told"),
    [
        (("wx", "yz", "ab cd"), "pq", ()),
        (("ax bx", "yz", "ab cd"), "", "1 share a sentence with the training pairs"),
        (("wx", "ad", "ab cd"), "", "2 share one with the development pairs"),
        (("wx", "yz", "ab cd"), "dq", "1 share one with the sentences without scores"),
        (
            ("ba wx", "yz dc", "ab cd ce"),
            "b",
            "1 share a sentence with the training pairs; 2 share one with the development pairs; "
            "1 share one with the sentences without scores; 2 are identical to a training or "
            "development pair",
        ),
    ],
)
def test_what_test_pairs_have_in_common_with_others_is_counted(parts, unlabelled, told):
    pairs = given(*parts)
    wanted = (f"of {len(pairs.test)} test pairs, {told}",) if told else ()
    assert notes_on_overlap(pairs, tuple(unlabelled)) == wanted
