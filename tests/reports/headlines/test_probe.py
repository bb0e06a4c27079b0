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
from hypothesis import given, strategies as st
from made_up_probe_comparison import build_comparison, findings

from scope.records import ProbeDifference

MANY = r"These differences are not corrected for multiple comparisons\."


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
    return above_zero(said.numbers[0]) and (alone or "significant" not in said.match[0])


CLAIMS = (
    Claim(
        r"\w+: .*\(step \w+\) have a Pearson correlation of # and a Spearman correlation of # "
        r"with human scores\."
    ),
    Claim(
        r"The best raw layer on the development pairs \(step raw\) has a Pearson correlation of "
        r"#; (the gain by training is #|the gain of each step is shown below)\."
    ),
    Claim(r"The interval excludes 0\.", lambda said, _: above_zero(said.before[-1])),
    Claim(
        r"The interval includes 0: the (gain|difference) may be chance\.",
        lambda said, _: holds_zero(said.before[-1]),
    ),
    Claim(
        r"Training did not help here: the correlation of the step final is significantly lower "
        r"than that of raw; [\d,]+ pairs may be too few for training\.",
        lambda said, _: below_zero(said.before[-1]),
    ),
    Claim(
        r"Training is not shown to help here: the correlation of the step final is lower than that "
        r"of raw; [\d,]+ pairs may be too few for training\.",
        lambda _, facts: any(lowered(facts)),
    ),
    Claim(
        r"Of its \d+ raw layers, layer \d+ has the highest correlation: #, slightly optimistic "
        r"because the layer is selected on the test pairs"
        r"(?:; the intervals? of (?P<layers>\d+) others? overlaps? with it)?\.",
        highest,
    ),
    Claim(
        r"Combining all layers did not help here: layer \d+, as encoded by the probe, has a "
        r"Pearson correlation of #, higher than all layers together, without overlap of the "
        r"intervals; it is slightly optimistic because the layer is selected on the test pairs\.",
        apart,
    ),
    Claim(
        r"The Pearson correlation of \w+ is higher than that of \w+ by #\.",
        lambda said, _: holds_zero(said.numbers[0]),
    ),
    Claim(
        r"The layers of \w+ predict human scores better than those of \w+: the Pearson correlation "
        r"on the same pairs is higher by #, (a significant difference|and the interval is above 0)"
        r"\.",
        better,
    ),
    Claim(MANY, lambda _, facts: len(facts.differences) > 1),
    Claim(r"The results are based on [\d,]+ test pairs\."),
    Claim(r"The probes? (is|are) trained on [\d,]+ (other )?pairs and selected on [\d,]+\."),
    Claim(r"No test pair shares a sentence with those\."),
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
