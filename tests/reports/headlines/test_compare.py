"""A comparison's headline sentences are carried by the numbers below them."""

from dataclasses import replace
from itertools import combinations

from headline_claims import (
    OVERLAPS,
    Claim,
    drawn,
    estimates,
    faults,
    overlapping,
    page_of,
    remarked,
    strays,
)
from hypothesis import given, strategies as st
from made_up_tasks_comparison import CHOICE, build_comparison, choice_answers

from scope.records import GOLD, Estimate, Measurement, TaskShares, Undefined


def pairs_of(facts):
    """The agreement of each pair of which no model is degenerate."""
    return [
        one.estimate
        for one in facts.measurements
        if one.metric == "agreement"
        and isinstance(one.estimate, Estimate)
        and not degenerate(facts).intersection((one.target, one.against))
    ]


def degenerate(facts):
    return {one.model for one in facts.task_shares if one.degenerate}


def is_degenerate(said, facts):
    return said.match["model"] in degenerate(facts)


def is_warned(said, facts):
    return said.match["model"] in {one.model for one in facts.task_shares if one.warning}


def ends(said, facts):
    every = pairs_of(facts)
    first = max(every, key=lambda one: one.value)
    # Of equal values the page shows the last.
    last = min(reversed(every), key=lambda one: one.value)
    return (
        [one.value for one in said.numbers] == [round(first.value, 3), round(last.value, 3)]
        and remarked(said, "first") == overlapping(first, every)
        and remarked(said, "last") == overlapping(last, every)
    )


def from_lowest(said, facts):
    """With the words of an order, the two ends of it are what stands there."""
    golden = [one.estimate.value for one in facts.measurements if one.against == GOLD]
    if said.match["order"] is None:
        return len(said.numbers) == len(golden)
    shown = [one.value for one in said.numbers]
    return shown == [round(min(golden), 3), round(max(golden), 3)]


CLAIMS = (
    Claim(
        r"On choice, the most similar are \w+ and \w+ with Agreement #"
        rf"{OVERLAPS.format('first')}, the least similar are \w+ and \w+ "
        rf"with #{OVERLAPS.format('last')}"
        r"\.",
        ends,
    ),
    Claim(r"On choice, between \w+ and \w+ Agreement is #\.", lambda _, f: len(pairs_of(f)) == 1),
    Claim(
        r"On choice, the similarity of the models is undefined: .+\.", lambda _, f: not pairs_of(f)
    ),
    Claim(
        r"On choice (?P<model>\w+) is degenerate: one answer; its numbers are no evidence\.",
        is_degenerate,
    ),
    Claim(r"Warning: of the answers of (?P<model>\w+) on choice, A makes up half\.", is_warned),
    Claim(
        r"Against gold \(Accuracy\)(?P<order>, from the lowest to the highest of \d+ models)?: "
        r"(\w+( \(degenerate\))? #[;.] ?)+",
        from_lowest,
    ),
)


@st.composite
def comparisons(draw):
    """Two to seven models with an agreement of each pair, which may be undefined."""
    number = draw(st.integers(2, 7))
    names = [f"m{place}" for place in range(number)]
    shares = estimates(0.3, 0.7)
    between = st.one_of(shares, shares, shares, st.just(Undefined(reason="none")))
    rows = [("accuracy", name, GOLD, draw(shares)) for name in names]
    rows += [("agreement", *pair, draw(between)) for pair in combinations(names, 2)]
    shares = [
        TaskShares(
            task=CHOICE,
            model=name,
            counts={"A": 3},
            asked=3,
            accuracy=Undefined(reason="no gold"),
            degenerate=draw(st.sampled_from((None, None, "one answer"))),
            warning=draw(st.sampled_from((None, "A makes up half"))),
        )
        for name in names
    ]
    whole = build_comparison()
    card = whole.manifest.models[0]
    task = choice_answers()
    return replace(
        whole,
        manifest=replace(
            whole.manifest,
            models=tuple(replace(card, name=name) for name in names),
            capabilities=whole.manifest.capabilities[1:2],
        ),
        task_shares=tuple(shares),
        tasks=(replace(task, answers=task.answers[:1] * number),),
        measurements=tuple(
            Measurement(
                metric=metric, target=target, against=against, capability=CHOICE, estimate=found
            )
            for metric, target, against, found in rows
        ),
        outcomes=(),
        differences=(),
    )


@drawn
@given(comparison=comparisons())
def test_the_most_alike_are_named_with_all_that_may_be_as_alike(parse, comparison):
    document = page_of(comparison, parse)
    assert not [*faults(document, CLAIMS, comparison)]
    assert not [*strays(document)]
