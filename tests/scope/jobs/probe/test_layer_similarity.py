"""Which layers of two models correspond, and how strong a map's backgrounds are."""

from dataclasses import replace

import pytest
from made_up_probe_comparison import findings

from reports.prose import plain
from scope.jobs.probe.layer_similarity import (
    MOST_WRITTEN,
    counterparts,
    similarity_grid,
    similarity_section,
)
from scope.records import LayerAlignment


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
