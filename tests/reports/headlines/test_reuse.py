"""A verdict's words, on the page and in the terminal, are those of its record and its numbers."""

import re
from dataclasses import replace

from headline_claims import drawn, page_of
from hypothesis import given, settings, strategies as st
from made_up_cases import judged, make_case, strangers, taking
from made_up_reuse_comparison import build_comparison


def judge(seed, controls, share):
    rows, gold = strangers(seed, controls=controls)
    return judged(make_case(taking(rows, share), gold))


cases = st.builds(
    judge,
    st.integers(0, 5),
    st.sampled_from([3, 19, 24]),
    st.sampled_from([0.0, 0.1, 0.5, 1.0]),
)
"""Verdicts on suspects that took a share of their answers from the reference."""


def of(*verdicts):
    return replace(build_comparison(), verdicts=verdicts)


@settings(drawn, max_examples=6)
@given(verdict=cases)
def test_page_and_terminal_open_with_the_decision_and_the_p_value_of_the_record(parse, verdict):
    comparison = of(verdict)
    answer = page_of(comparison, parse).section("answer").words
    assert re.match(rf"Verdict \S {verdict.decision}\b", answer)
    shown = re.escape(verdict.written(verdict.p_value))
    assert re.search(rf"p-value of the verdict ?{shown}\b", answer)
    assert f"α = {verdict.alpha:g}" in answer
    assert str(comparison).startswith(f"{verdict.decision.upper()}: ")


def test_every_reference_has_its_decision(parse):
    comparison = build_comparison()
    answer = page_of(comparison, parse).section("answer").words
    printed = " ".join(str(comparison).split())
    for verdict in comparison.verdicts:
        name = " ".join(verdict.reference.split())
        assert re.search(rf"\S {verdict.decision}: {re.escape(name)}", answer)
        assert re.search(rf"{name.split()[0]}\b.*? {verdict.decision} ", printed)
