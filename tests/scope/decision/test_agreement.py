"""Agreement with the reference beside controls that differ in skill or depend on each other."""

import numpy as np
import pytest
from made_up_cases import make_case, probabilities_of, strangers, taking, with_suspect

from scope.decision.agreement import MOST, agreement_test
from scope.evidence.answers import NOT_GIVEN


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
    p_values = [agreement(*strangers(seed)).p_value for seed in range(100)]
    assert sum(p <= 0.05 for p in p_values) <= 9
    assert sum(p <= 0.5 for p in p_values) >= 35


def test_independent_controls_count_nearly_as_many_and_a_family_as_few():
    rows, gold = strangers(1, items=1200)
    independent, of_family, copies = (
        agreement(family(rows, share), gold).independent for share in (0.0, 0.6, 0.97)
    )
    assert independent > 16
    assert of_family < 6
    assert copies < 1.5


def test_controls_that_do_not_count_are_left_out():
    rows, gold = strangers(2)
    usable = np.arange(25) < 20
    found = agreement_test(make_case(rows, gold), usable)
    assert [one.model for one in found.controls] == [f"control {n}" for n in range(1, 21)]


def test_probabilities_enter_where_all_models_give_them():
    rows, gold = strangers(3)
    probabilities = probabilities_of(rows)
    plain, with_some = agreement(rows, gold), agreement(rows, gold, probabilities=probabilities)
    assert plain.suspect != with_some.suspect
    probabilities[5] = np.nan
    assert agreement(rows, gold, probabilities=probabilities) == plain


def test_a_suspect_that_answers_nothing_has_no_agreement():
    rows, gold = strangers(4)
    assert agreement(with_suspect(rows, NOT_GIVEN), gold) is None


def test_only_representative_questions_count():
    rows, gold = strangers(5)
    changed = rows.copy()
    changed[1, 100:] = rows[0, 100:]
    first = agreement(rows[:, :100], gold[:100])
    found = agreement(changed, gold, representative=100)
    assert found.suspect == pytest.approx(first.suspect)
