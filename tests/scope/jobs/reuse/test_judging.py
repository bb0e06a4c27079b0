"""The numbers that a verdict rests on: whose they are does not matter, nor in which order."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_cases import (
    SOFT_SCOPE,
    make_case,
    probabilities_of,
    strangers,
    taking,
    with_derivatives,
)

from scope.jobs.reuse.judging import MOST, agreement_test, finding_of


def agreement(rows, gold, **changes):
    case = make_case(rows, gold, **changes)
    return agreement_test(case, np.ones(len(rows) - 2, dtype=np.bool_))


def family(rows, share):
    kept = np.random.default_rng(0).random(rows[2:].shape) < share
    changed = rows.copy()
    changed[2:] = np.where(kept, rows[2], rows[2:])
    return changed


def test_a_copy_agrees_more_than_independent_models_do():
    rows, gold = strangers(0, items=600)
    assert agreement(taking(rows, 1.0), gold).p_value < 1e-6
    assert agreement(taking(rows, 1.0), gold).suspect == pytest.approx(np.arctanh(MOST))


def test_independent_suspects_are_rarely_called_beyond_their_controls():
    p_values = [agreement(*strangers(seed, items=150)).p_value for seed in range(40)]
    # Of 40, 2 are expected below 0.05, and 20 below 0.5.
    assert sum(p <= 0.05 for p in p_values) <= 5
    assert sum(p <= 0.5 for p in p_values) >= 14


def test_independent_controls_count_nearly_as_many_and_a_family_as_few():
    rows, gold = strangers(1, items=1200)
    independent, of_family, copies = (
        agreement(family(rows, share), gold).independent for share in (0.0, 0.6, 0.97)
    )
    assert independent > 16
    assert of_family < 6
    assert copies < 1.5


def test_probabilities_enter_where_all_models_give_them():
    rows, gold = strangers(3)
    probabilities = probabilities_of(rows)
    plain, with_some = agreement(rows, gold), agreement(rows, gold, probabilities=probabilities)
    assert plain.suspect != with_some.suspect
    probabilities[5] = np.nan
    assert agreement(rows, gold, probabilities=probabilities) == plain


def judge(case, *, alpha=0.05):
    return finding_of(case, alpha=alpha, soft_scope=SOFT_SCOPE).verdict


def by_model(finding):
    """Every model's joint number, and its values by each kind."""
    joint = {one.model: one.value for one in finding.standings}
    kinds = {
        one.kind: {
            finding.suspect: one.suspect.value,
            **{control.model: control.value for control in one.controls},
        }
        for one in finding.evidence
    }
    return joint, kinds


def test_a_suspect_and_a_control_that_change_places_change_their_numbers():
    rows, gold = strangers(4, controls=20, items=150)
    probabilities = probabilities_of(rows)
    turned = [0, 7, *range(2, 7), 1, *range(8, 22)]
    one = judge(make_case(rows, gold, probabilities=probabilities))
    other = judge(make_case(rows[turned], gold, probabilities=probabilities[turned]))
    before, after = by_model(one), by_model(other)
    for first, second in [(before[0], after[0])] + [
        (before[1][kind], after[1][kind]) for kind in before[1]
    ]:
        swapped = {**first, "theirs": first["control 6"], "control 6": first["theirs"]}
        assert second == pytest.approx(swapped, abs=1e-9)


def test_the_rank_is_that_of_the_pair_among_all_pairs():
    rows, gold = strangers(4, controls=8)
    probabilities = probabilities_of(rows)
    verdict = judge(make_case(rows, gold, probabilities=probabilities))
    assert verdict.pairs == 45
    # Whichever two are called reference and suspect, the values of the pairs are the same.
    values = []
    for first in range(10):
        for second in range(first + 1, 10):
            others = [place for place in range(10) if place not in (first, second)]
            order = [first, second, *others]
            turned = judge(make_case(rows[order], gold, probabilities=probabilities[order]))
            values.append(turned.standings[0].value)
    assert verdict.p_rank == sum(value >= values[0] - 1e-9 for value in values) / 45
    # 2 of 45 are at most 0.05, so one other pair may stand above.
    assert sum(value > verdict.threshold + 1e-9 for value in values) == 1


def test_derivatives_are_ranked_from_the_least_similar_and_copies_do_not_count():
    rows, gold = strangers(3, controls=29, items=400)
    stranger = judge(with_derivatives(rows, gold))
    assert stranger.p_derivative == 1 / 20
    assert not any(each.unlike for each in stranger.derivatives)
    derived = judge(with_derivatives(taking(rows, 0.6), gold))
    assert 0.05 < derived.p_derivative == (1 + sum(d.unlike for d in derived.derivatives)) / 20
    copies = judge(with_derivatives(rows, gold, share=0.99))
    assert copies.p_derivative is None
    assert {each.counted for each in copies.derivatives} == {False}
    assert judge(make_case(rows, gold)).p_derivative is None


def test_a_derivative_without_probabilities_is_compared_by_answers_alone():
    rows, gold = strangers(3, controls=12)
    case = with_derivatives(rows, gold, count=3, probabilities=probabilities_of(rows[:-3]))
    assert "log_probabilities" in [kind.kind for kind in judge(case).evidence]
    by_answers = judge(with_derivatives(rows, gold, count=3)).derivatives
    # Its place beside the controls, which have probabilities, is not known.
    assert judge(case).derivatives == tuple(replace(each, value=None) for each in by_answers)
    assert None not in [each.value for each in by_answers]
