"""The kinds of evidence, and CAPA and error consistency of a pool against those of two models."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from made_up_cases import SOFT_SCOPE, make_case, probabilities_of, strangers, taking
from made_up_pools import pool, random_pool, skilled_pool
from reference.invariance_reference import mean_over_texts

from scope.estimation.pairs import AuditedPairs
from scope.jobs.reuse.answer_matrix import UNKNOWN
from scope.jobs.reuse.evidence import chance_corrected_scores, invariance_scores, kinds_of_evidence
from scope.jobs.reuse.shared_mistakes import shared_mistakes
from scope.metrics import METRICS, capa, capa_discrete, error_consistency

seeds = st.integers(0, 100_000)


def partly_known(seed):
    answers = random_pool(seed)
    generator = np.random.default_rng(seed)
    unknown = generator.random(len(answers.gold)) < 0.2
    return replace(answers, gold=np.where(unknown, UNKNOWN, answers.gold))


@given(seeds)
def test_every_value_is_the_metric_on_what_was_put_to_both_and_somebody_knows(seed):
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
            if answers.asked[[0, model], place].all() and gold[place] != UNKNOWN
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
    answers = skilled_pool(3, models=4, items=30)
    answers = replace(answers, probabilities=probabilities_of(answers.answers))
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


HARD, SOFT = METRICS["hard_scope"], METRICS["soft_scope"].at(tolerance=0.1, cutoff=0.8)


@given(seeds)
def test_values_are_means_over_texts_and_parts_those_of_their_texts(seed):
    examples = np.random.default_rng(seed).choice(["e0", "e1", "e2", "e5"], size=8).tolist()
    pairs = made_up_pairs(3, examples, seed=seed)
    # Examples without a pair, and one that no pair could belong to, in another order.
    units = ["e5", "e4", "other", "e0", "e1", "e2", "e3"]
    hard, soft = (invariance_scores(pairs, metric, units) for metric in (HARD, SOFT))
    assert np.isnan([hard.values[0], soft.values[0]]).all()
    moved = pairs.reference[0] - pairs.reference[1]
    for place, (before, after) in enumerate(pairs.targets, start=1):
        kept = before.argmax(axis=1) == after.argmax(axis=1)
        apart = np.abs(before - after - moved).sum(axis=1)
        credit = kept * np.clip((0.8 - apart) / 0.7, 0, 1)
        for found, each in ((hard, kept), (soft, credit)):
            assert found.values[place] == pytest.approx(mean_over_texts(each, examples))
            for unit, part in zip(units, found.parts[place], strict=True):
                of_unit = [each[row] for row in range(8) if examples[row] == unit]
                assert part == pytest.approx(np.mean(of_unit or [0]) / len(set(examples)))


def kinds(case):
    found = kinds_of_evidence(case, shared_mistakes(case.answers), SOFT_SCOPE)
    return {(one.name, one.capability): one for one in found}


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


def test_a_copy_has_the_value_that_is_said_to_be_a_copys():
    rows, gold = strangers(0, controls=12, items=200)
    probabilities = probabilities_of(rows)
    copied, same = taking(rows, 1.0), probabilities.copy()
    same[1] = same[0]
    pairs = made_up_pairs(13)
    case = make_case(
        copied,
        gold,
        probabilities=same,
        pairs=(replace(pairs, targets=(pairs.reference, *pairs.targets[1:])),),
    )
    for (name, _), one in kinds(case).items():
        if name == "shared_mistakes":
            assert one.scores.values[1] == pytest.approx(one.copy, rel=0.2)
        elif name not in ("capa", "error_consistency"):
            assert one.scores.values[1] == pytest.approx(one.copy)
        # CAPA of two equal rows of probabilities is less than 1.
        assert one.scores.values[1] <= one.most + 1e-12


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
        found = kinds(make_case(rows, right, **changes))
        assert [(name, one.decides) for (name, _), one in found.items()] == expected


def test_two_models_that_are_always_right_have_no_kappa():
    found = chance_corrected_scores(pool([[0, 0, 0], [0, 0, 0], [0, 1, 0]]))
    for scores in found.values():
        assert np.isnan(scores.values[:2]).all()
        assert not np.isnan(scores.values[2])
