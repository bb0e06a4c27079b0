"""What the second test and the state of the controls allow to conclude."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from made_up_cases import SOFT_SCOPE, judged, make_case, strangers, taking, with_suspect

from scope.decision.case import NO_POWER_KNOWN
from scope.decision.judging import finding_of
from scope.decision.verdicts import conclude
from scope.evidence.answers import NOT_GIVEN
from scope.records import Undefined


def clear_stranger():
    """An independent suspect that is among the least like the reference of 25 controls."""
    rows, gold = strangers(2, items=1200)
    return make_case(rows, gold)


@cache
def finding():
    return finding_of(clear_stranger(), alpha=0.05, soft_scope=SOFT_SCOPE, seed=0)


def test_the_p_value_of_the_verdict_is_the_greater_of_rank_and_agreement():
    plain = finding()
    for rank, agreed in ((0.01, 0.04), (0.04, 0.01)):
        agreement = replace(plain.agreement, p_value=agreed)
        paired = replace(plain.paired, p_more=0.01)
        (found,) = conclude(
            [replace(plain, p_value=rank, agreement=agreement, paired=paired)], 0.05
        )
        assert (found.p_value, found.p_rank, found.decision) == (0.04, rank, "related")


def test_a_rank_that_agreement_does_not_confirm_accuses_nobody():
    plain = finding()
    doubted = replace(plain.agreement, p_value=0.06)
    (found,) = conclude(
        [replace(plain, p_value=0.04, agreement=doubted)], 0.05, assume_no_label_training=True
    )
    assert (found.decision, found.p_value) == ("undecided", 0.06)
    assert found.reasons[0].startswith(
        "its rank among the controls is significant (p = 0.04), but its agr"
    )


def test_too_few_comparable_controls_decide_nothing_either_way():
    rows, gold = strangers(0, controls=19)
    few = gold.copy()
    # Ten of the controls know nearly everything.
    rows[2:12] = np.where(np.random.default_rng(0).random((10, 300)) < 0.97, few, rows[2:12])
    for suspect in (rows, taking(rows, 1.0)):
        found = judged(make_case(suspect, gold))
        assert found.decision == "undecided"
        assert any("are comparable with it" in one for one in found.reasons), found.reasons
        assert f"of {found.comparable_needed}" not in found.sentence
        assert found.comparable < found.comparable_needed == 10


@pytest.mark.parametrize("share", [0.7, 0.95, 1.0])
def test_controls_of_one_family_decide_nothing_either_way(share):
    rows, gold = strangers(1, controls=24, items=600)
    kept = np.random.default_rng(0).random((24, 600)) < share
    rows[2:] = np.where(kept, rows[2], rows[2:])
    for suspect in (rows, taking(rows, 1.0)):
        found = judged(make_case(suspect, gold))
        assert found.decision == "undecided"
        assert found.agreement is None or found.agreement.independent < 4


def test_without_the_assumption_nobody_is_called_not_related():
    found = judged(clear_stranger(), assuming=False)
    assert found.decision == "undecided"
    assert found.reasons == (NO_POWER_KNOWN,)
    assert "There is no evidence of reuse of its weights: on" in found.sentence
    assert not found.assume_no_label_training
    assert judged(clear_stranger()).assume_no_label_training


def test_a_degenerate_reference_decides_nothing_and_is_named_first():
    rows, gold = strangers(0)
    rows[0] = np.where(np.arange(300) < 290, 2, rows[0])
    found = judged(make_case(taking(rows, 1.0), gold))
    assert found.decision == "undecided"
    assert any(
        "the reference is degenerate: it answers `option 2` to 29" in one for one in found.reasons
    )


def test_a_p_value_is_written_with_the_decimals_that_show_its_side_of_alpha():
    verdict = judged(clear_stranger())
    written = [verdict.written(p) for p in (0.04, 0.05, 0.0503, 0.050004, 0.0002)]
    assert written == ["0.040", "0.050", "0.0503", "0.050004", "< 0.001"]


def test_a_suspect_that_answers_nothing_has_no_skill():
    rows, gold = strangers(0, controls=3)
    found = judged(make_case(with_suspect(rows, NOT_GIVEN), gold))
    assert isinstance(found.skill, Undefined)
