"""One block in each form: what a terminal has no room for, what Markdown cannot draw, links."""

from dataclasses import replace

import pytest
from kept_results import interval

from reports.blocks import (
    Beside,
    Card,
    Chart,
    Column,
    Dot,
    Figure,
    Fold,
    Moves,
    Page,
    Panel,
    Preformatted,
    Row,
    Section,
    Series,
    Table,
    grid,
    heading,
    paragraph,
    without_folds,
)
from reports.estimates import limit_strips, three_parts
from reports.html import render_blocks
from reports.prose import Span, prose
from reports.text import to_markdown, to_text
from reports.wording import Cell
from scope.records import Endpoint, Undefined

REMARKED = replace(Cell.of(interval(0.5, 750)), remark="may be chance")
TABLE = Table(
    columns=(
        Column("Model", "name"),
        Column("Parameters", "number", spacious=True),
        Column("Gain", "estimate"),
    ),
    rows=(Row(cells=("mine", 12_345, REMARKED)),),
)
CHART = Chart(label="label", series=(Series(dots=(Dot(title="c", x=0.5),)),))


def markdown(*blocks):
    return to_markdown(Page(title="t", sections=(Section(anchor="a", title="a", blocks=blocks),)))


def test_a_spacious_column_is_left_out_of_a_terminal_alone():
    assert "12,345" not in to_text((TABLE,))
    assert "12,345" in markdown(TABLE)
    assert "12,345" in render_blocks((TABLE,))


def test_a_remark_stands_below_a_number_or_behind_it():
    assert [line.split("│")[2].strip() for line in to_text((TABLE,)).splitlines()[3:6]] == [
        "0.500  n=750",
        "[0.469, 0.531]",
        "may be chance",
    ]
    assert "(n = 750); may be chance |" in markdown(TABLE).replace("\N{NO-BREAK SPACE}", " ")
    assert '<span class="note remark">may be chance</span>' in render_blocks((TABLE,))


def test_what_is_only_drawn_is_left_out_of_markdown_with_its_heading():
    drawn = Beside(((Figure(CHART),), (heading("Right"), paragraph("Words."))))
    assert markdown(drawn) == "# t\n\n## a\n\n### Right\n\nWords.\n"
    small = grid("shares", {("a", "b"): interval(0.5)}, rows=("a",), columns=("b",))
    assert "shares" in markdown(small)
    assert "shares" not in markdown(replace(small, dense=True))


def end(value, limit=None, **options):
    return Endpoint(name="accuracy", estimate=interval(value), limit=limit, **options)


@pytest.mark.parametrize(
    ("endpoints", "ends", "verdicts"),
    [
        # Around equality: eight distances below the limit, and six above, at most.
        ([end(-0.01, -0.02, p_within=0.0), end(-0.5, -0.02)], (-0.18, 0.02125), ("good", "open")),
        ([end(0.5, 0.7, most=1.43, p_adjusted=0.0)], (0.4, 1.3), ("bad",)),
        # What is not judged is on a scale of shares.
        ([end(0.5)], (0, 1), ("pale",)),
    ],
)
def test_numbers_of_one_column_share_a_scale_around_the_limit(endpoints, ends, verdicts):
    strips = limit_strips(endpoints, "Accuracy")
    assert [strip.ends for strip in strips] == [pytest.approx(ends)] * len(strips)
    assert tuple(strip.verdict for strip in strips) == verdicts


def test_a_strip_is_its_number_where_nothing_is_drawn_and_a_missing_one_a_reason_or_a_dash():
    none = Endpoint(name="accuracy", estimate=Undefined(reason="no gold"), limit=-0.02)
    assert limit_strips([none, None], "Accuracy") == ["undefined (no gold)", "–"]
    strips = limit_strips([end(-0.25, -0.02), none], "Accuracy", in_points=True)
    columns = (Column("Model", "name"), Column("Accuracy, points", "strip", short="acc"))
    table = Table.with_columns(columns, zip(("a", "b"), strips, strict=True))
    words = "−25.0 [−28.1, −21.9]"
    for shown in (to_text((table,)), markdown(table).replace("\\", "")):
        assert words in shown
        assert "undefined (no gold)" in shown
    assert "acc " in to_text((table,))
    value, _, interval = words.partition(" ")
    drawn = f'<span class="words open">{value}<span class="interval"> {interval}</span></span>'
    assert drawn in render_blocks((table,))
    assert '<table class="estimates limits">' in render_blocks((table,))


def test_the_boxes_below_an_answer_have_their_heads_and_empty_ones_are_left_out():
    three = three_parts((paragraph("Here."),), (), (paragraph("Ship it."),))
    assert to_text((three,)) == "Where they differ\nHere.\nWhat to do\nShip it.\n"


def test_dots_are_drawn_on_a_page_and_words_in_markdown():
    facts = {"name": "<m>", "remark": "✗ hardly reacts", "verdict": "bad", "slope": 0.5, "most": 2}
    panel = Panel(words=("as strongly: 0.50",), moves=((1.0, -2.0), None), **facts)
    card = Card(note=prose("example {id}", id="<i>"), blocks=())
    moves = Moves((panel,), (card, card))
    html = render_blocks((moves,))
    assert '<circle cx="150.0" cy="200.0"/><circle cx="-9" cy="-9"/>' in html
    assert 'd="M0.0 150.0L200.0 50.0"' in html
    assert 'aria-label="&lt;m&gt;: ✗ hardly reacts; as strongly: 0.50"' in html
    assert "<m>" not in html
    assert markdown(moves).endswith("- &lt;m&gt;, ✗ hardly reacts, as strongly: 0.50\n")
    assert to_text((moves,)) == ""


def test_of_what_is_folded_a_command_alone_stays():
    command, words = Preformatted("scope audit"), paragraph("Words.")
    folds = (Fold((), (command,)), Fold((), (words,)), Beside(((Fold((), (command,)), words),)))
    assert without_folds(folds) == (command, Beside(((command, words),)))


def test_a_number_is_never_parted_from_its_interval():
    shown = paragraph(
        "{n}, {share} and {text}", n="0.5 [0.2, 0.7]", share=(Span("2 [1, 3]"),), text="a [1, 2]"
    )
    assert render_blocks((shown,)) == (
        "<p><bdi>0.5\xa0[0.2,\xa00.7]</bdi>, 2\xa0[1,\xa03] and <bdi>a [1, 2]</bdi></p>\n"
    )


def test_a_link_is_of_the_template_alone():
    assert prose("shown [[steps|below]].")[1] == Span("below", link="steps")
    linked = paragraph("shown [[steps|below]] of {name}.", name="[[steps|x]]")
    assert '<a href="#steps">below</a>' in render_blocks((linked,))
    assert render_blocks((linked,)).count("<a ") == 1
    assert to_text((linked,)) == "shown below of [[steps|x]].\n"
    assert markdown(linked).endswith("shown below of \\[\\[steps|x\\]\\].\n")
