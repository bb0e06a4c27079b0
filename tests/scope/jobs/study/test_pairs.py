"""Measures of every two models at once, against the same pair by pair."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import softmax
from shared_data import shared_data
from study_cases import table_of

from scope.errors import DataError
from scope.estimation.tasks.choices import NOTHING
from scope.jobs.study.inference import PairTable
from scope.metrics import capa, capa_discrete

seeds = st.integers(0, 100_000)


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
