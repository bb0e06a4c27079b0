"""Verdicts are rarely wrong at their margin: a small version of the simulation."""

import claims_corpus
import numpy as np
import pytest
from verdict_error_rates import errors, holds, powers, verdict_errors
from verdict_error_rates_seeds import seed_against_seed
from verdict_error_rates_worlds import World, slope_errors

from scope.statistics.intervals import discordance
from scope.verdicts.decide import pooled


@pytest.mark.parametrize("alike", [0.0, 1.0])
def test_counted_data_sets_are_those_of_texts_drawn_one_by_one(alike):
    losses, generator = [[0.2, 0, 0, 0.1], [0.5, 0, 0, 0]], np.random.default_rng(0)
    whole, *parts = World((40, 20), losses, alike=alike).draw(generator, 4000)
    differences = [float(seen.difference.mean()) for seen in (whole, *parts)]
    assert differences == pytest.approx([-0.3, -0.1, -0.5], abs=0.01)
    # Where the worst are the same texts, the sum of both varies more.
    assert (whole.difference.std() > 0.076) == (alike == 1)
    equal = World((40, 20), np.zeros((2, 4))).draw(generator, 1)[0]
    values, unevenness = pooled([dict.fromkeys(map(str, range(n)), 0.0) for n in (40, 20)])
    assert equal.n == pytest.approx(discordance([*values.values()], unevenness=unevenness).n)


def test_errors_at_the_margin_are_rare():
    generator = np.random.default_rng(0)
    found = errors(generator, 64) | verdict_errors(generator, 100)
    wrong = [rate for key, rate in found.items() if key.endswith(("may_replace", "may_not"))]
    assert (len(wrong), max(wrong) <= 0.07, np.mean(wrong) <= 0.03) == (14, True, True)
    assert min(rate for key, rate in found.items() if key.endswith("n_coverage")) >= 0.9


def test_strength_is_rarely_judged_wrongly():
    found = slope_errors(np.random.default_rng(0), 10, texts_for_truth=2000)
    assert np.mean([rate for key, rate in found.items() if "may" in key]) <= 0.05


def test_planned_powers_are_simulated_ones_and_advised_texts_have_them():
    found = powers(np.random.default_rng(0), 400)
    assert holds(found | {"x_may_not": 0.03, "x_coverage": 0.93}, 400)
    assert not holds(found | {"x_may_not": 0.1}, 400)


def test_a_seed_may_replace_another_one(monkeypatch):
    monkeypatch.setattr(claims_corpus, "NAMES", ("teacher", "seed-2", "another-seed"))
    noisy = claims_corpus.differing(noise=(0.1, 0.1))
    audit = claims_corpus.audit(noisy, noisy, texts=400)
    found = seed_against_seed(audit, np.random.default_rng(0), draws=1)
    assert (found["ordered_pairs"], found["seeds_300_1000_may_replace"]) == (2, 1.0)
    assert found["seeds_100_500_may_not"] == 0
