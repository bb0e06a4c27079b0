"""The kinds of evidence, and CAPA and error consistency of a pool against those of two models."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from made_up_cases import SOFT_SCOPE, make_case, probabilities_of, strangers, taking
from made_up_pools import pool, random_pool, skilled_pool
from reference.invariance_reference import mean_over_texts

from scope.estimation.pairs import AuditedPairs
from scope.jobs.reuse.evidence import chance_corrected, kinds_of_evidence
from scope.jobs.reuse.pool import UNKNOWN
from scope.jobs.reuse.shared_mistakes import shared_mistakes
from scope.metrics.agreement import capa, capa_discrete, error_consistency
from scope.records import Estimate, Undefined

seeds = st.integers(0, 100_000)


def partly_known(seed):
    answers = random_pool(seed)
    generator = np.random.default_rng(seed)
    unknown = generator.random(len(answers.gold)) < 0.2
    return replace(answers, gold=np.where(unknown, UNKNOWN, answers.gold))


@given(seeds)
def test_every_value_is_the_metric_on_what_was_put_to_both_and_somebody_knows(seed):
    answers = partly_known(seed)
    kinds = list(chance_corrected(answers))
    rows, gold, options = answers.answers, answers.gold, answers.options
    if (gold == UNKNOWN).all():
        assert kinds == []
        return
    assert [kind.name for kind in kinds] == ["capa_discrete", "error_consistency"]
    for model in range(1, len(rows)):
        both = [
            place
            for place in range(len(gold))
            if answers.asked[[0, model], place].all() and gold[place] != UNKNOWN
        ]
        first, other = rows[0, both], rows[model, both]
        expected = (
            capa_discrete(first, other, gold[both], options[both]).value,
            error_consistency(first, other, gold[both]).value,
        )
        for value, kind in zip(expected, kinds, strict=True):
            assert kind.values[model] == pytest.approx(
                np.nan if value is None else value, nan_ok=True
            )
            if model == 1 and isinstance(kind.suspect, Estimate):
                assert kind.suspect.value == pytest.approx(value, abs=1e-9)


def test_capa_is_of_probabilities_where_every_answer_has_some():
    answers = skilled_pool(3, models=4, items=30)
    answers = replace(answers, probabilities=probabilities_of(answers.answers))
    kinds = {kind.name: kind for kind in chance_corrected(answers)}
    assert list(kinds) == ["capa", "error_consistency"]
    for model in (1, 2, 3):
        both = answers.given[0] & answers.given[model]
        expected = capa(
            answers.probabilities[0, both],
            answers.probabilities[model, both],
            answers.gold[both],
            answers.options[both],
        )
        assert kinds["capa"].values[model] == pytest.approx(expected.value)


def kinds(case):
    evidence = kinds_of_evidence(case, shared_mistakes(case.answers), SOFT_SCOPE)
    return {kind.name: kind for kind in evidence}


def made_up_pairs(models, examples=("0", "0", "2"), capability="typo", seed=0):
    """AuditedPairs of a reference that is sure of one label, and as many others of any opinion."""
    generator = np.random.default_rng(seed)
    sure = np.tile([0.75, 0.25], (len(examples), 1))
    changed = np.tile([0.625, 0.375], (len(examples), 1))
    return AuditedPairs(
        missing=np.zeros((len(examples), 2 * models + 2), dtype=bool),
        capability=capability,
        example_ids=tuple(examples),
        trials=tuple(range(1, len(examples) + 1)),
        reference=(sure, changed),
        targets=tuple(
            tuple(generator.dirichlet([1, 1], size=len(examples)) for _ in range(2))
            for _ in range(models)
        ),
        similarities=np.full(len(examples), np.nan),
    )


def test_a_copy_keeps_everything_and_each_model_has_its_mean_over_texts():
    rows, gold = strangers(0, controls=12, items=200)
    examples = ("0", "0", "2", "7")
    pairs = made_up_pairs(13, examples)
    copied = replace(pairs, targets=(pairs.reference, *pairs.targets[1:]))
    case = make_case(taking(rows, 1.0), gold, pairs=(copied,))
    hard, soft = (kinds(case)[name] for name in ("hard_scope", str(SOFT_SCOPE)))
    assert hard.suspect.value == soft.suspect.value == hard.values[1] == 1
    for place, (before, after) in enumerate(copied.targets, start=1):
        kept = before.argmax(axis=1) == after.argmax(axis=1)
        assert hard.values[place] == pytest.approx(mean_over_texts(kept, examples))


def test_which_kinds_there_are_and_which_decide_follows_from_what_is_known():
    rows, gold = strangers(0, controls=4, items=40)
    pairs, soft = made_up_pairs(5), str(SOFT_SCOPE)
    shown = [("shared_mistakes", True), ("capa_discrete", False), ("error_consistency", False)]
    cases = (
        ({}, gold, shown),
        ({}, np.full(40, UNKNOWN), [("shared_mistakes", True)]),
        (
            {"probabilities": probabilities_of(rows)},
            gold,
            [*shown[:1], ("log_probabilities", True), ("capa", False), *shown[2:]],
        ),
        # Invariances of the reference are shown, if it has any.
        ({"pairs": (pairs,)}, gold, [*shown[:1], ("hard_scope", False), (soft, False), *shown[1:]]),
        ({"pairs": (made_up_pairs(5, examples=()),)}, gold, shown),
    )
    for changes, right, expected in cases:
        evidence = kinds(make_case(rows, right, **changes))
        assert [(name, kind.pairs is not None) for name, kind in evidence.items()] == expected


def test_two_models_that_are_always_right_have_no_kappa():
    for kind in chance_corrected(pool([[0, 0, 0], [0, 0, 0], [0, 1, 0]])):
        assert np.isnan(kind.values[:2]).all()
        assert isinstance(kind.suspect, Undefined)
        assert not np.isnan(kind.values[2])
