"""The interval of κ: by hand, its laws, and how often it covers the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from scope.metrics import capa, capa_discrete, cohen_kappa, error_consistency
from scope.records import Undefined
from scope.statistics.ratios import chance_corrected_estimate


def estimate(measured, **options):
    parts = measured.observed, measured.expected, measured.influence, measured.made_up
    return chance_corrected_estimate(*parts, **options)


def answers(generator, n, *, accuracies=(0.75, 0.7), copied=0.0, options=4):
    """Right options and two models' choices; the second copies a share from the first."""
    right = generator.integers(0, options, size=n)

    def model(accuracy):
        wrong = (right + generator.integers(1, options, size=n)) % options
        return np.where(generator.random(n) < accuracy, right, wrong)

    first, second = map(model, accuracies)
    return right, first, np.where(generator.random(n) < copied, first, second)


def sharp(generator, choices, options=4):
    """Probabilities of a model that is sure of most of its choices."""
    share = generator.beta(30, 1, size=(len(choices), 1))
    spread = generator.dirichlet(np.ones(options), size=len(choices))
    return share * np.eye(options)[choices] + (1 - share) * spread


def measured(metric, generator, n, copied, accuracies=(0.75, 0.7)):
    right, first, second = answers(generator, n, copied=copied, accuracies=accuracies)
    match metric:
        case "capa":
            return capa(sharp(generator, first), sharp(generator, second), right)
        case "capa_discrete":
            return capa_discrete(first, second, right, np.full(n, 4))
        case "error_consistency":
            return error_consistency(first, second, right)
        case "cohen_kappa":
            return cohen_kappa(first, second)


def test_with_chance_known_it_is_wilson_carried_over():
    # 70 of 100 alike, and no item moves the expected half: κ = (c − 1/2) / (1/2).
    agreement = np.repeat([1.0, 0.0], [70, 30])
    influence = (agreement - 0.7) / 0.5
    made_up = 2 * (0.3**2 + 0.7**2) / 0.5**2
    found = chance_corrected_estimate(0.7, 0.5, influence, made_up)
    oracle = stats.binomtest(70, 100).proportion_ci(0.95, method="wilson")
    assert found.value == pytest.approx(0.4, abs=1e-12)
    assert found.low == pytest.approx(2 * oracle.low - 1, abs=1e-9)
    assert found.high == pytest.approx(2 * oracle.high - 1, abs=1e-9)
    assert (found.n, found.level, found.method) == (100, 0.95, "Wilson, linearised")


def test_identical_models_are_as_sure_as_their_number_of_items_and_the_room_above_chance():
    generator = np.random.default_rng(1)
    right, first, _ = answers(generator, 100)
    same = error_consistency(first, first, right)
    found = estimate(same)
    wilson = stats.binomtest(100, 100).proportion_ci(0.95, method="wilson")
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(1 - (1 - wilson.low) / (1 - same.expected), abs=1e-9)


def test_nothing_to_compare_is_undefined_for_the_reason_given():
    found = estimate(cohen_kappa([], []), empty="nobody answered")
    assert found == Undefined(reason="nobody answered")


def test_no_room_above_chance_is_undefined_for_the_reason_given():
    found = estimate(error_consistency([0, 1], [0, 1], [0, 1]), no_room="always right")
    assert found == Undefined(reason="always right", n=2)


def test_agreements_outside_their_range_are_refused():
    with pytest.raises(ValueError, match=r"do not lie in 0\.\.1"):
        chance_corrected_estimate(1.1, 0.5, [0.0], 1.0)


@given(st.integers(0, 10_000), st.integers(1, 40), st.floats(0, 1), st.floats(0.5, 0.99))
def test_the_interval_has_a_width_contains_the_value_and_keeps_to_the_range(seed, n, copied, level):
    generator = np.random.default_rng(seed)
    for metric in ("capa", "capa_discrete", "error_consistency", "cohen_kappa"):
        number = measured(metric, generator, n, copied)
        found = estimate(number, level=level)
        if number.value is None:
            assert isinstance(found, Undefined)
        else:
            assert found.value == number.value
            assert -1 <= found.low <= found.value <= found.high <= 1
            assert found.low < found.high


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_more_of_the_same_items_are_surer(seed, copied):
    right, first, second = answers(np.random.default_rng(seed), 30, copied=copied)
    once = estimate(error_consistency(first, second, right))
    often = estimate(error_consistency(*(np.tile(each, 9) for each in (first, second, right))))
    if not isinstance(once, Undefined):
        assert often.value == pytest.approx(once.value, abs=1e-9)
        assert often.high - often.low < once.high - once.low


@pytest.mark.parametrize("metric", ["capa", "capa_discrete", "error_consistency", "cohen_kappa"])
@pytest.mark.parametrize("copied", [0.0, 0.3, 0.9, 1.0])
def test_intervals_cover_the_truth(metric, copied):
    generator = np.random.default_rng(60)
    truth = measured(metric, generator, 300_000, copied).value
    covered = 0
    for n in [50, 200, 1000] * 150:
        found = estimate(measured(metric, generator, n, copied))
        covered += found.low - 1e-9 <= truth <= found.high + 1e-9
    # 0.95 less two and a half standard errors.
    assert covered / 450 >= 0.925


def test_few_errors_of_accurate_models_are_not_taken_for_much_evidence():
    # Both are right nine times in ten, so of 50 items they fail together on two, or none. Were the
    # made-up items silent about who is right, 85 of 100 intervals would cover the truth.
    generator = np.random.default_rng(61)
    accuracies = (0.9, 0.9)
    truth = measured("error_consistency", generator, 300_000, 0.3, accuracies).value
    covered = 0
    for _ in range(500):
        found = estimate(measured("error_consistency", generator, 50, 0.3, accuracies))
        covered += isinstance(found, Undefined) or found.low <= truth <= found.high
    assert covered / 500 >= 0.91
