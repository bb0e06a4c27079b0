"""One block in each form: what a terminal has no room for, what Markdown cannot draw, links."""

from dataclasses import replace

from made_up_probe_comparison import estimate

from reports.blocks import Beside, Column, Figure, Page, Row, Section, Table, heading, paragraph
from reports.charts import Chart, Dot, Series, grid
from reports.prose import Span, prose
from reports.renderers.html import render_blocks
from reports.renderers.markdown import to_markdown
from reports.renderers.terminal import to_text
from reports.wording import Cell

REMARKED = replace(Cell.of(estimate(0.5)), remark="may be chance")
TABLE = Table(
    columns=(
        Column("Model", "name"),
        Column("Parameters", "number", spacious=True),
        Column("Gain", "estimate"),
    ),
    rows=(Row(cells=("mine", 12_345, REMARKED)),),
)
CHART = Chart(title="Left", label="label", series=(Series(dots=(Dot(title="c", x=0.5),)),))


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
    assert "\\(n = 750\\); may be chance |" in markdown(TABLE).replace("\N{NO-BREAK SPACE}", " ")
    assert '<span class="note remark">may be chance</span>' in render_blocks((TABLE,))


def test_what_is_only_drawn_is_left_out_of_markdown_with_its_heading():
    drawn = Beside(((Figure(CHART),), (heading("Right"), paragraph("Words."))))
    assert markdown(drawn) == "# t\n\n## a\n\n### Right\n\nWords.\n"
    small = grid("shares", {("a", "b"): estimate(0.5)}, rows=("a",), columns=("b",))
    assert "shares" in markdown(small)
    assert "shares" not in markdown(replace(small, dense=True))


def test_a_link_is_of_the_template_alone():
    assert prose("shown [[steps|below]].")[1] == Span("below", link="steps")
    linked = paragraph("shown [[steps|below]] of {name}.", name="[[steps|x]]")
    assert '<a href="#steps">below</a>' in render_blocks((linked,))
    assert render_blocks((linked,)).count("<a ") == 1
    assert to_text((linked,)) == "shown below of [[steps|x]].\n"
    assert markdown(linked).endswith("shown below of \\[\\[steps|x\\]\\].\n")
