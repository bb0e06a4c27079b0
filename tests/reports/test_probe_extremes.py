"""Pages on probes with little in them, or very much."""

from dataclasses import replace

import pytest
from made_up_probe_comparison import DEEP, SHALLOW, build_comparison, estimate, findings

from scope.records import LayerAlignment, ProbeFindings, Undefined

BARE = replace(
    findings(),
    models=findings().models[:1],
    scores=findings().scores[:1],
    layers=(),
    differences=(),
    alignments=(),
    misjudged=(),
    notes=(),
    files=(),
)


@pytest.fixture
def render(parse):
    def rendered(found):
        return parse(build_comparison(found).html())

    return rendered


def sections(page):
    return [node.attributes["id"] for node in page.all("section")]


def titled(words):
    """What pointing shows: the words of a drawing's title elements."""
    return [node.words for node in words.all("title")]


def test_one_model_and_one_step_make_a_page_without_empty_sections(render):
    page = render(BARE)
    assert sections(page) == ["answer", "asked", "steps", "reproduce"]
    words = page.section("answer").words
    assert (
        "the scores of its best raw layer on the development pairs (step raw) have a Pearson "
        "correlation of 0.688"
    ) in words
    assert "gain by training" not in words
    assert "The probe is trained on 3,010 pairs and selected on 820" in words
    assert "230 of the test pairs share a sentence with those pairs" in words
    steps = page.section("steps")
    assert steps.all("svg") == []
    assert "seeds" not in steps.words


def test_where_no_sentence_was_met_before_nothing_is_said_of_unseen_pairs(render):
    page = render(replace(BARE, unseen=750, groups=750))
    words = page.section("answer").words
    assert "The probe is trained on 3,010 other pairs and selected on 820" in words
    assert "No test pair shares a sentence with those." in words
    assert (
        "No two test pairs share a sentence; the intervals are from a jackknife over pairs" in words
    )
    assert "nseen" not in words + page.section("steps").words


def test_where_every_test_pair_holds_a_sentence_met_before_it_is_said_once(render):
    none = Undefined(reason="every test pair was met", n=0)
    page = render(replace(BARE, unseen=0, scores=(replace(BARE.scores[0], unseen=none),)))
    words = page.section("answer").words
    assert "there is no Pearson correlation: every test pair was met." in words
    assert "Every test pair shares a sentence with those pairs" in words
    assert "No pair is unseen, so there is no estimate" in page.section("steps").words


def test_several_differences_between_models_are_said_to_be_uncorrected(render):
    one = findings().differences[4]
    found = replace(findings(), differences=(one, replace(one, first="a third")))
    words = render(found).section("answer").words
    assert "These differences are not corrected for multiple comparisons" in words


def test_a_saved_probe_says_that_nothing_was_learned(render):
    score = replace(findings().scores[4], gain=None, pearsons=(0.75,), spearmans=(0.75,))
    saved = replace(
        BARE, train=0, development=0, unlabelled=0, scores=(score,), layers=findings().layers[:30]
    )
    page = render(saved)
    words = page.section("answer").words
    assert "A saved probe is evaluated on 750 pairs; whether it was trained on some" in words
    assert "3,010" not in words
    assert "nseen" not in words + page.section("steps").words
    assert "share a sentence with the other" not in page.section("asked").words
    assert "30 raw layers, layer 17 has the highest correlation" in words
    assert "750 to evaluate a saved probe" in page.section("asked").words


def test_nothing_scored_is_said(render):
    empty = ProbeFindings(
        train=0,
        development=0,
        test=0,
        unseen=0,
        groups=0,
        sentences=0,
        unlabelled=0,
        low=0.0,
        high=5.0,
        models=(),
        scores=(),
    )
    page = render(empty)
    assert sections(page) == ["answer", "asked", "reproduce"]
    assert "No probe is scored." in page.section("answer").words


def test_everything_undefined_still_makes_a_page(render):
    gone = Undefined(reason="one side is constant", n=750)
    found = findings()
    page = render(
        replace(
            found,
            scores=tuple(
                replace(one, pearson=gone, spearman=gone, unseen=gone, error=gone, gain=gone)
                for one in found.scores
            ),
            layers=tuple(replace(one, raw=gone, encoded=gone, lost=gone) for one in found.layers),
            differences=tuple(replace(one, pearson=gone) for one in found.differences),
        )
    )
    assert page.section("layers").all("svg") == []
    assert "no raw layer has a correlation" in page.section("layers").words
    assert page.section("steps").all("svg") == []
    assert "is undefined: one side is constant" in page.section("answer").words


def test_one_layer_is_a_mark_with_its_interval(render):
    layer = replace(findings().layers[0], encoded=None, lost=None)
    section = render(replace(BARE, layers=(layer,))).section("layers")
    (drawing,) = section.all("svg")
    assert titled(drawing) == [f"{DEEP}, layer 0: 0.164 [0.133, 0.195], n = 750"]
    assert drawing.all("polyline") == []
    assert section.all("table")[0].cells()[0] == ["Layer", "Raw", "Interval", "n"]


def test_a_map_of_many_layers_has_colours_alone_and_the_numbers_where_pointed_at(render):
    depth = 96
    wide = LayerAlignment(
        first=DEEP,
        second=SHALLOW,
        sentences=500,
        values=tuple(
            tuple(1 - abs(one - two) / depth for two in range(depth)) for one in range(depth)
        ),
        margins=((0.0625,) * depth,) * depth,
        chance=0.125,
    )
    section = render(replace(BARE, alignments=(wide,))).section("alignments")
    grid = section.all("table")[0]
    cells = grid.all("td")
    assert len(cells) == depth**2
    assert {node.words for node in cells} == {""}
    assert cells[3].attributes["title"] == "layers 0 and 3: 0.969 ± 0.062"
    assert [node.words for node in grid.all("thead")[0].all("th")][1:12] == ["0", *[""] * 9, "10"]
    assert "9,216 numbers are in result.json" in section.words


def test_a_page_on_hundreds_of_layers_stays_small_enough_to_open():
    depth = 300
    found = findings()
    layers = tuple(replace(found.layers[place % 4], layer=place) for place in range(depth))
    values = tuple(((place % 7) / 8,) * depth for place in range(depth))
    alignment = replace(found.alignments[0], values=values, margins=((0.03125,) * depth,) * depth)
    page = build_comparison(replace(found, layers=layers, alignments=(alignment,))).html()
    assert "One of every 3 layers is shown." in page
    assert len(page) < 4_000_000


FEW, FLAT = Undefined(reason="fewer than 4 pairs", n=3), Undefined(reason="one side is constant")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"pearson": FEW, "spearman": FEW},
            "have no correlation with human scores, neither Pearson’s nor Spearman’s: "
            "fewer than 4 pairs.",
        ),
        (
            {"pearson": FEW, "spearman": FLAT},
            "have no Pearson correlation with human scores (fewer than 4 pairs) and no "
            "Spearman correlation (one side is constant).",
        ),
        ({"pearson": FEW}, "human scores, and no Pearson correlation: fewer than 4 pairs."),
        ({"spearman": FEW}, "human scores, and no Spearman correlation: fewer than 4 pairs."),
    ],
)
def test_a_correlation_that_is_undefined_is_told_as_a_sentence(render, changes, told):
    words = render(replace(BARE, scores=(replace(BARE.scores[0], **changes),)))
    assert told in words.section("answer").words
    assert "correlation of undefined" not in words.section("answer").words


def test_an_undefined_raw_step_and_gain_are_told_as_sentences(render):
    raw, last = findings().scores[0], findings().scores[4]
    words = (
        render(replace(BARE, scores=(replace(raw, pearson=FEW), replace(last, gain=FEW))))
        .section("answer")
        .words
    )
    assert (
        "The best raw layer on the development pairs (step raw) has no Pearson "
        "correlation: fewer than 4 pairs. The gain by training is unknown: fewer than 4 pairs."
    ) in words


def test_training_that_lowers_the_correlation_did_not_help(render):
    raw, *_, last = findings().scores[:5]
    lower = replace(last, pearson=estimate(0.5), gain=estimate(-0.1875))

    def words(*scores, **changes):
        return render(replace(BARE, scores=scores, **changes)).section("answer").words

    said = words(raw, lower, train=12)
    assert (
        "the gain by training is −0.188 [−0.219, −0.156] (n = 750). Training did not help here: "
        "the correlation of the step final is significantly lower than that of raw; 12 pairs may "
        "be too few for training."
    ) in said
    unclear = words(raw, replace(lower, gain=estimate(-0.015625)))
    assert (
        "may be chance. Training is not shown to help here: the correlation of the step final is "
        "lower than that of raw; 3,010 pairs"
    ) in unclear
    assert "help" not in words(raw, last)


def test_one_encoded_layer_that_is_ahead_of_the_whole_probe_is_named(render):
    last = replace(findings().scores[4], pearson=estimate(0.25), gain=None)
    layers = findings().layers[:30]
    words = render(replace(BARE, scores=(last,), layers=layers)).section("answer").words
    # Layer 17 has the greatest number of all, 0.25 + 63 / 128 as the probe encodes it.
    assert (
        "Combining all layers did not help here: layer 17, as encoded by the probe, has a Pearson "
        "correlation of 0.742 [0.719, 0.766] (n = 750)"
    ) in words


def test_models_with_different_prompts_are_caveated_and_equally_read_ones_are_not(render):
    deep, shallow = findings().models
    prompted = replace(shallow, readout="prompt", prompt="another {}")
    page = render(replace(findings(), models=(deep, prompted)))
    assert "The two are read with different prompts, which may" in page.section("answer").words
    alike = render(replace(findings(), models=(deep, replace(prompted, prompt=deep.prompt))))
    assert "The two are read" not in alike.section("answer").words
    assert "are read at different positions" not in alike.section("steps").words
