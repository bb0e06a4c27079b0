"""Layers as curves and tables, and maps of the similar layers of two models."""

from dataclasses import replace

from made_up_probe_comparison import estimate, findings

from reports.prose import plain
from scope.jobs.probe.page_tables import (
    largest_losses,
    similar_layers,
)
from scope.records import LayerAblation, LayerAlignment, Undefined

GONE = Undefined(reason="one side is constant", n=750)


def aligned(values, *, margin=0.0625, chance=0.25):
    return LayerAlignment(
        first="a",
        second="b",
        sentences=40,
        values=values,
        margins=tuple((margin,) * len(row) for row in values),
        chance=chance,
    )


def shown(one):
    """The sentence on a map, and the map."""
    sentence, fold, _ = similar_layers((one,))
    (found,) = fold.blocks
    return plain(sentence.text).replace("\N{NO-BREAK SPACE}", " "), found


def test_the_most_similar_layers_are_the_first_of_the_greatest_number():
    found = aligned(((0.5, 0.75, 0.75), (0.25, 0.125, 0.125)))
    assert shown(found)[0] == (
        "The most similar layers are 0 of a and 1 of b, CKA 0.75 [0.69, 0.81]; the last layers "
        # No more than chance is not similar.
        "have 0.12 [0.06, 0.19]. 1 of 2 layers of a are similar to a layer of b above chance, "
        "0.250 (n = 40 texts)."
    )
    assert [*similar_layers(())] == []


def test_backgrounds_begin_at_chance_and_end_at_the_greatest_number():
    _, found = shown(aligned(((0.125, 0.25, 0.5, 0.75),)))
    (_, cells) = found.rows[0]
    assert [cell.level for cell in cells] == [0, 0, 5, 10]
    assert (found.low, found.high) == (".25", ".75")


def test_the_largest_loss_without_layers_has_a_sentence():
    made = tuple(
        LayerAblation(
            model="m", step="final", first=first, last=last, pearson=lost, spearman=estimate(0.125)
        )
        for first, last, lost in ((0, 1, GONE), (2, 3, estimate(0.5)), (4, 4, estimate(0.25)))
    )
    (sentence,) = largest_losses(replace(findings(), ablations=made))
    assert plain(sentence.text) == (
        "Fitted again without layers 2 to 3, m loses Pearson 0.50 [0.47, 0.53] and Spearman "
        "0.12 [0.09, 0.16], the most of 3 such fits."
    )
    assert [*largest_losses(findings())] == []
