"""The slice in which a target differs most, by hand and against a permutation."""

import numpy as np
import pytest

from scope.jobs.audit.where import slices_of, unsure_below, worst_slice
from scope.records import Example, Prediction, ScoredExample

LABELS = ("no", "yes")


def prediction(label, sure):
    return Prediction(probabilities=(sure, 1 - sure) if label == 0 else (1 - sure, sure))


def texts(rows, cluster=""):
    """One text a row: the part, the reference's confidence, and who differs from it."""
    return [
        ScoredExample(
            example=Example(id=f"{cluster}{n}", text="x" * 30, slices=(f"source: {part}",)),
            reference=prediction(1, sure),
            targets=tuple(prediction(0 if differs else 1, 0.9) for differs in differ),
        )
        for n, (part, sure, *differ) in enumerate(rows)
    ]


# Of 60 texts from the web the target differs on 12, of which the yardstick on 2; of 40 books on 2.
WEB = [("web", 0.9, n < 12, n < 2) for n in range(60)]
BOOKS = [("book", 0.9, n < 2, n < 2) for n in range(40)]


def test_with_a_yardstick_a_slice_is_judged_by_the_texts_on_which_one_of_both_differs():
    worst = worst_slice(texts(WEB + BOOKS), LABELS, 0, 1)
    assert (worst.name, worst.texts, worst.slices) == ("source: web", 60, 2)
    assert worst.same == 48 / 60
    assert worst.expected == 58 / 60
    assert worst.p_value == pytest.approx(2 * 0.5**10)  # ten to none, in either of two slices


def test_without_a_yardstick_it_is_compared_with_other_texts_of_the_same_confidence():
    unsure = [("web", 0.6, n < 10) for n in range(30)] + [("book", 0.6, n < 5) for n in range(30)]
    rows = unsure + [("web", 0.9, False)] * 30 + [("book", 0.9, False)] * 60
    worst = worst_slice(texts(rows), LABELS, 0, None)
    assert (worst.name, worst.same) == ("source: web", 50 / 60)
    assert worst.expected == pytest.approx((30 * 25 / 30 + 30) / 60)
    # By drawing the ten of fifteen at random among the sixty unsure texts.
    generator = np.random.default_rng(0)
    drawn = generator.hypergeometric(15, 45, 30, size=20_000)
    assert worst.p_value == pytest.approx(worst.slices * (drawn >= 10).mean(), rel=0.15)


def test_a_target_that_differs_nowhere_more_has_no_worst_slice():
    rows = [(part, sure, differs, differs) for part, sure, differs, _ in WEB + BOOKS]
    assert worst_slice(texts(rows), LABELS, 0, 1) is None
    assert worst_slice(texts([(part, 0.9, False) for part, *_ in WEB]), LABELS, 0, None) is None


def test_texts_in_clusters_confirm_no_slice():
    worst = worst_slice(texts(WEB + BOOKS, cluster="page␟"), LABELS, 0, 1)
    assert (worst.name, worst.p_value) == ("source: web", 1.0)


def test_slices_have_twenty_texts_on_either_side():
    rows = [("few", 0.6, False)] * 19 + [("web", 0.9, False)] * 60
    assert list(slices_of(texts(rows), LABELS)) == []
    rows = [("some", 0.6, False)] * 20 + [("web", 0.9, False)] * 60
    names = [
        "texts on which the reference's confidence is ≤ 0.75",
        "texts on which the reference's confidence is above 0.75",
        "source: some",
        "source: web",
    ]
    assert list(slices_of(texts(rows), LABELS)) == names
    assert unsure_below(np.full(90, 1.0)) is None
