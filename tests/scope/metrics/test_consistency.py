"""CAPA, discrete CAPA, error consistency and Cohen's κ against hands, oracles and their laws."""

import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import kappa_reference

from scope.metrics.agreement import capa, capa_discrete, cohen_kappa, error_consistency

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


@pytest.mark.parametrize(
    ("options", "problem"),
    [([3, 1], "item 1 has fewer than two"), ([2, 3], "second: item 0 has no option 2")],
)
def test_choices_that_do_not_fit_the_options_are_refused(options, problem):
    with pytest.raises(ValueError, match=problem):
        capa_discrete([0, 0], [2, 0], [0, 0], options)
