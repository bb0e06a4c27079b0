"""An audit's headline sentences are carried by the numbers below them."""

import json
import re
from dataclasses import replace

from headline_claims import drawn, estimates, page_of
from hypothesis import given, strategies as st
from made_up_comparison import build_comparison

from scope.records import AnswerShares, Measurement, Outcome, Undefined

TARGETS = ("alpha", "beta")


def degenerate(facts):
    return {one.model for one in facts.answer_shares if one.degenerate is not None}


def comparison_of(hard, agreements, dead_ones, flips=None):
    """An audit of as many targets, of which some are degenerate."""
    whole = build_comparison()
    cards = whole.manifest.models
    reference, first = cards[:2]
    named = tuple(replace(first, name=name) for name in TARGETS)
    capability = replace(whole.manifest.capabilities[1], name="typo")
    measured = [("hard_scope", "typo", hard), ("iid_agreement", None, agreements)]
    if flips is not None:
        measured += [("excess", "typo", flips), ("concordance", "typo", flips)]
    return replace(
        whole,
        manifest=replace(
            whole.manifest, models=(reference, *named), capabilities=(capability,), settings={}
        ),
        measurements=tuple(
            Measurement(metric=metric, target=target, capability=where, estimate=found)
            for metric, where, values in measured
            for target, found in zip(TARGETS, values, strict=True)
        ),
        answer_shares=tuple(
            AnswerShares(
                model=target,
                counts={"positive": 4},
                accuracy=found,
                degenerate="one answer" if gone else None,
            )
            for target, found, gone in zip(TARGETS, agreements, dead_ones, strict=True)
        ),
        outcomes=(),
        candidate_outcomes=()
        if flips is None
        else (Outcome(capability="typo", status="measured"),),
        differences=(),
        curves=(),
        perturbations=(),
        examples=(),
    )


shares = estimates(0.3, 0.7)
audits = st.builds(
    comparison_of,
    st.tuples(shares, st.one_of(shares, st.just(Undefined(reason="nothing is kept")))),
    st.tuples(shares, shares),
    st.tuples(st.booleans(), st.booleans()),
    st.one_of(
        st.none(),
        st.tuples(shares, st.one_of(shares, st.just(Undefined(reason="nothing is kept")))),
    ),
)


@drawn
@given(audit=audits)
def test_every_number_of_the_picture_stands_among_the_estimates(parse, audit):
    document = page_of(audit, parse)
    shown = re.findall(r"(\d\.\d\d) \[(\d\.\d\d), (\d\.\d\d)\]", document.section("answer").words)
    assert shown
    measured = {
        tuple(
            f"{number:.2f}" for number in (one.estimate.value, one.estimate.low, one.estimate.high)
        )
        for one in audit.measurements
        if not isinstance(one.estimate, Undefined)
    }
    assert set(shown) <= measured


@drawn
@given(audit=audits)
def test_degenerate_targets_are_marked_wherever_their_numbers_stand(parse, audit):
    gone = degenerate(audit)
    printed, kept = str(audit), json.loads(audit.to_json())
    page = page_of(audit, parse)
    listed = {row[2] for row in page.section("estimates").cells() if len(row) > 3} - {"Model"}
    assert {one["model"] for one in kept["answer_shares"] if one["degenerate"]} == gone
    for target in TARGETS:
        marked = f"{target} (degenerate)"
        assert (f"degenerate: {target}: one answer; its numbers" in printed) == (target in gone)
        assert (marked in listed, target in listed) == (target in gone, target not in gone)
        reasons = {
            one.reason for one in audit.rows() if one.target == target and one.metric != "accuracy"
        }
        assert (
            (reasons == {"degenerate: one answer"})
            or target not in gone
            or "nothing" in str(reasons)
        )
