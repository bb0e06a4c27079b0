"""CAPA, discrete CAPA, error consistency and Cohen's κ against hands, oracles and their laws."""

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import kappa_reference

from scope.metrics.consistency import (
    agreement_values,
    capa,
    capa_discrete,
    cohen_kappa,
    error_consistency,
)

with warnings.catch_warnings():
    # Its docstrings hold `\k`, which Python warns of when it first compiles them.
    warnings.simplefilter("ignore")
    from lmsim.metrics import CAPA, EC

CASES = 300
seeds = st.integers(0, 100_000)


class Case:
    """Two models' made-up answers to items with 2 to 6 options each."""

    def __init__(self, seed):
        self.generator = generator = np.random.default_rng(seed)
        n = int(generator.integers(1, 40))
        least = int(generator.integers(2, 5))
        self.options = generator.integers(least, least + 1 + int(generator.integers(0, 3)), size=n)
        self.right = generator.integers(0, self.options)
        self.first, self.second = (
            [generator.dirichlet(np.full(size, 0.4)) for size in self.options] for _ in range(2)
        )

    @property
    def choices(self):
        return tuple(np.array([row.argmax() for row in rows]) for rows in (self.first, self.second))

    @property
    def padded(self):
        padded = np.zeros((2, len(self.options), self.options.max()))
        for model, rows in enumerate((self.first, self.second)):
            for item, row in enumerate(rows):
                padded[model, item, : len(row)] = row
        return padded

    def all(self):
        """Every number, by its name."""
        return {
            "capa": capa(*self.padded, self.right, self.options),
            "capa_discrete": capa_discrete(*self.choices, self.right, self.options),
            "error_consistency": error_consistency(*self.choices, self.right),
            "cohen_kappa": cohen_kappa(*self.choices),
        }


def one_hot(choices, options):
    pairs = zip(choices, options, strict=True)
    return [np.array(kappa_reference.one_hot(choice, size)) for choice, size in pairs]


def same(found, expected):
    """Whether both are the same number, or one does not exist where the other divides by 0."""
    if found is None:
        return not np.isfinite(expected)
    return found == pytest.approx(expected, abs=1e-9)


def test_equals_lm_sim_in_hundreds_of_random_cases():
    for seed in range(CASES):
        case = Case(seed)
        choices, found = case.choices, case.all()
        rows = [one_hot(one, case.options) for one in choices]
        with np.errstate(divide="ignore", invalid="ignore"):
            expected = {
                "capa": CAPA().compute_k(case.first, case.second, case.right),
                "capa_discrete": CAPA(prob=False).compute_k(*rows, case.right),
                "error_consistency": EC().compute_k(*rows, case.right),
            }
        for name, number in expected.items():
            assert same(found[name].value, number), (seed, name)


@given(seeds)
def test_equals_the_slow_reference(seed):
    case = Case(seed)
    found = case.all()
    rows = [one_hot(choices, case.options) for choices in case.choices]
    expected = {
        "capa": lambda: kappa_reference.capa(case.first, case.second, case.right),
        "capa_discrete": lambda: kappa_reference.capa(*rows, case.right),
        "error_consistency": lambda: kappa_reference.error_consistency(*case.choices, case.right),
        "cohen_kappa": lambda: kappa_reference.cohen_kappa(*case.choices),
    }
    for name, number in found.items():
        if number.value is not None:
            assert number.value == pytest.approx(expected[name](), abs=1e-9), name


@given(seeds)
def test_exchanging_the_models_changes_nothing(seed):
    case = Case(seed)
    found = case.all()
    case.first, case.second = case.second, case.first
    for name, number in case.all().items():
        assert number.value == pytest.approx(found[name].value, abs=1e-12)
        assert number.made_up == pytest.approx(found[name].made_up, abs=1e-9)


@given(seeds)
def test_values_lie_from_minus_one_to_one_and_influences_cancel(seed):
    for number in Case(seed).all().values():
        assert number.value is None or -1 <= number.value <= 1
        assert number.influence.shape == (number.n,)
        assert number.influence.sum() == pytest.approx(0, abs=1e-6)


@given(seeds)
def test_the_order_of_the_items_changes_nothing(seed):
    case = Case(seed)
    found = case.all()
    order = case.generator.permutation(len(case.options))
    case.options, case.right = case.options[order], case.right[order]
    case.first = [case.first[index] for index in order]
    case.second = [case.second[index] for index in order]
    for name, number in case.all().items():
        assert number.value == pytest.approx(found[name].value, abs=1e-9)
        np.testing.assert_allclose(number.influence, found[name].influence[order], atol=1e-9)


@given(seeds)
def test_the_order_of_an_items_options_changes_nothing_but_cohens_kappa(seed):
    case = Case(seed)
    found = case.all()
    for item, size in enumerate(case.options):
        order = case.generator.permutation(size)
        case.first[item], case.second[item] = case.first[item][order], case.second[item][order]
        case.right[item] = int(np.flatnonzero(order == case.right[item])[0])
    shuffled = case.all()
    for name in found.keys() - {"cohen_kappa"}:
        assert shuffled[name].value == pytest.approx(found[name].value, abs=1e-9)


@given(seeds)
def test_renumbering_all_options_alike_leaves_cohens_kappa(seed):
    first, second = Case(seed).choices
    new = np.random.default_rng(seed).permutation(10)
    found, renumbered = cohen_kappa(first, second), cohen_kappa(new[first], new[second])
    assert renumbered.value == pytest.approx(found.value, abs=1e-9)
    assert renumbered.made_up == pytest.approx(found.made_up, abs=1e-6)


@given(seeds)
def test_the_same_choices_give_one(seed):
    case = Case(seed)
    case.second = case.first
    found = case.all()
    for name in ("capa_discrete", "error_consistency", "cohen_kappa"):
        assert found[name].value in {1.0, None}
    sure = [one_hot(case.choices[0], case.options)] * 2
    case.first, case.second = sure
    assert case.all()["capa"].value in {1.0, None}


@given(seeds)
def test_the_same_but_unsure_probabilities_give_less_than_one(seed):
    case = Case(seed)
    case.second = case.first
    assert case.all()["capa"].value < 1


@given(seeds)
def test_with_two_options_error_consistency_is_discrete_capa(seed):
    generator = np.random.default_rng(seed)
    first, second, right = generator.integers(0, 2, size=(3, 30))
    consistency = error_consistency(first, second, right)
    discrete = capa_discrete(first, second, right, np.full(30, 2))
    assert consistency.value == pytest.approx(discrete.value, abs=1e-12)
    assert consistency.made_up == pytest.approx(discrete.made_up, abs=1e-9)


@given(seeds)
def test_an_influence_is_what_a_repeated_item_does_to_the_value(seed):
    # 1000 copies of every item, and one item once more: κ moves by influence / n, to first order.
    case = Case(seed)
    first, second = (np.repeat(choices, 1000) for choices in case.choices)
    right, options = np.repeat(case.right, 1000), np.repeat(case.options, 1000)
    for metric, rest in ((capa_discrete, (right, options)), (cohen_kappa, ())):
        found = metric(first, second, *rest)
        if found.value is None:
            continue
        more = metric(*(np.append(each, each[0]) for each in (first, second, *rest)))
        expected = found.influence[0] / (found.n + 1)
        scale = 1 / (1 - found.expected) ** 2
        assert more.value - found.value == pytest.approx(expected, abs=10 * scale / found.n**2)


@pytest.mark.parametrize("options", [2, 4, 10])
def test_independent_models_with_uncorrelated_errors_score_zero(options):
    generator, n = np.random.default_rng(7), 200_000
    right = generator.integers(0, options, size=n)

    def model(accuracy):
        wrong = (right + generator.integers(1, options, size=n)) % options
        return np.where(generator.random(n) < accuracy, right, wrong)

    first, second = model(0.8), model(0.6)
    counts = np.full(n, options)
    assert capa_discrete(first, second, right, counts).value == pytest.approx(0, abs=0.01)
    assert error_consistency(first, second, right).value == pytest.approx(0, abs=0.01)
    # Raw agreement and Cohen's κ call them alike, for both are often right.
    assert agreement_values(first, second).mean() > 0.48

    def soft(choices):
        return 0.6 * np.eye(options)[choices] + 0.4 * generator.dirichlet(np.ones(options), size=n)

    assert capa(soft(first), soft(second), right).value == pytest.approx(0, abs=0.01)


def test_models_independent_given_the_difficulty_exceed_zero_where_difficulties_differ():
    # Both are right on an item with its probability, a logistic normal with a deviation of 1.25.
    generator = np.random.default_rng(0)
    easy = 1 / (1 + np.exp(-generator.normal(0.5, 1.25, size=50_000)))
    first, second = (
        np.where(generator.random(len(easy)) < easy, 0, generator.integers(1, 4, len(easy)))
        for _ in range(2)
    )
    right = np.zeros(len(easy), dtype=int)
    assert 0.2 < error_consistency(first, second, right).value < 0.25
    assert 0.1 < capa_discrete(first, second, right, right + 4).value < 0.15


def test_two_options_and_opposite_choices_reach_the_lower_end():
    first, second, right = [0, 1], [1, 0], [0, 0]
    assert capa_discrete(first, second, right, [2, 2]).value == -1
    assert error_consistency(first, second, right).value == -1
    assert cohen_kappa(first, second).value == -1
    assert capa(np.eye(2)[first], np.eye(2)[second], right).value == -1


def test_different_wrong_answers_count_in_capa_and_not_in_error_consistency():
    # Both right on the first item and wrong, unlike each other, on the second.
    first, second, right = [0, 1], [0, 2], [0, 0]
    assert error_consistency(first, second, right).value == 1
    # c_obs = 1/2, c_exp = 1/4 + 1/2 · 1/4 = 3/8.
    assert capa_discrete(first, second, right, [3, 3]).value == pytest.approx((1 / 8) / (5 / 8))


def test_models_that_are_always_right_have_no_value():
    assert capa_discrete([0, 1], [0, 1], [0, 1], [3, 4]).value is None
    assert error_consistency([0, 1], [0, 1], [0, 1]).value is None
    assert capa(np.eye(3)[[0, 1]], np.eye(3)[[0, 1]], [0, 1]).value is None


def test_models_that_are_always_wrong_have_no_value_where_they_can_but_agree():
    assert error_consistency([0, 1], [2, 2], [1, 0]).value is None
    assert capa_discrete([0], [0], [1], [2]).value is None
    assert capa_discrete([0, 0], [0, 2], [1, 1], [3, 3]).value == 0


def test_models_that_always_choose_the_same_one_option_have_no_cohens_kappa():
    assert cohen_kappa([1, 1], [1, 1]).value is None
    assert cohen_kappa([1, 1], [0, 0]).value == 0


def test_no_item_has_no_value():
    nothing = (
        capa(np.zeros((0, 3)), np.zeros((0, 3)), []),
        capa_discrete([], [], [], []),
        error_consistency([], [], []),
        cohen_kappa([], []),
    )
    for number in nothing:
        assert (number.n, number.value, len(number.influence)) == (0, None, 0)
    assert agreement_values([], []).shape == (0,)


@pytest.mark.parametrize(
    ("options", "problem"),
    [([3, 1], "item 1 has fewer than two"), ([2, 3], "second: item 0 has no option 2")],
)
def test_choices_that_do_not_fit_the_options_are_refused(options, problem):
    with pytest.raises(ValueError, match=problem):
        capa_discrete([0, 0], [2, 0], [0, 0], options)


def test_a_right_option_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="right: item 0 has no option 2"):
        capa([[0.5, 0.5]], [[0.5, 0.5]], [2])


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="shapes differ"):
        cohen_kappa([0, 1], [0])
    with pytest.raises(ValueError, match="shapes differ"):
        capa([[0.5, 0.5]], [[0.5, 0.5]], [0, 1])
