"""Markdown against markdown-it, an independent reader of it."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from kept_results import FLEET, kept
from markdown_it import MarkdownIt

from reports.blocks import (
    Bullets,
    Callout,
    Card,
    Cards,
    Column,
    Fold,
    Page,
    Passage,
    Preformatted,
    Row,
    Section,
    Table,
    Terms,
    heading,
    paragraph,
)
from reports.prose import prose
from reports.text import MOST_CARDS, MOST_LINES, to_markdown, to_short_markdown
from scope.jobs.pages import headline_of, markdown_of

READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def page_of(*blocks, title="Title"):
    section = Section(anchor="answer", title="Answer", blocks=tuple(blocks))
    return to_markdown(Page(title=title, sections=(section,)))


def elements(text):
    """The kinds of all elements that a reader of Markdown sees, without the words."""
    return [
        (token.type, [one.type for one in token.children or [] if one.type not in WORDS])
        for token in READER.parse(text)
    ]


WORDS = ("text", "softbreak", "text_special")


@given(st.text(), st.text(min_size=1))
def test_foreign_text_never_becomes_markup(name, reason):
    def page(name, reason):
        return page_of(
            paragraph("On {name} it is {reason}.", name=name, reason=reason),
            Bullets((prose("of {name}: {reason}", name=name, reason=reason),)),
            Table(
                columns=(Column("Model", "name"), Column("Why")),
                rows=(Row(cells=(f"a{name}", f"b{reason}")),),
            ),
        )

    assert elements(page(name, reason)) == elements(page("x", "y"))


@pytest.mark.parametrize(
    "text", ["# a", "- a", "1. a", "> a", "<b>a</b>", "a|b", "`a`", "![a](b)", "&lt;", "a\n\n# b"]
)
def test_known_tricks_stay_text(text):
    assert elements(page_of(paragraph("{text}", text=text))) == elements(
        page_of(paragraph("{text}", text="a"))
    )


@given(st.text(alphabet="`~a \n", min_size=1))
def test_preformatted_text_ends_where_it_ends(text):
    kinds = [kind for kind, _ in elements(page_of(Preformatted(text), paragraph("after")))]
    assert kinds[-4:] == ["fence", "paragraph_open", "inline", "paragraph_close"]


def test_every_block_is_written():
    text = page_of(
        heading("Part"),
        Terms((((prose("term"), prose("meaning"))),)),
        Fold(prose("More"), (Passage(prose("a passage")),)),
        Callout("bad", (paragraph("**careful**"),)),
        Cards(cards=tuple(Card(note=prose("card"), blocks=()) for _ in range(MOST_CARDS + 2))),
    )
    for words in ("### Part", "- term: meaning", "**More**", "> a passage", "**careful**"):
        assert words in text
    assert text.count("\ncard\n") == MOST_CARDS
    assert "2 more are in the HTML report" in text


def test_a_comment_on_a_pull_request_has_the_answer_the_gates_examples_and_the_reports_path():
    audit = kept("audit")
    gates = Callout("bad", (paragraph("A gate failed."), Bullets((prose("typo"),))))
    text = markdown_of(replace(audit, folder=Path("runs/mine")), gates)
    assert text.count("\n") <= MOST_LINES
    places = [
        text.index(part)
        for part in ("No verdict", "A gate failed", "> a fine ~~film~~", "Report: ")
    ]
    assert places == sorted(places)
    assert text.endswith("Report: `runs/mine/report.html`\n")
    assert text.count("kept pair · example") in (2, 3)
    assert not [kind for kind, inner in elements(text) for one in (kind, *inner) if "html" in one]


@pytest.mark.parametrize("rows", [0, 1, 30, 500])
@pytest.mark.parametrize("gates", [0, 1, 30, 500])
def test_a_comment_has_at_most_60_lines_and_says_what_it_leaves_out(rows, gates):
    name = f"a|@b\n{'c' * 400}"
    table = Table(columns=(Column("Model"),), rows=(Row(cells=(name,)),) * rows)
    card = Card(note=prose("{name}", name=name), blocks=(Passage(prose("x")),) * 4)
    page = Page(
        title=name * 50,
        sections=(Section(anchor="a", title="a", blocks=(Cards(cards=(card,) * 9),)),),
        brief=(paragraph("{name}", name=name), table, table),
    )
    text = to_short_markdown(page, [Bullets((prose("{name}", name=name),) * gates)], "`r`\n")
    assert text.count("\n") <= MOST_LINES
    assert ("more are in the report" in text) == (max(rows, gates) > 14)
    assert "@b" not in text
    assert "Report: `` `r` ``" in text


def test_the_comment_of_every_job_begins_with_its_answer_and_is_short(results):
    for job in ("compare", "reuse", "probe", *FLEET):
        result = results[job]
        text = result.to_markdown()
        assert text.count("\n") <= MOST_LINES
        kinds = [one for kind, inner in elements(text) for one in (kind, *inner)]
        assert not [kind for kind in kinds if "html" in kind]
        assert headline_of(result).split()[0] in text.split("\n\n")[1]


def test_the_first_examples_of_markdown_are_of_different_texts():
    quoted = [line for line in markdown_of(kept("audit")).split("\n") if line[:1] == ">"]
    plain = [line.replace("~", "").replace("*", "") for line in quoted]
    assert len(plain) == len(set(plain))
