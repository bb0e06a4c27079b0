"""Layers as curves and tables, and maps of the similar layers of two models."""

from dataclasses import replace

import pytest
from made_up_probe_comparison import estimate, findings

from reports.prose import plain
from reports.renderers.drawings import drawing
from scope.jobs.probe.page_layers import (
    MOST_WRITTEN,
    counterparts,
    curve_charts,
    layer_curves,
    layers_section,
    similarity_grid,
    similarity_section,
)
from scope.records import LayerAlignment, LayerScore, Undefined

GONE = Undefined(reason="one side is constant", n=750)


def score(layer, raw, *, encoded=None, lost=None, model="m"):
    return LayerScore(
        model=model,
        layer=layer,
        raw=GONE if raw is None else estimate(raw),
        encoded=None if encoded is None else estimate(encoded),
        lost=None if lost is None else estimate(lost, half=0.0078125),
    )


def test_no_layers_make_neither_section_nor_curve():
    assert layers_section(replace(findings(), layers=())) is None
    assert [*layer_curves((score(0, None),))] == []


def test_a_curve_is_cut_where_a_layer_is_undefined_or_lacking():
    (chart,) = curve_charts(
        (score(0, 0.25), score(1, None), score(2, 0.5), score(3, 0.5), score(5, 0.75))
    )
    assert [dot.x for dot in chart.dots] == [0, 2, 3, 5]
    assert len(drawing(chart).split("<polyline")) == 2
    assert chart.ends[0] == (-0.5, 5.5)


def test_both_panels_have_the_axes_that_hold_all_intervals():
    charts = curve_charts((score(0, 0.25, encoded=0.5), score(1, -0.125, encoded=0.625)))
    # -0.15625 to 0.65625.
    ends = [tuple(round(end, 9) for end in chart.ends[1]) for chart in charts]
    assert ends == [(-0.2, 0.7)] * 2


def test_the_table_has_what_was_measured_and_reasons():
    scores = (score(0, 0.25, lost=0.0625), score(1, None))
    (_, table) = layers_section(replace(findings(), layers=scores)).blocks
    first, last = (row.cells for row in table.rows)
    assert (first[1], first[2].value, first[3], first[4].value) == (0, "0.250", None, "0.062")
    assert (last[2].reason, last[4]) == ("one side is constant", None)


def aligned(values, *, margin=0.0625, chance=0.25):
    return LayerAlignment(
        first="a",
        second="b",
        sentences=40,
        values=values,
        margins=tuple((margin,) * len(row) for row in values),
        chance=chance,
    )


def words(one):
    """The sentence on a map."""
    section = similarity_section(replace(findings(), alignments=(one,)))
    return plain(section.blocks[2].text).replace("\N{NO-BREAK SPACE}", " ")


def test_the_counterpart_is_the_greatest_of_a_row():
    found = aligned(((0.5, 0.75, 0.6875, 0.6875), (0.25, 0.125, 0.125, 0.0)), margin=0.0625)
    first, second = counterparts(found)
    assert (first.best, first.value, first.above) == (1, 0.75, True)
    # No more than chance is no counterpart.
    assert (second.best, second.above) == (0, False)
    assert words(found) == (
        "Layer 0 of a and layer 1 of b are the most similar: CKA 0.750 ± 0.062 (40 sentences; "
        "chance 0.250). 1 of 2 layers of a are similar to a layer of b above chance."
    )


def test_backgrounds_begin_at_chance_and_end_at_the_greatest_number():
    found = similarity_grid(aligned(((0.125, 0.25, 0.5, 0.75),)))
    (_, cells) = found.rows[0]
    assert [cell.level for cell in cells] == [0, 0, 5, 10]
    assert (found.low, found.high) == (".25", ".75")


def test_numbers_near_chance_do_not_take_the_whole_scale():
    found = similarity_grid(aligned(((0.25, 0.3),)))
    assert [cell.level for cell in found.rows[0][1]] == [0, 2]


@pytest.mark.parametrize(("layers", "dense"), [(MOST_WRITTEN, False), (MOST_WRITTEN + 1, True)])
def test_many_layers_are_drawn_without_words(layers, dense):
    found = similarity_grid(aligned(((0.5,) * layers,) * layers))
    assert found.dense is dense
    assert len(found.columns) == len(found.rows) == layers


def test_a_map_without_layers_is_left_out():
    empty = replace(findings().alignments[0], values=(), margins=())
    assert similarity_section(replace(findings(), alignments=(empty,))) is None
