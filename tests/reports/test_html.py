"""The sections of an audit's page."""

import base64
import json
import zlib
from dataclasses import replace
from html import escape

from hypothesis import given, strategies as st

from reports.blocks import Card, Cards, Finder, Passage
from reports.html import AT_ONCE, HOLE, compressed, render, render_blocks
from reports.prose import prose, written
from scope.jobs.audit.page import page
from scope.records import Clock

SECTIONS = ["answer", "examples", "estimates", "differences", "asked", "failures", "reproduce"]


def test_a_cap_keeps_lost_pairs_first_and_says_how_many_are_shown(comparison, parse):
    document = parse(render(page(comparison, max_pairs=2)))
    examples = document.section("examples")
    assert "2 of 5 examples" in examples.words
    assert "the run’s parquet files" in examples.words
    assert [node.attributes["data-lost"] for node in examples.all("article")] == ["1", "0 1"]


def test_a_comparison_without_clock_or_results_still_makes_a_page(comparison, parse):
    bare = replace(
        comparison, clock=None, measurements=(), differences=(), curves=(), perturbations=()
    )
    document = parse(bare.html())
    assert [node.attributes["id"] for node in document.all("section")] == SECTIONS
    assert "finished at" not in document.section("reproduce").words
    assert not document.all("form")


def test_questions_asked_again_and_drift_are_told_at_the_end(comparison, parse):
    drift = "`python:<b>mine</b>:Model` differs by up to 0.0004"
    again = replace(comparison, clock=Clock(finished="", seconds=1, asked_again=8, drifts=(drift,)))
    words = parse(again.html()).section("reproduce").words
    assert "It repeated 8 of the stored questions" in words
    assert drift in words


CLOSING = '</template></script><script>window.injected=1</script>" onload="alert(1)'


def unpacked(data):
    return json.loads(zlib.decompress(base64.b64decode(data)))


def markup(form, texts):
    """The markup of a form with its texts, as the page's script builds it."""
    if isinstance(form, str):
        return escape(next(texts), quote=False) if form == HOLE else form
    tag, attributes, *children = form
    named = "".join(
        f' {name}="{value.replace(HOLE, next(texts)) if HOLE in value else value}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{named}>{''.join(markup(child, texts) for child in children)}</{tag}>"


@given(st.text(st.characters(exclude_characters="\0\r", codec="utf-8"), min_size=1))
def test_a_text_comes_back_whole_and_never_in_a_form(text):
    piece = f'<p class="text">{escape(text)}</p>'
    found = unpacked(compressed([("name", {"order": "7"}, piece)]))
    ((place, name, keys, texts),) = found["pieces"]
    assert (name, keys) == ("name", {"order": "7"})
    whole = markup(found["forms"][place], iter(texts))
    assert whole == f'<article><p class="text">{escape(text, quote=False)}</p></article>'


def test_pieces_of_one_form_hold_it_once():
    pieces = [(str(n), {}, f'<p><a href="#{n}">word {n}</a>\n<b>x</b></p>') for n in range(3)]
    found = unpacked(compressed(pieces))
    assert found["forms"] == [
        ["article", {}, ["p", {}, ["a", {"href": f"#{HOLE}"}, HOLE], "\n", ["b", {}, HOLE]]]
    ]
    assert found["pieces"][2] == [0, "2", {}, ["2", "word 2", "x"]]


def test_cards_beyond_the_first_are_packed_and_a_line_says_how_many_there_are(parse):
    cards = tuple(
        Card(note=prose("card"), blocks=(Passage(written(CLOSING)),), anchor=f"example-{n}")
        for n in range(AT_ONCE + 2)
    )
    shown = render_blocks((Cards(cards=cards, finder=Finder(unit="pairs", searched="texts")),))
    document = parse(shown)
    assert len(document.all("article")) == AT_ONCE
    assert "20 of 22 pairs are shown here" in document.words
    (packed,) = document.all("template")
    found = unpacked(packed.text)
    assert [name for _, name, _, _ in found["pieces"]] == ["example-20", "example-21"]
    assert "window" not in json.dumps(found["forms"])
    assert CLOSING in found["pieces"][0][3]
    assert not document.all("script")
