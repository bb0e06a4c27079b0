"""Decisions that went wrong once; `benchmarks/decisions.py` plays them, too."""

import pytest
from decision_cases.playing import all_decisions, play

DECISIONS = all_decisions()


def test_every_decision_has_a_name_of_its_own():
    assert len({decision.name for decision in DECISIONS}) == len(DECISIONS)


@pytest.mark.parametrize("decision", DECISIONS, ids=lambda decision: decision.name)
def test_the_user_is_told_what_is_right(decision, tmp_path):
    played = play(decision, tmp_path)
    assert not [*played.faults(decision)], played.told
