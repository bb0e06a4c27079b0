"""Decisions that went wrong once.

The fast run takes some of them, spread over the topics; `pytest -m slow tests/decision_cases` takes
the rest.
"""

import zlib

import pytest
from decision_cases.playing import all_decisions, play

IN_THE_FAST_RUN = 32

DECISIONS = sorted(all_decisions(), key=lambda one: zlib.crc32(one.name.encode()))


def test_every_decision_has_a_name_of_its_own():
    assert len({decision.name for decision in DECISIONS}) == len(DECISIONS)


@pytest.mark.parametrize(
    "decision",
    [
        pytest.param(one, id=one.name, marks=() if place < IN_THE_FAST_RUN else (pytest.mark.slow,))
        for place, one in enumerate(DECISIONS)
    ],
)
def test_the_user_is_told_what_is_right(decision, tmp_path):
    played = play(decision, tmp_path)
    assert not [*played.faults(decision)], played.told
