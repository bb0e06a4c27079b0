"""Texts in clusters: units of all intervals and tests, as large as the design effect makes them."""

import pytest
from hypothesis import given, strategies as st

from scope.records import in_cluster
from scope.statistics.intervals import (
    chance_corrected_estimate,
    discordance,
    mean_estimate,
    score_estimate,
    student_estimate,
)
from scope.verdicts.decide import judge_differences, judge_share
from scope.verdicts.plan import planned_differences, planned_slope

values = st.lists(st.sampled_from([-1.0, -0.25, 0.0, 0.25, 1.0]), min_size=2, max_size=40)


def by(ids, row):
    return dict(zip(ids, row, strict=True))


STATISTICS = (
    score_estimate,
    student_estimate,
    lambda row, ids: mean_estimate(row, ids, low=-1),
    lambda row, ids: chance_corrected_estimate(0.8, 0.5, row, 4.0, ids),
    lambda row, ids: judge_differences("keeps", by(ids, row), margin=0.1),
    lambda row, ids: judge_share("same", by(ids, map(abs, row)), least=0.5),
    lambda row, ids: planned_slope("reach", by(ids, row), least=0.5, most=2, texts=9),
)


def clustered(sizes):
    return [in_cluster(str(name), str(n)) for name, size in enumerate(sizes) for n in range(size)]


@pytest.mark.parametrize("statistic", STATISTICS)
@given(values)
def test_clusters_of_one_are_no_clusters(statistic, row):
    alone = statistic(row, [f"{n:02}" for n in range(len(row))])
    assert statistic(row, [in_cluster(f"{n:02}", "text") for n in range(len(row))]) == alone


@pytest.mark.parametrize(
    ("row", "sizes", "n", "losses"),
    [
        # The mean is -.1; by cluster 1.8² + 9 · .2², by text 2 · .9² + 18 · .1², and a made-up
        # cluster of two: (3.6 + 4) / (1.8 + 2) = 2.
        ([-1, -1] + [0] * 18, [2] * 10, 10, 1),
        ([-1, 0] * 10, [2] * 10, 20, 10),  # alike in all clusters: no more than independent texts
        ([0] * 20, [2] * 10, 10, 0),
        ([0] * 20, [10] + [1] * 10, 400 / 110, 0),  # 20² / (10² + 10)
    ],
)
def test_texts_count_as_many_as_their_clusters_are_worth(row, sizes, n, losses):
    seen = discordance(row, clustered(sizes))
    assert (seen.n, seen.losses) == pytest.approx((n, losses))
    assert seen.freedom == len(sizes) - 1


@pytest.mark.parametrize(
    ("sizes", "loss", "state"),
    [
        ([1000] * 9, 0, "not shown"),  # fewer than ten show nothing
        ([1000] * 9, -1, "not shown"),
        ([20] * 10, -1, "beyond"),
        ([20] * 74, 0, "not shown"),  # 73 independent texts would be within
        ([20] * 77, 0, "within"),
    ],
)
def test_a_verdict_asks_for_clusters(sizes, loss, state):
    row = dict.fromkeys(clustered(sizes), loss)
    judged = judge_differences("keeps", row, margin=0.05)
    assert (judged.p_within < 0.025, judged.p_beyond < 0.025) == (
        state == "within",
        state == "beyond",
    )
    planned = planned_differences("keeps", row, margin=0.05, texts=len(row), kind="changed")
    assert planned.share == pytest.approx(len(sizes) / len(row)) or loss
