"""The page on a test of reuse."""

from dataclasses import replace

import pytest
from made_up_reuse_comparison import undecided

from scope.records import Undefined


@pytest.fixture
def render(results, parse):
    def rendered(*verdicts):
        return parse(replace(results["reuse"], verdicts=verdicts).html())

    return rendered


def test_evidence_without_a_value_still_makes_a_page(render):
    nothing = replace(
        undecided(),
        standings=(),
        evidence=tuple(
            replace(one, suspect=Undefined(reason="nothing shared"), controls=(), p_value=None)
            for one in undecided().evidence
        ),
        p_value=None,
        skill=Undefined(reason="nothing answered"),
    )
    document = render(nothing)
    assert "The suspect has no joint statistic." in document.section("answer").words
    assert not [n for n in document.walk() if n.attributes.get("role") == "img"]
    assert "none (α" in document.section("answer").words
