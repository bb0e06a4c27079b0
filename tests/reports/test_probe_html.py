"""The page on a probe, of everything that it can find and of little."""

from dataclasses import replace

from kept_results import kept

from scope.records import LayerAlignment, Undefined

FINDINGS = kept("probe").findings
DEEP, SHALLOW = (model.name for model in FINDINGS.models)

BARE = replace(
    FINDINGS,
    models=FINDINGS.models[:1],
    scores=FINDINGS.scores[:1],
    layers=FINDINGS.layers[:1],
    differences=(),
    alignments=(),
    misjudged=FINDINGS.misjudged[:1],
    notes=(),
    files=(),
)


def sections(page):
    return [node.attributes["id"] for node in page.all("section")]


def titled(words):
    """What pointing shows: the words of a drawing's title elements."""
    return [node.words for node in words.all("title")]


def test_curves_show_every_defined_layer_and_name_it_where_pointed_at(documents):
    (raw,) = documents["probe"].section("answer").all("svg")
    assert len(titled(raw)) == 30 + 17
    assert f"{DEEP}, layer 0: 0.164 [0.133, 0.195] (n = 750)" in titled(raw)
    # Two of the second model's: before and after the layer without a number.
    assert len(raw.all("polyline")) == 3


def test_one_model_and_one_step_make_a_page_with_every_section(parse):
    page = parse(kept("probe", findings=BARE).html())
    assert sections(page) == [
        *("answer", "wrong", "steps", "layers", "limits", "asked", "reproduce")
    ]
    assert "People’s scores are followed with r" in page.section("answer").words


def test_everything_undefined_still_makes_a_page(parse):
    gone = Undefined(reason="one side is constant", n=750)
    found = FINDINGS
    undefined = replace(
        found,
        scores=tuple(
            replace(one, pearson=gone, spearman=gone, unseen=gone, error=gone, gain=gone)
            for one in found.scores
        ),
        layers=tuple(replace(one, raw=gone, encoded=gone, lost=gone) for one in found.layers),
        differences=tuple(replace(one, pearson=gone) for one in found.differences),
    )
    answer = parse(kept("probe", findings=undefined).html()).section("answer")
    assert answer.all("svg") == []
    assert "follows people’s scores with r = undefined" in answer.words
    assert "the difference of r is undefined (one side is constant)" in answer.words


def test_a_page_on_hundreds_of_layers_has_colours_alone_and_stays_small_enough_to_open(parse):
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
    layers = tuple(replace(FINDINGS.layers[0], layer=place) for place in range(depth))
    page = kept("probe", findings=replace(BARE, layers=layers, alignments=(wide,))).html()
    assert len(page) < 1_500_000
    grid = parse(page).section("layers").all("table")[1]
    cells = grid.all("td")
    assert len(cells) == depth**2
    assert {node.words for node in cells} == {""}
    assert cells[3].attributes["title"] == "0, 3: 0.969 [0.906, 1.031] (n\u00a0=\u00a0500)"
    assert [node.words for node in grid.all("thead")[0].all("th")][1:12] == ["0", *[""] * 9, "10"]
