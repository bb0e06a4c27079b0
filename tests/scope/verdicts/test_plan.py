"""The planned power is the one that simulated texts have, and advised numbers of texts reach it."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm

from scope.records import ERROR, Endpoint, Replacement, TextsNeeded, Undefined
from scope.statistics.intervals import Discordance, discordance, paired_within
from scope.verdicts.plan import (
    Evidence,
    PlannedEndpoint,
    planned_differences,
    planned_slope,
    texts_for_power,
    with_texts_needed,
)


def planned(**fields):
    return PlannedEndpoint(**({"name": "any", "margin": 0.05} | fields))


def oracle_power(n, gains, losses, margin):
    """The power summed over all counts of gains and losses up to 80."""
    gained, lost = np.mgrid[:80, :80]
    rest = np.maximum(n - gained, 0)
    chances = binom.pmf(gained, n, gains) * binom.pmf(lost, rest, losses / (1 - gains))
    seen = Discordance(gained * 1.0, lost * 1.0, np.full(gained.shape, n * 1.0))
    return chances[paired_within(seen, margin) < ERROR].sum()


@pytest.mark.parametrize("share", [0.002, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("margin", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("n", [60, 200, 300])
def test_power_is_that_of_all_counts(n, margin, share):
    for difference in (0.0, -share / 4):
        halves = (share + difference) / 2, (share - difference) / 2
        power = planned(margin=margin, discordance=share, difference=difference).power(n)
        assert power == pytest.approx(oracle_power(n, *halves, margin), abs=0.02)


@pytest.mark.parametrize("n", [100, 200])
def test_power_of_scores_in_parts_is_that_of_simulated_texts(n):
    chances = (0.01, 0.1, 0.1, 0.01, 0.78)
    draws = np.random.default_rng(0).choice([-1, -0.25, 0.25, 1, 0], (4000, n), p=chances)
    simulated = (paired_within(discordance(draws), 0.05) < ERROR).mean()
    power = planned(discordance=0.07, square=0.0325).power(n)
    assert power == pytest.approx(simulated, abs=0.05)


@pytest.mark.parametrize("share", [1.0, 0.25])
@pytest.mark.parametrize("error", [ERROR, ERROR / 5])
def test_the_advised_texts_have_the_power(share, error):
    for endpoint in (planned(share=share), planned(margin=0.02, discordance=0.01)):
        texts = texts_for_power(endpoint, error=error)
        assert endpoint.power(texts, error=error) >= 0.8
        assert endpoint.power(texts // 2, error=error) < 0.8


def test_a_pilot_plans_with_two_more_discordant_texts():
    quarters = [0.25, -0.25] * 10 + [0.0] * 20
    pilot = planned_differences("keeps", quarters, margin=0.05, texts=80, kind="changed")
    assert (pilot.share, pilot.difference) == (0.5, 0.0)
    assert (pilot.discordance, pilot.square) == pytest.approx((7 / 40, 3.25 / 40))
    slope = planned_slope("reach", [0.8, 1.0] * 20, least=0.7, most=1 / 0.7, texts=80)
    assert (slope.share, slope.deviation) == pytest.approx((0.5, np.sqrt(0.01 + 2 / 40)))
    expected = norm.sf(norm.ppf(0.975) - 0.2 * np.sqrt(50) / slope.deviation)
    assert slope.power(100) == pytest.approx(expected)


def test_an_open_verdict_says_how_many_texts_its_open_endpoints_need():
    accuracy = planned(name="accuracy", discordance=0.05, difference=-0.01, kind="unchanged")
    end = Endpoint(name="accuracy", estimate=Undefined(reason="made up"), p_beyond=0.001)
    verdict = Replacement(
        target="t", decision="not shown", endpoints=(end,), open=("accuracy", "keeps")
    )
    keeps = Evidence(replace(end, name="keeps"), planned(discordance=0.02))
    needed = with_texts_needed(verdict, [Evidence(end, accuracy), keeps])
    seen, equal, changed = map(texts_for_power, (accuracy, accuracy.if_equal, keeps.planned))
    assert needed.if_as_seen == TextsNeeded(unchanged=seen, changed=changed, gold=-(-seen // 20))
    assert needed.if_equal.unchanged == equal < seen
    hopeless = Evidence(end, replace(accuracy, difference=-0.05))
    lost = with_texts_needed(verdict, [hopeless, keeps])
    assert (lost.if_as_seen, lost.if_equal.unchanged) == (None, equal)
    assert with_texts_needed(verdict, [Evidence(end), keeps]) == verdict
    assert Evidence(end).never_beyond.endpoint.p_beyond == 1
