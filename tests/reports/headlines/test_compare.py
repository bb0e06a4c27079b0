"""A comparison's headline sentences are carried by the numbers below them."""

import re
from dataclasses import replace
from itertools import combinations

from headline_claims import drawn, estimates, overlapping
from hypothesis import given, strategies as st
from made_up_tasks_comparison import CHOICE, build_comparison, choice_answers

from reports.prose import plain, together
from reports.wording import short, short_share
from scope.jobs.compare.page import remarks, sentences
from scope.jobs.compare.task_estimates import task_estimates
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
def test_the_most_alike_are_named_with_all_that_may_be_as_alike(comparison):
    (task,) = task_estimates(comparison)
    line = plain(together(*sentences(task)))
    every = pairs_of(comparison)
    if not every:
        assert line.startswith("On choice no two models can be compared: ")
    elif len(comparison.manifest.models) - len(degenerate(comparison)) == 2:
        assert f"the same answer to {short_share(every[0])} of {every[0].n} questions" in line
    else:
        # Of equal values the first is the most similar, and the last the least.
        most = max(every, key=lambda one: one.value)
        least = min(reversed(every), key=lambda one: one.value)
        first, last = line.split(" The least similar are ")
        for words, one in ((first, most), (last, least)):
            assert f" with {short(one)}" in words
            rivals = overlapping(one, every)
            assert (f"of {rivals} other pair" in words) is bool(rivals)


@drawn
@given(comparison=comparisons())
def test_a_degenerate_model_is_named_as_such_and_in_no_sentence(comparison):
    (task,) = task_estimates(comparison)
    words = re.findall(r"m\d", plain(together(*sentences(task))))
    assert not degenerate(comparison).intersection(words)
    lines = " ".join(map(plain, remarks(comparison, CHOICE)))
    assert degenerate(comparison) <= set(re.findall(r"m\d", lines))
