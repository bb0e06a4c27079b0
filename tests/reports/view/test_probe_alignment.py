"""Which layers of two models correspond, and how strong a map's backgrounds are."""

from dataclasses import replace

import pytest
from made_up_probe_comparison import findings

from reports.view.probe_alignment import MOST_COLUMNS, MOST_DRAWN, Moves, alignment_section
from scope.records import LayerAlignment


def aligned(values, *, margin=0.0625, chance=0.25):
    one = LayerAlignment(
        first="a",
        second="b",
        sentences=40,
        values=values,
        margins=tuple((margin,) * len(row) for row in values),
        chance=chance,
    )
    (found,) = alignment_section(replace(findings(), alignments=(one,)))
    return found


def test_the_counterpart_is_the_greatest_of_a_row_with_its_rivals():
    found = aligned(((0.5, 0.75, 0.6875, 0.6875), (0.25, 0.125, 0.125, 0.0)), margin=0.0625)
    first, second = found.counterparts
    assert (first.best, first.value, first.rivals, first.above) == (1, "0.750", "2, 3", True)
    # No more than chance is no counterpart.
    assert (second.best, second.above) == (0, False)
    assert found.unmatched == 1
    assert (found.most.layer, found.most.best) == (0, 1)


def test_backgrounds_begin_at_chance_and_end_at_the_greatest_number():
    found = aligned(((0.125, 0.25, 0.5, 0.75),))
    (_, cells) = found.rows[0]
    assert [cell.level for cell in cells] == [0, 0, 5, 10]
    assert (found.low, found.high) == (".25", ".75")


def test_numbers_near_chance_do_not_take_the_whole_scale():
    found = aligned(((0.25, 0.3),))
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
        ((0, 1, 1, 0, 1, 2), Moves(on=3, stayed=1, back=1, steps=5)),
        # One counterpart for all is no order.
        ((1, 1, 1, 1), Moves(on=0, stayed=3, back=0, steps=3)),
        # Over a layer without a counterpart to the next that has one: no step back to 0.
        ((1, None, 2, None), Moves(on=1, stayed=0, back=0, steps=1)),
        ((2, None, None), None),
    ],
)
def test_moves_of_the_counterpart_are_counted_over_layers_that_have_one(best, moves):
    assert aligned(tuple(ROWS[place] for place in best)).moves == moves


def test_thirds_of_a_model_have_the_range_of_their_counterparts():
    rows = tuple(tuple(0.5 if place == best else 0.0 for place in range(6)) for best in range(6))
    found = aligned(rows)
    assert [(one.start, one.end, one.lowest, one.highest) for one in found.stretches] == [
        (0, 1, 0, 1),
        (2, 3, 2, 3),
        (4, 5, 4, 5),
    ]
    assert aligned(rows[:5]).stretches == ()
    assert aligned(rows, chance=0.75).stretches == ()


@pytest.mark.parametrize(
    ("layers", "every", "dense"),
    [
        (MOST_COLUMNS, 1, False),
        (MOST_COLUMNS + 1, 1, True),
        (MOST_DRAWN, 1, True),
        (MOST_DRAWN + 1, 2, True),
    ],
)
def test_many_layers_are_drawn_without_words_and_very_many_in_part(layers, every, dense):
    found = aligned(((0.5,) * layers,) * layers)
    assert (found.every, found.dense) == (every, dense)
    assert len(found.columns) == len(found.rows) == -(-layers // every)
    assert len(found.counterparts) == layers


def test_a_map_without_layers_is_left_out():
    empty = replace(findings().alignments[0], values=(), margins=())
    assert alignment_section(replace(findings(), alignments=(empty,))) == ()
