"""CAPA and error consistency of a pool against the metrics of two models, and another library."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_pools import pool, random_pool, skilled_pool

from scope.evidence.answers import NOT_GIVEN, UNKNOWN
from scope.evidence.chance_corrected import chance_corrected_scores
from scope.metrics import capa, capa_discrete, error_consistency

seeds = st.integers(0, 100_000)


def with_probabilities(answers, seed=0):
    generator = np.random.default_rng(seed)
    found = np.zeros((*answers.answers.shape, answers.options.max()))
    for place, options in enumerate(answers.options):
        rows = generator.dirichlet(np.ones(options), size=len(found))
        found[:, place, :options] = rows
    return replace(answers, probabilities=found)


def partly_known(seed):
    answers = random_pool(seed)
    generator = np.random.default_rng(seed)
    unknown = generator.random(len(answers.gold)) < 0.2
    return replace(answers, gold=np.where(unknown, UNKNOWN, answers.gold))


@given(seeds)
def test_every_value_is_the_metric_on_what_both_answered_and_somebody_knows(seed):
    answers = partly_known(seed)
    found = chance_corrected_scores(answers)
    rows, gold, options = answers.answers, answers.gold, answers.options
    if (gold == UNKNOWN).all():
        assert found == {}
        return
    assert list(found) == ["capa_discrete", "error_consistency"]
    for model in range(1, len(rows)):
        both = [
            place
            for place in range(len(gold))
            if NOT_GIVEN not in (rows[0, place], rows[model, place]) and gold[place] != UNKNOWN
        ]
        one, other = rows[0, both], rows[model, both]
        expected = {
            "capa_discrete": capa_discrete(one, other, gold[both], options[both]).value,
            "error_consistency": error_consistency(one, other, gold[both]).value,
        }
        for key, value in expected.items():
            scores = found[key]
            if value is None:
                assert np.isnan(scores.values[model])
                assert (scores.parts[model] == 0).all()
            else:
                assert scores.values[model] == pytest.approx(value, abs=1e-12)
                assert scores.parts[model].sum() == pytest.approx(value, abs=1e-9)


def test_capa_is_of_probabilities_where_every_answer_has_some():
    answers = with_probabilities(random_pool(3, models=4, items=30))
    found = chance_corrected_scores(answers)
    assert list(found) == ["capa", "error_consistency"]
    for model in (1, 2, 3):
        both = answers.given[0] & answers.given[model]
        expected = capa(
            answers.probabilities[0, both],
            answers.probabilities[model, both],
            answers.gold[both],
            answers.options[both],
        )
        assert found["capa"].values[model] == pytest.approx(expected.value)


def test_one_model_without_probabilities_makes_all_capa_one_of_choices():
    answers = with_probabilities(random_pool(3, models=4, items=30))
    some = answers.probabilities.copy()
    some[2] = np.nan
    mixed = replace(answers, probabilities=some)
    assert list(chance_corrected_scores(mixed)) == ["capa_discrete", "error_consistency"]


def test_missing_probabilities_of_missing_answers_are_no_lack():
    answers = with_probabilities(random_pool(3, models=4, items=30, missing=0.3))
    some = np.where(answers.given[:, :, None], answers.probabilities, np.nan)
    found = chance_corrected_scores(replace(answers, probabilities=some))
    whole = chance_corrected_scores(answers)
    np.testing.assert_array_equal(found["capa"].values, whole["capa"].values)


def test_a_library_by_others_finds_the_same():
    lmsim = pytest.importorskip("lmsim.metrics")
    answers = skilled_pool(2, models=5, items=200)
    found = chance_corrected_scores(answers)
    one_hot = np.eye(5)[answers.answers]
    for model in range(1, 5):
        arguments = ([*one_hot[0]], [*one_hot[model]], [*answers.gold])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs = lmsim.CAPA(prob=True).compute_k(*arguments)
        assert found["capa_discrete"].values[model] == pytest.approx(theirs, abs=1e-9)


def test_two_models_that_are_always_right_have_no_kappa():
    found = chance_corrected_scores(pool([[0, 0, 0], [0, 0, 0], [0, 1, 0]]))
    for scores in found.values():
        assert np.isnan(scores.values[:2]).all()
        assert not np.isnan(scores.values[2])


def test_a_unit_holds_what_its_questions_add():
    answers = skilled_pool(1, models=3, items=40)
    apart = chance_corrected_scores(answers)["capa_discrete"]
    merged = chance_corrected_scores(replace(answers, units=np.arange(40) // 4))["capa_discrete"]
    np.testing.assert_allclose(
        merged.parts[1:], apart.parts[1:].reshape(2, 10, 4).sum(axis=2), atol=1e-12
    )
    np.testing.assert_array_equal(merged.values, apart.values)
