"""The sections of the page on a probe."""

from made_up_probe_comparison import DEEP


def sections(page):
    return [node.attributes["id"] for node in page.all("section")]


def titled(words):
    """What pointing shows: the words of a drawing's title elements."""
    return [node.words for node in words.all("title")]


def test_each_section_is_linked_and_none_takes_an_id_that_the_script_looks_for(probe_document):
    found = sections(probe_document)
    assert found == [
        "answer",
        "asked",
        "steps",
        "layers",
        "alignments",
        "misjudged",
        "reproduce",
    ]
    links = [node.attributes["href"] for node in probe_document.all("nav")[0].all("a")]
    assert links == [f"#{name}" for name in found]
    assert not {"controls", "pairs", "search", "shown", "order"} & set(found)
    assert {node.attributes["href"] for node in probe_document.all("a")} == set(links)


def test_the_column_of_unseen_pairs_is_explained(probe_document):
    section = probe_document.section("steps")
    assert section.all("table")[0].cells()[0][2:4] == ["Pearson", "Unseen"]
    assert (
        "230 of the 750 test pairs share a sentence with the training or development pairs, which "
        "may inflate their correlation. Unseen is Pearson’s correlation on the 520 others: the "
        "estimate for new sentences."
    ) in section.words


def test_curves_show_every_defined_layer_and_name_it_where_pointed_at(probe_document):
    section = probe_document.section("layers")
    raw, encoded, lost_deep, lost_shallow = section.all("svg")
    assert len(titled(raw)) == 30 + 17
    assert len(titled(encoded)) == 30 + 18
    assert f"{DEEP}, layer 0: 0.164 [0.133, 0.195], n = 750" in titled(raw)
    assert (len(titled(lost_deep)), len(titled(lost_shallow))) == (30, 18)
    # Two of the second model's: before and after the layer without a number.
    assert len(raw.all("polyline")) == 3
    assert len(encoded.all("polyline")) == 2


def test_numbers_of_layers_that_were_picked_on_the_test_pairs_say_so(probe_document):
    words = probe_document.section("layers").words
    assert (
        "are calibrated to the range of human scores by a nonlinear function, so their Pearson "
        "correlation differs from that of the layer; Spearman’s does not."
    ) in words
    assert "These layers are selected on the test pairs" in words
    assert "The intervals are not corrected for the number of layers" in words
    assert "The contribution of the remaining layers is rescaled" in words
    assert "The layer with the largest decrease is selected on the test pairs" in words


def test_the_map_has_a_cell_for_each_two_layers_with_its_margin(probe_document):
    section = probe_document.section("alignments")
    grid, table = section.all("table")
    cells = grid.all("td")
    assert len(cells) == 30 * 18
    assert cells[5 * 18 + 3].attributes["title"] == "layers 5 and 3: 0.750 ± 0.031"
    assert cells[5 * 18 + 3].attributes["class"] == "h10"
    assert cells[0].attributes["class"] == "h0"
    assert table.cells()[6] == ["5", "3", "0.750", "0.031", "–"]
    assert table.cells()[1] == ["0", "0", "0.062 no more than chance", "0.031", "1–6"]


def test_every_strength_of_a_background_has_a_rule_in_the_style(probe_document):
    (style,) = probe_document.all("style")
    cells = probe_document.section("alignments").all("td")
    classes = {node.attributes.get("class") for node in cells} - {None, "num", "wrap", "h0"}
    assert "h10" in classes
    assert all(f".{name} {{" in style.text for name in classes)
