"""Statistics with models as units: against formulas, on data without and with an effect."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats
from scipy.special import softmax
from shared_data import shared_data
from study_cases import answers_of, table_of

from scope.errors import DataError
from scope.estimation.choices import NOTHING
from scope.jobs.study import inference
from scope.jobs.study.inference import (
    ALL,
    PairTable,
    correlation,
    judge_number,
    mantel_p_value,
    spearman,
)
from scope.metrics.agreement import capa, capa_discrete
from scope.records import Undefined

seeds = st.integers(0, 100_000)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(inference, "PERMUTATIONS", 99)
    monkeypatch.setattr(inference, "DRAWS", 60)


@given(seeds)
def test_a_partial_correlation_is_that_of_the_three_correlations(seed):
    x, y, z = np.random.default_rng(seed).normal(size=(3, 12))
    (_, xy, xz), (_, _, yz), _ = np.corrcoef([x, y, z])
    expected = (xy - xz * yz) / math.sqrt((1 - xz**2) * (1 - yz**2))
    assert correlation(x, y, z) == pytest.approx(expected)
    assert spearman(x, y) == pytest.approx(stats.spearmanr(x, y).statistic)


@pytest.mark.parametrize("second", [[1, 1, 1, 1], [2, 4, 6, 8]])
def test_no_correlation_is_left_of_what_the_control_explains(second):
    assert math.isnan(correlation([1, 3, 2, 5], second, [1, 2, 3, 4]))


def test_judges_that_favour_like_models_are_found_at_equal_accuracy():
    generator = np.random.default_rng(1)
    accuracy, similarity = generator.random(25), generator.random((25, 2))
    scores = 3 * accuracy[:, None] + 0.5 * similarity + generator.normal(0, 0.05, (25, 2))
    number = judge_number("both", scores, similarity, accuracy, 0)
    assert number.estimate.low > 0.8
    assert (number.estimate.n, number.p_value) == (25, 1 / 100)


def test_scores_by_accuracy_alone_show_no_affinity():
    """Accuracy raises scores and similarity: plain correlations are high, partial ones are not."""
    false, covered = 0, 0
    for seed in range(30):
        generator = np.random.default_rng(seed)
        accuracy = generator.random(12)
        scores, similarity = accuracy[:, None] + generator.normal(0, 0.1, (2, 12, 1))
        assert correlation(scores, similarity) > 0.5
        number = judge_number("judge", scores, similarity, accuracy, seed)
        false += number.p_value <= 0.05
        covered += number.estimate.low <= 0 <= number.estimate.high
    assert false <= 5
    assert covered >= 25


def test_few_models_and_a_judge_without_answers_have_no_number():
    few = judge_number("judge", np.ones((5, 1)), np.eye(5)[:, :1], np.arange(5.0), 0)
    unknown = judge_number("judge", np.ones((9, 1)), np.zeros((9, 0)), np.arange(9.0), 0)
    assert {type(few.estimate), type(unknown.estimate)} == {Undefined}
    assert (few.estimate.n, unknown.p_value) == (5, None)


def test_the_test_of_pairs_is_right_under_independence_although_pairs_share_models():
    p_values = []
    for seed in range(40):
        generator = np.random.default_rng(seed)
        own, skill = generator.normal(size=(2, 12))
        pairs = own[:, None] + own + generator.normal(0, 0.1, (12, 12))
        p_values.append(mantel_p_value(pairs + pairs.T, [skill[:, None] + skill], seed))
    assert np.mean(np.array(p_values) <= 0.05) <= 0.12
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.12)


def test_a_relation_that_a_control_explains_is_found_only_without_it():
    generator = np.random.default_rng(4)
    skill = generator.normal(size=12)
    gap = np.abs(skill[:, None] - skill)
    x, y = (
        gap + noise + np.swapaxes(noise, 0, 1) for noise in generator.normal(0, 0.1, (2, 12, 12))
    )
    assert mantel_p_value(y, [x], 0) == 1 / 100
    assert mantel_p_value(y, [x, gap], 0) > 0.05


def trend_of(pairs):
    value = inference.slope(pairs["accuracy"], pairs["capa"])
    return {("slope", ALL): (value, len(pairs["capa"]))}


def trend_numbers(table):
    models = len(table.asked)
    return inference.pair_numbers(table, np.zeros((models, models)), trend_of, ["accuracy"], 0)


def test_a_trend_made_up_of_shared_errors_is_found():
    """The better a model, the more often it gives the common wrong answer where it errs."""
    table = PairTable(answers_of(np.linspace(0.3, 0.6, 14), shared=np.linspace(0, 1, 14), seed=3))
    (number,) = trend_numbers(table)
    assert number.estimate.low > 0
    assert number.estimate.n == 91
    assert number.p_value == pytest.approx(1 / 100)
    assert number.estimate.method == "bootstrap over 14 models and 300 questions"


def test_independent_models_show_no_trend_and_the_interval_covers_zero():
    covered = 0
    for seed in range(10):
        skills = np.random.default_rng(seed).uniform(0.3, 0.8, 10)
        (number,) = trend_numbers(PairTable(answers_of(skills, shared=np.zeros(10), seed=seed)))
        covered += number.estimate.low <= 0 <= number.estimate.high
    assert covered >= 8


def test_models_that_never_err_have_no_trend():
    table = PairTable(answers_of(np.ones(5), shared=np.zeros(5), seed=0))
    assert isinstance(trend_numbers(table)[0].estimate, Undefined)


def made_up(seed, *, probabilities, models=5, missing=True):
    """Answers of models to questions of 2 to 5 options, some missing or not asked."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(3, 40))
    options = generator.integers(2, 6, size=n)
    shares = np.zeros((models, n, options.max()))
    for model in range(models):
        for item, size in enumerate(options):
            shares[model, item, :size] = generator.dirichlet(np.ones(size))
    choices = shares.argmax(axis=2)
    asked = generator.random((models, n)) < (0.9 if missing else 2)
    asked[:, 0] = True
    choices[~asked | (generator.random((models, n)) < 0.1 * missing)] = NOTHING
    choices[:, 0] = 0
    answered = (choices != NOTHING) & probabilities
    right = generator.integers(0, options)
    right[generator.random(n) < 0.1 * missing] = NOTHING
    right[0] = 0
    made = table_of(choices, right, shares * answered[:, :, None])
    return replace(made, options=options, asked=asked, has_probabilities=answered)


def pair_by_pair(table, first, second):
    """CAPA, flips, gain, r of errors and divergence of two models, by other means."""
    known = table.right != NOTHING
    asked = known & table.asked[first] & table.asked[second]
    hits = (table.choices[[first, second]] == table.right)[:, asked].astype(float)
    cells = [float(np.mean((hits[0] == a) & (hits[1] == b))) for a, b in ((1, 0), (0, 1))]
    varied = (hits.std(axis=1) > 0).all()
    right, options = table.right[asked], table.options[asked]
    choices = table.choices[[first, second]][:, asked]
    shares, divergence = table.probabilities[[first, second]][:, asked], math.nan
    if table.has_probabilities.any():
        value = capa(*shares, right, options).value
        shares = shares[:, (choices != NOTHING).all(axis=0)]
        logs = np.log(np.clip(shares, 1e-6, 1))
        divergence = ((shares[0] - shares[1]) * (logs[0] - logs[1])).sum(axis=1).mean() / 2
    else:
        value = capa_discrete(*choices, right, options).value
    return {
        "capa": math.nan if value is None else value,
        "flips": sum(cells),
        "gain": min(cells),
        "error_correlation": np.corrcoef(hits)[0, 1] if varied else math.nan,
        "kl": divergence,
    }


@given(seeds, st.booleans())
def test_all_pairs_at_once_are_those_pair_by_pair(seed, probable):
    table = made_up(seed, probabilities=probable)
    measures = PairTable(table).measures()
    for first, second in ((0, 1), (1, 3), (4, 2)):
        for name, value in pair_by_pair(table, first, second).items():
            assert measures[name][first, second] == pytest.approx(value, abs=1e-9, nan_ok=True)


@given(seeds)
def test_measures_are_symmetric_and_in_their_ranges(seed):
    measures = PairTable(made_up(seed, probabilities=True, missing=False)).measures()
    ranges = {"capa": (-1, 1), "flips": (0, 1), "gain": (0, 1), "kl": (0, math.inf)}
    for name, square in measures.items():
        np.testing.assert_allclose(square, square.T, atol=1e-12)
        low, high = ranges.get(name, (-1, 1))
        finite = square[np.isfinite(square)]
        assert (finite >= low - 1e-9).all()
        assert (finite <= high + 1e-9).all()


@given(seeds)
def test_counts_are_repeated_questions(seed):
    table = made_up(seed, probabilities=True)
    counts = np.random.default_rng(seed).integers(1, 4, size=len(table.options))
    places = np.repeat(np.arange(len(counts)), counts)
    by_model = ("choices", "asked", "probabilities", "has_probabilities")
    repeated = replace(
        table,
        options=table.options[places],
        right=table.right[places],
        **{name: getattr(table, name)[:, places] for name in by_model},
    )
    weighted = PairTable(table).measures(counts[table.right != NOTHING])
    for name, square in PairTable(repeated).measures().items():
        np.testing.assert_allclose(weighted[name], square, atol=1e-9)


def test_questions_without_a_right_answer_are_refused():
    table = made_up(1, probabilities=False)
    table.right[:] = NOTHING
    with pytest.raises(DataError, match="no right answer in"):
        PairTable(table)


def real_table():
    """The log-likelihoods of 64 models on 1,273 questions of four options."""
    stored = np.load(shared_data("wmdp_bio_loglik/loglik.npz"))
    shares = softmax(stored["loglik"].astype(np.float64), axis=2)
    return table_of(shares.argmax(axis=2), stored["gold"].astype(np.intp), shares)


def test_capa_of_2016_real_pairs_equals_lm_sim_within_a_minute():
    lmsim = pytest.importorskip("lmsim.metrics")
    table = real_table()
    began = time.monotonic()
    square = PairTable(table).measures()["capa"]
    assert time.monotonic() - began < 60
    rows, gold = [list(row) for row in table.probabilities], table.right.tolist()
    drawn = np.random.default_rng(0).choice(64, size=(25, 2))
    for first, second in drawn[drawn[:, 0] != drawn[:, 1]]:
        expected = lmsim.CAPA().compute_k(rows[first], rows[second], gold)
        assert square[first, second] == pytest.approx(expected, abs=1e-9)
