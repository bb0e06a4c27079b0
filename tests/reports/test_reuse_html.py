"""The page on a test of reuse."""

from dataclasses import replace

import pytest
from made_up_reuse_comparison import LONG, related, undecided

from scope.records import Undefined


@pytest.fixture
def render(reuse_comparison, parse):
    def rendered(*verdicts):
        return parse(replace(reuse_comparison, verdicts=verdicts).html())

    return rendered


def test_each_section_is_linked_and_none_takes_an_id_that_the_script_looks_for(reuse_document):
    sections = [node.attributes["id"] for node in reuse_document.all("section")]
    links = [node.attributes["href"] for node in reuse_document.all("a")]
    assert links == [f"#{name}" for name in sections]
    assert not {"controls", "pairs", "search", "shown", "order"} & set(sections)


def test_a_single_reference_needs_no_set_no_correction_and_no_headings(render):
    document = render(related())
    assert "The suspect is found" not in document.words
    assert "Holm’s correction" not in document.words
    assert "Compared with" not in document.words


def test_the_suspect_is_drawn_among_the_controls_of_each_reference(reuse_document):
    section = reuse_document.section("answer")
    drawings = [n for n in section.walk() if n.attributes.get("role") == "img"]
    assert len(drawings) == 3
    assert "the suspect at 6.500, where 0 controls" in drawings[0].attributes["aria-label"]


def test_evidence_without_a_value_still_makes_a_page(render):
    nothing = replace(
        undecided(),
        standings=(),
        evidence=tuple(
            replace(one, suspect=Undefined(reason="nothing shared"), controls=(), p_value=None)
            for one in undecided().evidence
        ),
        p_value=None,
        skill=Undefined(reason="nothing answered"),
    )
    document = render(nothing)
    assert "The suspect has no joint statistic." in document.section("answer").words
    assert not [n for n in document.walk() if n.attributes.get("role") == "img"]
    assert "none (α" in document.section("answer").words


def test_long_questions_are_folded_behind_their_beginning(reuse_document):
    long, *_ = reuse_document.section("findings").all("article")
    (fold,) = long.all("details")
    assert fold.all("bdi")[1].text == LONG
