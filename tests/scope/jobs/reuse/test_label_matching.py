"""Labels of other names are matched by what goes with them, without a word of the reference."""

from itertools import permutations

import numpy as np
from hypothesis import given, strategies as st

from scope.jobs.reuse.responses import match_labels, relabelled
from scope.records import Prediction


def sure(label, labels):
    return Prediction(probabilities=tuple(float(place == label) for place in range(labels)))


def said(answers, labels):
    return {f"text {number}": sure(one, labels) for number, one in enumerate(answers)}


def agreement(own, others, matching):
    """On how many texts the matched label is what most others say, the first of equals."""
    hits = 0
    for text, prediction in own.items():
        votes = [other[text].label for other in others]
        most = max(range(10), key=lambda label: (votes.count(label), -label))
        hits += matching[prediction.label] == most
    return hits


answers = st.lists(st.integers(0, 2), min_size=8, max_size=8)


@given(answers, st.lists(answers, min_size=1, max_size=3))
def test_with_as_many_labels_no_other_order_agrees_on_more_texts(own, others):
    mine, theirs = said(own, 3), [said(one, 3) for one in others]
    matching = match_labels(mine, theirs, 3)
    assert sorted(matching) == [0, 1, 2]
    best = max(agreement(mine, theirs, order) for order in permutations(range(3)))
    assert agreement(mine, theirs, matching) == best


@given(answers, st.lists(answers, min_size=1, max_size=3))
def test_with_more_labels_each_goes_where_it_most_often_goes(own, others):
    mine, theirs = said(own, 4), [said(one, 3) for one in others]
    matching = match_labels(mine, theirs, 3)
    # Four labels for three: every one for itself.
    best = [
        max(
            range(3),
            key=lambda place, label=label: (
                agreement(
                    {text: one for text, one in mine.items() if one.label == label},
                    theirs,
                    [place] * 4,
                ),
                -place,
            ),
        )
        for label in range(4)
    ]
    assert list(matching) == best


def test_most_controls_say_what_a_label_means():
    own = said([0, 0, 0, 1], 2)
    controls = [said([1, 1, 1, 0], 2), said([1, 1, 1, 0], 2), said([0, 0, 0, 1], 2)]
    assert match_labels(own, controls, 2) == (1, 0)


def test_a_label_that_is_never_given_takes_what_is_left():
    own = said([2, 2, 0, 0], 3)
    assert match_labels(own, [said([0, 0, 1, 1], 3)], 3) == (1, 2, 0)
    assert match_labels(said([1, 1], 3), [said([1, 1], 2)], 2) == (0, 1, 0)


@given(
    st.lists(st.integers(0, 2), min_size=4, max_size=4),
    st.lists(st.floats(0, 1), min_size=4, max_size=4),
)
def test_probabilities_of_labels_that_mean_the_same_are_added(matching, weights):
    whole = sum(weights) or 1.0
    shares = tuple(weight / whole for weight in weights)
    found = relabelled(Prediction(probabilities=shares, truncated=True), tuple(matching), 3)
    expected = [
        sum(share for share, place in zip(shares, matching, strict=True) if place == label)
        for label in range(3)
    ]
    np.testing.assert_allclose(found.probabilities, expected)
    assert found.truncated
