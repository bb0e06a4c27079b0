"""Splits, figures and stored answers of the benchmark of fleets."""

import itertools

import numpy as np
import pytest
from fleet_forecasts import METHODS, SHARES, Scores, figures, scores, split, summary
from fleet_sets import StoredSet
from toy_fleet import LAYOUT, fleet


def test_no_question_is_trained_on_and_tested_and_smaller_splits_lie_in_larger_ones():
    splits = [split(np.arange(100), share, seed=3) for share in SHARES]
    assert [len(one.train) for one in splits] == [10, 20, 40, 80]
    for smaller, larger in itertools.pairwise(splits):
        assert set(smaller.train) < set(larger.train)
        assert smaller.test.tolist() == larger.test.tolist()
    assert sorted([*splits[-1].train, *splits[-1].test]) == list(range(100))


def test_twins_come_on_one_side():
    texts = np.array([0, 1, 2, 0, 3, 4, 1, 0])
    for seed in range(20):
        train, test = split(texts, 0.8, seed)
        assert not set(texts[train]) & set(texts[test])
        assert len(train) + len(test) == 8


def test_the_interval_is_students():
    found = summary("x", [0.1, 0.2, 0.3])
    # 4.303 is Student's quantile with two degrees of freedom; the standard error is 0.1 / √3.
    assert found["x"] == pytest.approx(0.2)
    assert found["x_high"] - 0.2 == pytest.approx(4.303 * 0.1 / 3**0.5, abs=1e-4)
    assert summary("x", [0.5]) == {"x": 0.5}


def test_differences_are_paired_by_split_and_the_largest_share_has_the_plain_key():
    of_seed = {
        seed: Scores(
            dict(zip(METHODS, (0.5, 0.6, 0.7, 0.7, right), strict=True)), {"all": (0.9, 0.8)}
        )
        for seed, right in enumerate((0.7, 0.8))
    }
    results = {("toy", share, seed): one for share in SHARES for seed, one in of_seed.items()}
    found = figures(results)
    assert found["toy_ours"] == pytest.approx(0.75)
    assert found["toy_ours_over_published_10"] == pytest.approx(0.05)
    assert found["toy_route_over_single_best"] == pytest.approx(0.1)


def test_every_method_is_scored_on_the_same_questions(monkeypatch):
    # The published factorization takes its 50 epochs, and is tested with the job.
    methods = ("mean", "knn", "ours_vectors", "ours")
    monkeypatch.setattr("fleet_forecasts.METHODS", methods)
    table, answers = fleet(questions=60, models=6)
    categories, texts = np.array(["x", "y"] * 30), np.arange(60)
    stored = StoredSet("toy", LAYOUT, table, answers, tuple("abcdef"), categories, texts)
    found = scores(stored, 0.8, seed=0)
    assert tuple(found.accuracy) == methods
    assert set(found.routed) == {"all", "x", "y"}
    train, test = split(texts, 0.8, 0)
    known = answers[test][~np.isnan(answers[test])]
    shares = np.nanmean(answers[train], axis=0)
    hits = (np.tile(shares > 0.5, (len(test), 1)) == answers[test])[~np.isnan(answers[test])]
    assert found.accuracy["mean"] == pytest.approx(hits.mean())
    assert len(known) == len(hits)
