"""Markdown against markdown-it, an independent reader of it."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st
from made_up_comparison import build_comparison
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
from reports.renderers.markdown import MOST_CARDS, to_markdown

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
        Callout("warning", (paragraph("**careful**"),)),
        Cards(cards=tuple(Card(note=prose("card"), blocks=()) for _ in range(MOST_CARDS + 2))),
    )
    for words in ("### Part", "- term: meaning", "**More**", "> a passage", "**careful**"):
        assert words in text
    assert text.count("\ncard\n") == MOST_CARDS
    assert "2 more are in the HTML report" in text


def test_a_whole_audit_is_readable():
    audit = build_comparison()
    text = audit.to_markdown()
    assert text.startswith("# SCoPE audit: ")
    found = elements(text)
    assert {"table_open", "heading_open", "bullet_list_open"} <= {kind for kind, _ in found}
    assert not [kind for kind, inner in found for one in (kind, *inner) if "html" in one]
    assert replace(audit, clock=None).to_markdown() != text
