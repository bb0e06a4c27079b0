"""A probe's headline sentences are carried by the numbers below them."""

from dataclasses import replace

from headline_claims import (
    Claim,
    above_zero,
    below_zero,
    drawn,
    estimates,
    faults,
    holds_zero,
    overlapping,
    page_of,
    remarked,
    strays,
)
from hypothesis import given
from hypothesis import strategies as st
from made_up_probe_comparison import build_comparison, findings

from scope.records import ProbeDifference

MANY = (
    r"These differences are not corrected for their number: the more there are, the sooner one "
    r"lies beyond chance by chance\."
)


def number_of(facts, step):
    return next(one.pearson for one in facts.scores if one.step == step)


def lowered(facts):
    """Of which models the last step stands below the first one."""
    for raw, last in zip(facts.scores[::2], facts.scores[1::2], strict=True):
        yield last.pearson.value < raw.pearson.value


def highest(said, facts):
    every = [one.raw for one in facts.layers]
    best = max(every, key=lambda one: one.value)
    return said.numbers[0].value == round(best.value, 3) and remarked(
        said, "layers"
    ) == overlapping(best, every)


def apart(said, facts):
    """By what is shown the intervals may touch, by the last digit."""
    return said.numbers[0].low >= round(number_of(facts, "final").high, 3)


def better(said, facts):
    alone = len(facts.differences) == 1
    return above_zero(said.numbers[0]) and (alone or "more than chance" not in said.match[0])


CLAIMS = (
    Claim(
        r"\w+: .*\(step \w+\),? gives scores that follow people’s with a Pearson "
        r"correlation of # and a Spearman correlation of #\."
    ),
    Claim(
        r"One layer as it is, the best on the development pairs \(step raw\), has a Pearson "
        r"correlation of #; (training added #|what each step adds stands step by step below, with "
        r"intervals)\."
    ),
    Claim(r"That is more than chance explains\.", lambda said, _: above_zero(said.before[-1])),
    Claim(r"The interval holds 0: it may be chance\.", lambda said, _: holds_zero(said.before[-1])),
    Claim(
        r"Training did not help here: the step final follows people less than raw, by more than "
        r"chance explains; [\d,]+ pairs may be too few to learn from\.",
        lambda said, _: below_zero(said.before[-1]),
    ),
    Claim(
        r"It is not shown that training helped here: the number of the step final is below that of "
        r"raw; [\d,]+ pairs may be too few to learn from\.",
        lambda _, facts: any(lowered(facts)),
    ),
    Claim(
        r"Of its \d+ layers by themselves, as they are, layer \d+ has the highest correlation: #, "
        r"a little too high a number for having been picked on these same pairs"
        r"(?:; the intervals? of (?P<layers>\d+) others? overlaps? with it)?\.",
        highest,
    ),
    Claim(
        r"Weighing all layers did not help here: layer \d+ by itself, as the probe encodes it, "
        r"follows people with # of Pearson’s, more than all layers together, by intervals that lie "
        r"apart; having been picked on these same pairs, its number is a little too high\.",
        apart,
    ),
    Claim(
        r"The probe of \w+ is ahead of that of \w+ by #\.", lambda s, _: holds_zero(s.numbers[0])
    ),
    Claim(
        r"The interval holds 0: that may be chance, and whose layers follow people better is not "
        r"told apart\.",
        lambda said, _: holds_zero(said.before[-1]),
    ),
    Claim(
        r"The layers of \w+ follow people better than those of \w+, by # of Pearson’s correlation "
        r"on the same pairs: (more than chance explains|the interval lies above 0)\.",
        better,
    ),
    Claim(MANY, lambda _, facts: len(facts.differences) > 1),
    Claim(r"All rests on [\d,]+ test pairs\."),
    Claim(r"The probes? learned from [\d,]+ (other )?pairs and (was|were) chosen on [\d,]+\."),
    Claim(r"No test pair holds a sentence of those\."),
)


@st.composite
def probes(draw):
    """One to three models, each with a raw and a last step, their layers and differences."""
    names = ["alpha", "beta", "gamma"][: draw(st.integers(1, 3))]
    whole, model = findings(), findings().models[0]
    correlations, some = estimates(0.2, 0.6), draw(st.booleans())
    first, *_, last = whole.scores[:5]
    scores = []
    for name in names:
        raw, final = draw(correlations), draw(correlations)
        gap, half = final.value - raw.value, draw(st.sampled_from([0.0, 0.01, 0.2]))
        gain = replace(raw, value=gap, low=gap - half, high=gap + half)
        steps = (replace(first, pearson=raw), replace(last, pearson=final, gain=gain))
        scores += [replace(one, model=name) for one in (steps if some else steps[1:])]
    layers = [
        replace(whole.layers[0], model=name, layer=place, raw=draw(correlations), encoded=one)
        for name in names[:1]
        for place, one in enumerate(draw(st.lists(correlations, max_size=4)))
    ]
    differences = [
        ProbeDifference(step="final", first=one, second=other, pearson=draw(estimates()))
        for place, one in enumerate(names)
        for other in names[place + 1 :]
    ]
    return replace(
        whole,
        models=tuple(replace(model, name=name) for name in names),
        scores=tuple(scores),
        layers=tuple(layers),
        differences=tuple(differences),
        alignments=(),
        misjudged=(),
        unseen=whole.test,
        unlabelled=0,
    )


@drawn
@given(found=probes())
def test_what_training_and_layers_do_is_said_only_by_intervals(parse, found):
    document = page_of(build_comparison(found), parse)
    assert not [*faults(document, CLAIMS, found)]
    assert not [*strays(document)]
