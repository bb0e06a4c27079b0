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
from hypothesis import given, settings, strategies as st
from made_up_fleet_comparison import bare, routers

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
        r"The router answers # of the questions correctly; the single best model, \w+, answers #; "
        r"the difference is #\."
    ),
    Claim(
        r"Routing pays: it is significantly better than the single best model and than a random "
        r"choice with the same mix of models\.",
        worth,
    ),
    Claim(
        r"Routing is significantly better than the single best model and than a random choice with "
        r"the same mix of models, but a question costs (?P<cost>\S+) instead of (?P<single>\S+)\.",
        dearer,
    ),
    Claim(
        r"Routing is significantly better than the single best model, but not than a random choice "
        r"with the same mix of models at the same cost: a benefit of reading the question is not "
        r"shown\.",
        lambda _, facts: (
            beats("single best", facts) and not beats("random with the same mix", facts)
        ),
    ),
    Claim(
        r"Routing is worse than the single best model\.",
        lambda said, _: below_zero(said.before[-1]),
    ),
    Claim(
        r"The interval includes 0: the router and the single best model are not distinguishable\.",
        lambda said, _: holds_zero(said.before[-1]),
    ),
    Claim(r"For comparison, [\w ]+: #\."),
    Claim(
        r"There are too few questions for a conclusion\.",
        lambda said, _: said.before[-1].n < FEW_QUESTIONS,
    ),
    Claim(
        r"The results are based on [\d,]+ answers of \d+ models to [\d,]+ questions: [\d.]+ % .* "
        r"known\."
    ),
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
        for one, accuracy in zip(routers()[:4], accuracies, strict=True)
    )
    facts = bare(
        "fleet-route",
        routers=(
            replace(router, cost=prices[0]),
            replace(single, model="m1", gain=gains[0], cost=prices[1]),
            replace(mixed, gain=gains[1], cost=prices[0]),
            replace(oracle, gain=gains[2]),
        ),
    )
    document = page_of(facts, parse)
    assert not [*faults(document, CLAIMS, facts)]
    assert not [*strays(document)]
