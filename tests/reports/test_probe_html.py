"""The sections of the page on a probe."""

from made_up_probe_comparison import DEEP, PROMPT, SHALLOW


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


def test_the_answer_is_told_in_words(probe_document):
    words = probe_document.section("answer").words
    assert (
        f"{DEEP}: the scores of the probe of its frozen layers (step final) have "
        "a Pearson correlation of 0.797 [0.766, 0.828] (n = 750) and a Spearman correlation "
        "of 0.789 [0.758, 0.820] (n = 750) with human scores. On unseen pairs, which share no "
        "sentence with the training or development pairs, the Pearson correlation is 0.781 "
        "[0.742, 0.820] (n = 520). The best raw layer on the development pairs (step raw) has a "
        "Pearson correlation of 0.688 [0.656, 0.719] (n = 750); the gain of each step is shown "
        "below."
    ) in words
    assert "(n = 750) with human scores, and no Spearman correlation: one side is constant" in words
    assert "did not help" not in words
    assert (
        f"The Pearson correlation of {SHALLOW} is higher than that of {DEEP} by 0.008 [−0.012, "
        "0.027] (n = 750). The interval includes 0: the difference may be chance. The two are "
        f"read at different positions ({SHALLOW} at the last token, {DEEP} "
        "at the last token of a prompt), which may also cause a difference."
    ) in words
    assert (
        "The results are based on 750 test pairs. The probes are trained on 3,010 pairs and "
        "selected on 820; 4,000 sentences without scores are used for pretraining. 230 of the test "
        "pairs share a sentence with those pairs; results on the 520 unseen pairs are shown below."
    ) in words
    assert "These differences are not corrected" not in words
    assert "They form 619 groups, and the intervals are from a jackknife over groups" in words
    assert "For steps with several seeds, the results are those of the first seed." in words


def test_what_was_asked_names_models_prompt_counts_rules_and_folders(probe_document):
    section = probe_document.section("asked")
    rows = section.all("table")[0].cells()
    assert rows[1] == [
        DEEP,
        f"hf:made-up/{DEEP}",
        "30",
        "576",
        "prompt",
        "bfloat16",
        "0123456789ab",
        "2",
    ]
    assert rows[2][2:6] == ["18", "640", "last", "float32"]
    assert [node.words for node in section.all("pre")] == [PROMPT]
    assert "3,010 for training, 820 for development, 750 for testing" in section.words
    assert "7,966 distinct ones in these pairs, and 4,000 without scores" in section.words
    assert (
        "230 test pairs share a sentence with the other pairs; the test pairs form 619"
        in section.words
    )
    assert "one left out" in section.words
    # The same two sentences may stand in two pairs: none is left out for that.
    assert "Duplicates" not in section.words
    assert section.all("table")[1].cells()[1][1:] == ["4,581", "4,580", "4,580", "1"]
    assert "probes/deep-final" in section.words


def test_the_steps_have_intervals_seeds_and_gains(probe_document):
    section = probe_document.section("steps")
    deep, shallow, _ = section.all("table")
    final = deep.cells()[5]
    assert final == [
        "final",
        "2,212,399",
        "0.797[0.766, 0.828]n = 7503 seeds: 0.797 ± 0.008",
        "0.781[0.742, 0.820]n = 520",
        "0.789[0.758, 0.820]n = 7503 seeds: 0.789 ± 0.000",
        "0.750[0.703, 0.797]n = 750",
        "+0.016[+0.004, +0.027]n = 750",
    ]
    raw = deep.cells()[1]
    assert raw[:3] == ["raw", "0", "0.688[0.656, 0.719]n = 750"]
    assert raw[6:] == ["–"]
    assert deep.cells()[0][6:] == ["Gain over previous step"]
    assert shallow.cells()[4][6] == "0.000[−0.012, +0.012]n = 750may be chance"
    assert shallow.cells()[5][4].startswith("undefinedone side is constant")
    assert shallow.cells()[5][4].endswith("2 of 3 seeds: 0.766 ± 0.022; 1 undefined")
    assert "Random steps are fitted with 3 seeds" in section.words
    assert "those of the first seed, and so is “may be chance”" in section.words
    assert "the intervals are not corrected for multiple comparisons" in section.words
    assert "seeds without a correlation are counted as undefined" in section.words
    assert "the cosine similarity of the best layer on the development pairs" in section.words
    assert "Some of these models are read at different positions of a text" in section.words


def test_the_column_of_unseen_pairs_is_explained(probe_document):
    section = probe_document.section("steps")
    assert section.all("table")[0].cells()[0][2:4] == ["Pearson", "Unseen"]
    assert (
        "230 of the 750 test pairs share a sentence with the training or development pairs, which "
        "may inflate their correlation. Unseen is Pearson’s correlation on the 520 others: the "
        "estimate for new sentences."
    ) in section.words


def test_differences_say_whether_they_may_be_chance(probe_document):
    *_, table = probe_document.section("steps").all("table")
    assert table.cells()[5] == [
        "raw",
        SHALLOW,
        DEEP,
        "−0.062",
        "[−0.082, −0.043]",
        "750",
    ]
    # Those of the last step come first.
    assert table.cells()[1][3:] == ["+0.008may be chance", "[−0.012, +0.027]", "750"]


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


def test_the_layers_stand_in_tables_with_reasons_for_what_is_undefined(probe_document):
    section = probe_document.section("layers")
    deep, shallow = section.all("table")
    assert deep.cells()[1] == [
        "0",
        "0.164[0.133, 0.195]n = 750",
        "0.289[0.266, 0.312]n = 750",
        "−0.002[−0.006, +0.002]n = 750",
    ]
    assert shallow.cells()[5][1] == "undefinedone side is constant <script>alert(1)</script>"
    assert (
        "the largest decrease is 0.010 [0.006, 0.014] (n = 750), without layer 6; "
    ) in section.words
    assert "the decrease is significant for 12 of 30 layers" in section.words


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


def test_the_map_is_told_in_words_with_sentences_and_chance(probe_document):
    words = probe_document.section("alignments").words
    assert "does not show that the layers compute the same" in words
    assert f"similar layers are layer 5 of {DEEP} and layer 3 of {SHALLOW}: 0.750 ± 0.031" in words
    assert "(n = 500 sentences)" in words
    assert f"Layers 0 to 9 of {DEEP} are most similar to layers 1 to 5 of {SHALLOW}" in words
    assert "the maximum of the map is below 0.094 in 95 of 100 permutations" in words
    assert "not that they share meaning" in words
    assert (
        f"Over 28 steps between consecutive layers of {DEEP} above chance, the most similar layer "
        f"of {SHALLOW} is a later one in 16, the same in 12 and an earlier one in 0."
    ) in words
    assert f"1 of 30 layers of {DEEP} is not similar to any layer of {SHALLOW}" in words


def test_misjudged_pairs_show_both_sentences_and_both_scores(probe_document):
    section = probe_document.section("misjudged")
    first = section.all("article")[0]
    texts = [node.words for node in first.all("p")]
    assert texts[1:] == [
        "The lamp is lit. <script>alert(1)</script>",
        "The lamp is not lit. javascript:window.injected=1",
        "human 0.50, probe 4.12, difference +3.62",
    ]


def test_every_strength_of_a_background_has_a_rule_in_the_style(probe_document):
    (style,) = probe_document.all("style")
    cells = probe_document.section("alignments").all("td")
    classes = {node.attributes.get("class") for node in cells} - {None, "num", "wrap", "h0"}
    assert "h10" in classes
    assert all(f".{name} {{" in style.text for name in classes)
