"""What is said of routing is carried by the numbers below it."""

from dataclasses import replace

from headline_claims import (
    Claim,
    below_zero,
    drawn,
    estimates,
    faults,
    holds_zero,
    page_of,
    strays,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from made_up_fleet_comparison import build_comparison, findings, findings_of

from scope.records.fleet import FEW_QUESTIONS


def gain_over(router, facts):
    """What stands in the table for the router's gain over this way of routing."""
    return next(one.gain for one in facts.routers if one.router == router)


def beats(router, facts):
    gain = gain_over(router, facts)
    return gain.n >= FEW_QUESTIONS and round(gain.low, 3) > 0


def costs(facts):
    router, single = facts.routers[:2]
    return router.cost, single.cost


def worth(said, facts):
    cost, of_single = costs(facts)
    return (
        beats("single best", facts)
        and beats("random with the same mix", facts)
        and (cost is None or of_single is None or cost <= of_single)
    )


def dearer(said, facts):
    cost, of_single = costs(facts)
    return (
        beats("single best", facts)
        and beats("random with the same mix", facts)
        and cost > of_single
        and (said.match["cost"], said.match["single"]) == (f"{cost:.4g}", f"{of_single:.4g}")
    )


CLAIMS = (
    Claim(
        r"The model that the router asks is right on # of the questions; always asking the single "
        r"best, \w+, is right on #; the difference is #\."
    ),
    Claim(
        r"Routing is worth it: it beats the single best model, and a random choice with the same "
        r"mix of models, beyond chance\.",
        worth,
    ),
    Claim(
        r"It beats the single best model, and a random choice with the same mix of models, beyond "
        r"chance, but a question costs (?P<cost>\S+) instead of (?P<single>\S+): whether it is "
        r"worth that, these numbers do not say\.",
        dearer,
    ),
    Claim(
        r"It beats the single best model, but a random choice with the same mix of models, at the "
        r"same cost, may be as good: that reading the question pays is not shown\.",
        lambda _, facts: (
            beats("single best", facts) and not beats("random with the same mix", facts)
        ),
    ),
    Claim(r"Routing loses to the single best model\.", lambda said, _: below_zero(said.before[-1])),
    Claim(
        r"The interval holds 0: routing and the single best model are not told apart\.",
        lambda said, _: holds_zero(said.before[-1]),
    ),
    Claim(r"For comparison, [\w ]+: #\."),
    Claim(
        r"These are too few questions to tell\.",
        lambda said, _: said.before[-1].n < FEW_QUESTIONS,
    ),
    Claim(r"All rests on [\d,]+ answers of \d+ models to [\d,]+ questions: [\d.]+ % .* known\."),
)

shares = estimates(0.3, 0.7)
gains = st.one_of(estimates(-0.05, 0.2), estimates(0.06, 0.3, least_n=FEW_QUESTIONS))


@settings(drawn, max_examples=120)
@given(
    gains=st.tuples(gains, gains, estimates()),
    accuracies=st.tuples(shares, shares, shares, shares),
    prices=st.sampled_from([(2.5, 1.0), (None, None), (1.0, 1.0), (0.5, 1.0), (1.0, None)]),
)
def test_routing_is_worth_it_only_by_both_intervals_and_at_no_higher_cost(
    parse, gains, accuracies, prices
):
    router, single, mixed, oracle = (
        replace(one, accuracy=accuracy)
        for one, accuracy in zip(findings().routers[:4], accuracies, strict=True)
    )
    facts = findings_of(
        routers=(
            replace(router, cost=prices[0]),
            replace(single, model="m1", gain=gains[0], cost=prices[1]),
            replace(mixed, gain=gains[1], cost=prices[0]),
            replace(oracle, gain=gains[2]),
        ),
    )
    document = page_of(build_comparison(facts), parse)
    assert not [*faults(document, CLAIMS, facts)]
    assert not [*strays(document)]
