"""All within may replace; one beyond may not, corrected within the target.

Endpoints are judged by their bounds; capabilities of few texts weigh more, and count so.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import ttest_1samp

from scope.records import Endpoint, Estimate, Undefined
from scope.statistics.intervals import score_estimate, student_estimate
from scope.verdicts.decide import (
    NO_TEXT,
    decide,
    judge_differences,
    judge_share,
    judge_slope,
    pooled,
    texts_lacking,
)


def endpoint(name, *, within=1.0, beyond=1.0, limit=-0.05):
    none = Undefined(reason="made up")
    return Endpoint(name=name, estimate=none, limit=limit, p_within=within, p_beyond=beyond)


def decided(*endpoints, **degenerate):
    (verdict,) = decide({"target": endpoints}, degenerate=degenerate)
    return verdict


def test_all_within_may_replace_in_what_is_judged():
    parts = [endpoint(name, within=0.02) for name in ("accuracy", "keeps", "keeps on typo")]
    verdict = decided(*parts, endpoint("concordance", limit=None))
    assert verdict.decision == "may replace"
    assert verdict.may_replace_in == ("accuracy", "robustness")
    assert (verdict.open, verdict.not_judged) == ((), ("concordance",))


@pytest.mark.parametrize(
    ("p_value", "decision", "state"),
    [(0.012, "may not", "beyond"), (0.013, "not shown", "fails alone")],
)
def test_beyond_is_corrected_over_the_endpoints_of_the_target(p_value, decision, state):
    shown = endpoint("c", limit=None, beyond=0.001)
    verdict = decided(endpoint("a", within=0.001), shown, endpoint("b", beyond=p_value))
    assert (verdict.decision, verdict.endpoints[2].state) == (decision, state)
    assert verdict.endpoints[2].p_adjusted == pytest.approx(2 * p_value)
    assert verdict.beyond == (("b",) if decision == "may not" else ())
    assert (verdict.open, verdict.may_replace_in) == (("b",), ())


@pytest.mark.parametrize(
    ("p_values", "decision"),
    [({"within": 0.02}, "may replace"), ({"beyond": 0.02}, "may not"), ({}, "not shown")],
)
def test_a_verdict_does_not_depend_on_other_targets(p_values, decision):
    many = {str(target): [endpoint("a", **p_values)] for target in range(14)}
    assert {verdict.decision for verdict in decide(many)} == {decision}


def test_a_degenerate_target_never_may_replace():
    verdict = decided(endpoint("a", within=0.001), target="it gives one answer")
    assert (verdict.decision, verdict.reason) == ("not shown", "it gives one answer")
    worse = decided(endpoint("a", beyond=0.001), target="it gives one answer")
    assert worse.decision == "may not"


@pytest.mark.parametrize("endpoints", [(), (endpoint("a", limit=None),)])
def test_nothing_judged_is_not_shown(endpoints):
    verdict = decided(*endpoints)
    assert (verdict.decision, verdict.reason) == ("not shown", "no number is judged")


scores = st.lists(st.sampled_from([-1, -0.5, -0.25, 0, 0.25, 1]), min_size=1, max_size=60)
part = st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from([-1, 0, 0.5]), min_size=1)


@given(st.lists(part, min_size=1, max_size=4), st.sampled_from([0.0, 1.0, None]))
def test_the_mean_of_pooled_values_is_the_mean_of_the_capabilities_means(parts, missing):
    values, unevenness = pooled(parts, missing=missing)
    means = [np.mean([*values.values()]) for values in parts]
    assert np.mean([*values.values()]) == pytest.approx(np.mean(means))
    assert unevenness >= 1 - 1e-9


@pytest.mark.parametrize(
    ("missing", "expected"),
    [(0.0, [0.5, 1.225, 0.45]), (1.0, [0.25, 0.975, 0.95]), (None, [0.3375, 1.0625, 0.775])],
)
def test_a_text_that_lacks_a_capability_has_its_usual_value_there(missing, expected):
    values, unevenness = pooled(
        [{"a": 1.0, "b": 0.5, "c": 0.9}, {"a": 0.0, "b": 1.3}], missing=missing
    )
    assert [*values.values()] == pytest.approx(expected)
    # Two texts can differ by (1 + 3/2) / 2, the third by 1/2.
    assert unevenness == pytest.approx(((2 * 1.25**2 + 0.5**2) / 3) ** 1.1)


@given(scores, st.sampled_from([0.02, 0.05, 0.1]), st.sampled_from([1.0, 3.0]), st.randoms())
def test_differences_are_judged_by_their_interval_in_any_order(values, margin, unevenness, random):
    endpoint = judge_differences("any", values, margin=margin, unevenness=unevenness)
    assert endpoint.estimate == score_estimate(values, unevenness=unevenness)
    assert (endpoint.p_beyond < 0.025) == (endpoint.estimate.high < -margin)
    assert endpoint.state != "within" or endpoint.estimate.low > -margin
    shuffled = random.sample(values, len(values))
    assert endpoint == judge_differences("any", shuffled, margin=margin, unevenness=unevenness)


@pytest.mark.parametrize(("few", "state"), [(300, "within"), (66, "within"), (25, "not shown")])
def test_equal_models_are_within_unless_a_capability_has_too_few_texts(few, state):
    texts = [str(n) for n in range(300)]
    values, unevenness = pooled([dict.fromkeys(texts, 0.0), dict.fromkeys(texts[:few], 0.0)])
    judged = judge_differences("keeps", values.values(), margin=0.05, unevenness=unevenness)
    assert judged.state == state


@given(st.lists(st.sampled_from([0, 0.25, 0.875, 1]), min_size=1), st.sampled_from([1.0, 2.0]))
def test_the_estimate_of_a_share_is_its_mean_and_agrees_with_the_state(values, unevenness):
    endpoint = judge_share("any", values, least=0.95, unevenness=unevenness)
    assert endpoint.estimate.value == pytest.approx(np.mean(values))
    assert (endpoint.state == "within") == (endpoint.estimate.low > 0.95)
    assert (endpoint.p_beyond < 0.025) == (endpoint.estimate.high < 0.95)


@pytest.mark.parametrize(
    ("low", "high", "n", "state"),
    [
        (0.71, 1.42, 50, "within"),
        (1.05, 1.45, 50, "not shown"),
        (0.31, 0.69, 50, "fails alone"),
        (1.0, 1.0, 50, "within"),
        (0.0, 0.0, 50, "fails alone"),
        (0.9, 1.1, 19, "not shown"),
    ],
)
def test_a_slope_is_judged_by_its_bounds_on_both_sides(low, high, n, state):
    reach = Estimate(value=(low + high) / 2, low=low, high=high, n=n, method="any")
    assert judge_slope("reach", reach, least=0.7, most=1 / 0.7).state == state


@pytest.mark.parametrize(("least", "most", "nearer"), [(0.5, 2.0, 0.5), (0.1, 0.3, 0.3)])
def test_tails_of_a_slope_are_students(least, most, nearer):
    slopes = [0.1, 0.9, 0.15] * 10
    judged = judge_slope("reach", student_estimate(slopes), least=least, most=most)
    assert judged.p_beyond == pytest.approx(ttest_1samp(slopes, nearer).pvalue / 2)
    assert judged.p_within == pytest.approx(1 - judged.p_beyond)


def test_without_a_number_nothing_is_shown():
    missing = Undefined(reason="nothing moves")
    assert judge_slope("any", missing, least=0.7).estimate == missing
    assert judge_share("any", [], least=0.95).estimate == NO_TEXT
    assert judge_differences("any", [], margin=0.05).state == "not shown"
    assert pooled([{}, {}]) == ({}, 1.0)


def test_few_texts_lack_as_many_as_show_within():
    slope = Estimate(value=1.0, low=0.9, high=1.1, n=12, method="any")
    assert texts_lacking(judge_slope("reach", slope, least=0.7, most=1.4)) == 20
    texts = [texts_lacking(judge_differences("a", [0.0] * n, margin=0.05)) for n in (30, 80)]
    assert texts == [73, 0]
