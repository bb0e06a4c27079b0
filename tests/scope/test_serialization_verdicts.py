"""Verdicts, however odd their texts and numbers, read back from JSON as they were written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st
from made_up_cases import judged, make_case, strangers
from made_up_reuse_comparison import build_comparison

from scope.checksums import sealed, unsealed
from scope.errors import RunError
from scope.records import (
    ControlCheck,
    Estimate,
    Evidence,
    InformativeItem,
    Look,
    ModelScore,
    PairedTest,
    ReuseResult,
    Undefined,
    Verdict,
)
from scope.serialization import from_json, to_json

# Six decimals at most, so that reading gives back the very records that were written.
NUMBERS = st.integers(-(10**9), 10**9).map(lambda n: round(n / 10**6, 6) + 0.0)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
COUNTS = st.integers(0, 2**40)


def several(items: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(items, max_size=2).map(tuple)


ESTIMATES = st.builds(
    lambda numbers, n: Estimate(
        low=numbers[0], value=numbers[1], high=numbers[2], n=n, method="any"
    ),
    st.lists(NUMBERS, min_size=3, max_size=3).map(sorted),
    COUNTS,
)
NUMBERS_OR_NONE = st.none() | NUMBERS
MEASURED = st.one_of(ESTIMATES, st.builds(Undefined, reason=WORDS, n=COUNTS))
STANDINGS = several(st.builds(ModelScore, model=WORDS, value=NUMBERS))
VERDICTS = st.builds(
    Verdict,
    suspect=WORDS,
    reference=WORDS,
    decision=st.sampled_from(["related", "not related", "undecided"]),
    sentence=WORDS,
    alpha=NUMBERS,
    p_value=NUMBERS_OR_NONE,
    p_adjusted=NUMBERS_OR_NONE,
    standings=STANDINGS,
    evidence=several(
        st.builds(
            Evidence,
            kind=WORDS,
            capability=st.none() | WORDS,
            suspect=MEASURED,
            controls=STANDINGS,
            p_value=NUMBERS_OR_NONE,
            p_adjusted=NUMBERS_OR_NONE,
            decides=st.booleans(),
        )
    ),
    paired=st.none()
    | st.builds(PairedTest, control=WORDS, difference=ESTIMATES, p_more=NUMBERS, p_less=NUMBERS),
    controls=several(
        st.builds(ControlCheck, model=WORDS, skill=MEASURED, given=NUMBERS, flags=several(WORDS))
    ),
    controls_needed=COUNTS,
    skill=MEASURED,
    detectable=NUMBERS_OR_NONE,
    items=several(
        st.builds(
            InformativeItem,
            id=WORDS,
            text=WORDS,
            gold=st.none() | WORDS,
            reference=WORDS,
            suspect=WORDS,
            expected=NUMBERS,
            weight=NUMBERS,
        )
    ),
    reasons=several(WORDS),
    changes=several(WORDS),
    warnings=several(WORDS),
    shared=COUNTS,
    queries=COUNTS,
    probes=WORDS,
    looks=several(st.builds(Look, asked=COUNTS, p_value=NUMBERS)),
)


def with_verdicts(*verdicts: Verdict) -> ReuseResult:
    return replace(build_comparison(), verdicts=verdicts)


@given(several(VERDICTS))
def test_every_verdict_reads_back_as_it_was(verdicts: tuple[Verdict, ...]) -> None:
    comparison = with_verdicts(*verdicts)
    text = to_json(comparison)
    assert from_json(text) == comparison
    assert to_json(from_json(text)) == text


def test_a_real_verdict_is_written_with_plain_numbers_and_reads_back_rounded() -> None:
    verdict = judged(make_case(*strangers(0, controls=20, items=60)))
    text = to_json(with_verdicts(verdict))
    (read,) = from_json(text).verdicts
    assert read.decision == verdict.decision
    assert read.sentence == verdict.sentence
    assert read.standings[0].value == pytest.approx(verdict.standings[0].value, abs=1e-6)
    assert to_json(with_verdicts(read)) == text


def test_an_unknown_decision_is_refused_with_its_place() -> None:
    (first, *_) = build_comparison().verdicts
    text = unsealed(to_json(with_verdicts(first))).text
    with pytest.raises(RunError) as caught:
        from_json(sealed(text.replace('"decision":"related"', '"decision":"perhaps"')))
    assert "at `verdicts.0.decision`" in caught.value.found
