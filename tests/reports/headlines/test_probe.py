"""A probe's answer is carried by the numbers below it."""

import re
from dataclasses import replace

from headline_claims import drawn, estimates, page_of
from hypothesis import given, strategies as st
from made_up_probe_comparison import build_comparison, findings

from scope.records import ProbeDifference

WORDS = {"more": "✓", "unclear": "?", "less": "✗"}


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
def test_signs_follow_the_intervals_of_gains_and_differences(parse, found):
    answer = page_of(build_comparison(found), parse).section("answer")
    signs = re.findall(r"[✓?✗] (?=alpha|beta|gamma)", answer.words)
    gains = [one.gain for one in found.scores if one.step == "final"]
    assert len(signs) in (0, len(gains))
    assert all(WORDS[gain.side] == sign.strip() for gain, sign in zip(gains, signs, strict=False))
    said = [item.words for item in answer.all("li")]
    unclear = [one.pearson.side == "unclear" for one in found.differences[:3]]
    assert ["is not shown to predict better" in words for words in said[:3]] == unclear


@drawn
@given(found=probes())
def test_every_number_of_the_answer_is_one_of_the_findings(parse, found):
    words = page_of(build_comparison(found), parse).section("answer").words
    shown = re.findall(r"(−?\d\.\d\d) \[(−?\d\.\d\d), (−?\d\.\d\d)\]", words)
    assert shown
    known = [
        *(number for one in found.scores for number in (one.pearson, one.spearman, one.gain)),
        *(number for one in found.layers for number in (one.raw, one.encoded)),
        *(one.pearson for one in found.differences),
    ]
    both = [
        (sign * one.value, sign * one.low, sign * one.high)
        for one in known
        if one
        for sign in (1, -1)
    ]
    rounded = [sorted(round(number, 2) + 0.0 for number in three) for three in both]
    for three in shown:
        assert sorted(float(one.replace("−", "-")) for one in three) in rounded
