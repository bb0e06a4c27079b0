"""Which layers of two models correspond, and how strong a map's backgrounds are."""

from dataclasses import replace

import pytest
from made_up_probe_comparison import findings

from scope.jobs.probe.layer_similarity import (
    MOST_DRAWN_LAYERS,
    MOST_WRITTEN,
    Moves,
    counterparts,
    moves_between,
    similarity_grid,
    similarity_section,
    thirds,
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
    """The bullets of a map."""
    section = similarity_section(replace(findings(), alignments=(one,)))
    bullets = section.blocks[2]
    return [
        "".join(span.text for span in item).replace("\N{NO-BREAK SPACE}", " ")
        for item in bullets.items
    ]


def test_the_counterpart_is_the_greatest_of_a_row_with_its_rivals():
    found = aligned(((0.5, 0.75, 0.6875, 0.6875), (0.25, 0.125, 0.125, 0.0)), margin=0.0625)
    first, second = counterparts(found)
    assert (first.best, first.value, first.rivals, first.above) == (1, 0.75, (2, 3), True)
    # No more than chance is no counterpart.
    assert (second.best, second.above) == (0, False)
    most, *_, last = words(found)
    assert most == (
        "The most similar layers are layer 0 of a and layer 1 of b: 0.750 ± 0.062 (n = 40 "
        "sentences)."
    )
    assert last.endswith("1 of 2 layers of a is not similar to any layer of b above chance.")


def test_backgrounds_begin_at_chance_and_end_at_the_greatest_number():
    found = similarity_grid(aligned(((0.125, 0.25, 0.5, 0.75),)))
    (_, cells) = found.rows[0]
    assert [cell.level for cell in cells] == [0, 0, 5, 10]
    assert (found.low, found.high) == (".25", ".75")


def test_numbers_near_chance_do_not_take_the_whole_scale():
    found = similarity_grid(aligned(((0.25, 0.3),)))
    assert [cell.level for cell in found.rows[0][1]] == [0, 2]


ROWS = {
    0: (0.5, 0.0, 0.0),
    1: (0.0, 0.5, 0.0),
    2: (0.0, 0.0, 0.5),
    None: (0.125, 0.0, 0.0),
}
"""By the layer that is most like it; the last is like none beyond chance."""


@pytest.mark.parametrize(
    ("best", "moves"),
    [
        # On, the same, back, on, on again.
        ((0, 1, 1, 0, 1, 2), Moves(later=3, same=1, earlier=1)),
        # One counterpart for all is no order.
        ((1, 1, 1, 1), Moves(later=0, same=3, earlier=0)),
        # Over a layer without a counterpart to the next that has one: no step back to 0.
        ((1, None, 2, None), Moves(later=1, same=0, earlier=0)),
        ((2, None, None), None),
    ],
)
def test_moves_of_the_counterpart_are_counted_over_layers_that_have_one(best, moves):
    found = aligned(tuple(ROWS[place] for place in best))
    assert moves_between(counterparts(found)) == moves
    assert any("between consecutive layers" in one for one in words(found)) is bool(moves)


def test_thirds_of_a_model_have_the_range_of_their_counterparts():
    rows = tuple(tuple(0.5 if place == best else 0.0 for place in range(6)) for best in range(6))
    assert [one for one in words(aligned(rows)) if one.startswith("Layers")] == [
        "Layers 0 to 1 of a are most similar to layers 0 to 1 of b (median layer 0).",
        "Layers 2 to 3 of a are most similar to layers 2 to 3 of b (median layer 2).",
        "Layers 4 to 5 of a are most similar to layers 4 to 5 of b (median layer 4).",
    ]
    assert thirds(counterparts(aligned(rows[:5]))) == []
    assert thirds(counterparts(aligned(rows, chance=0.75))) == []


@pytest.mark.parametrize(
    ("layers", "every", "dense"),
    [
        (MOST_WRITTEN, 1, False),
        (MOST_WRITTEN + 1, 1, True),
        (MOST_DRAWN_LAYERS, 1, True),
        (MOST_DRAWN_LAYERS + 1, 2, True),
    ],
)
def test_many_layers_are_drawn_without_words_and_very_many_in_part(layers, every, dense):
    one = aligned(((0.5,) * layers,) * layers)
    found = similarity_grid(one)
    assert found.dense is dense
    assert len(found.columns) == len(found.rows) == -(-layers // every)
    assert found.columns[:2] == ("0", str(every))
    assert len(counterparts(one)) == layers


def test_a_map_without_layers_is_left_out():
    empty = replace(findings().alignments[0], values=(), margins=())
    assert similarity_section(replace(findings(), alignments=(empty,))) is None
