from reports.blocks import Bullets, Callout, Column, Row, Table, Terms, note, paragraph
from reports.prose import prose
from reports.text import to_text
from reports.wording import Cell
from scope.records import Estimate, Undefined

HALF = Estimate(value=0.5, low=0.25, high=0.75, n=8, method="bootstrap")


def table(rows, **options):
    columns = (Column("Model", "name"), Column("Accuracy", "estimate"))
    return Table(columns=columns, rows=tuple(rows), **options)


def lines(*blocks, width=100):
    return [line.rstrip() for line in to_text(blocks, width).splitlines()]


def test_an_undefined_number_is_its_reason():
    shown = to_text([table([Row(cells=("a", Cell.of(Undefined(reason="no pair"))))])])
    assert "undefined (no pair)" in shown


def test_of_a_long_table_the_first_rows_or_both_ends_are_shown():
    rows = [Row(cells=(f"m{place:02d}", None)) for place in range(30)]
    first = to_text([table(rows, most=5)])
    assert ("m04" in first, "m05" in first) == (True, False)
    assert "and 25 more:" in " ".join(first.split())
    ends = to_text([table(rows, ends=True, most=8)])
    assert [name in ends for name in ("m03", "m04", "m25", "m26")] == [True, False, False, True]
    assert "and 22 more between" in " ".join(ends.split())


def test_foreign_text_is_neither_markup_nor_control():
    shown = to_text([paragraph("{name}", name="[bold]x[/bold]\x1b[31m")])
    assert "[bold]x[/bold]\\x1b[31m" in shown


def test_lines_terms_and_callouts_are_printed():
    shown = lines(
        Bullets((prose("a **finding**"),)),
        Terms(((prose("data"), prose("8 texts")),)),
        Callout("bad", (note("careful"),)),
    )
    assert shown == ["  a finding", "data: 8 texts", "careful"]


def test_a_line_break_of_foreign_text_begins_no_line():
    shown = lines(paragraph("reason: {reason}", reason="none\ngate: all fine"))
    assert shown == ["reason: none gate: all fine"]
