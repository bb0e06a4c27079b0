"""The numbers that a verdict rests on: whose they are does not matter, nor in which order."""

import numpy as np
import pytest
from made_up_cases import SOFT_SCOPE, make_case, probabilities_of, strangers, taking

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


def judge(case, looks=(), *, alpha=0.05):
    return finding_of(case, looks, alpha=alpha, soft_scope=SOFT_SCOPE, seed=0).verdict


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


def test_controls_with_identical_answers_count_once():
    rows, gold = strangers(5, controls=19, items=100)
    rows[3] = rows[2]
    finding = judge(make_case(taking(rows, 1.0), gold))
    # The least of 1 / 20, of 18 different controls.
    assert finding.p_rank == pytest.approx(1 / 19)


def test_a_control_that_lacks_what_the_suspect_has_is_compared_by_what_both_have():
    # Its parts would otherwise lack a whole number, and the suspect seem far beyond it.
    rows, gold = strangers(9, controls=20, items=200)
    rows[2] = np.where(np.random.default_rng(0).random(200) < 0.5, rows[0], rows[2])
    probabilities = probabilities_of(rows)
    probabilities[2] = np.nan
    finding = judge(make_case(rows, gold, probabilities=probabilities))
    assert finding.paired.control == "control 1"
    own, nearest = (one.value for one in finding.standings[:2])
    assert finding.paired.difference.value == pytest.approx(own - nearest, abs=1e-9)
    assert finding.paired.p_more > 0.5


def test_the_paired_test_is_against_the_decisive_control():
    rows, gold = strangers(10, controls=39, items=120)
    finding = judge(make_case(rows, gold))
    ordered = sorted(finding.standings[1:], key=lambda one: -one.value)
    # One of 39 may stand above at 0.05.
    assert finding.paired.control == ordered[1].model
    assert judge(make_case(rows, gold), alpha=0.025).paired.control == ordered[0].model
    own = finding.standings[0].value
    assert finding.paired.difference.value == pytest.approx(own - ordered[1].value, abs=1e-9)


def test_a_share_that_is_called_detectable_is_detected():
    found = []
    for seed in range(3):
        rows, gold = strangers(20 + seed, controls=19)
        share = judge(make_case(rows, gold)).detectable
        taken = taking(rows, share + 0.1, seed=seed)
        found.append(judge(make_case(taken, gold)).p_rank <= 0.05)
    assert sum(found) >= 2


def test_only_representative_questions_count():
    rows, gold = strangers(5)
    changed = rows.copy()
    changed[1, 100:] = rows[0, 100:]
    first = agreement(rows[:, :100], gold[:100])
    found = agreement(changed, gold, representative=100)
    assert found.suspect == pytest.approx(first.suspect)
