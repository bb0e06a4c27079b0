"""Decisions that went wrong once.

The fast run takes two of each topic; `pytest -m slow tests/decision_cases` takes the rest.
"""

import zlib

import pytest
from decision_cases.playing import decisions_by_topic, play

TOPICS = decisions_by_topic().values()
FAST = {
    one.name
    for decisions in TOPICS
    for one in sorted(decisions, key=lambda one: (one.costly, zlib.crc32(one.name.encode())))[:2]
}


def test_every_decision_has_a_name_of_its_own():
    names = [decision.name for decisions in TOPICS for decision in decisions]
    assert len({*names}) == len(names)


@pytest.mark.parametrize(
    "decision",
    [
        pytest.param(one, id=one.name, marks=() if one.name in FAST else (pytest.mark.slow,))
        for decisions in TOPICS
        for one in decisions
    ],
)
def test_the_user_is_told_what_is_right(decision, tmp_path):
    played = play(decision, tmp_path)
    assert not [*played.faults(decision)], played.told
