"""The sections of the page on a test of reuse."""

from dataclasses import replace

import pytest
from made_up_reuse_comparison import LONG, SUSPECT, not_related, related, undecided

from reports.renderers.html import render as to_html
from scope.jobs.reuse.sections import page
from scope.records import Undefined

OURS, THEIRS, OLD = "ours", 'theirs "><img src=x onerror=window.injected=1>', "old فيلم رائع جدا"


@pytest.fixture
def render(reuse_comparison, parse):
    def rendered(*verdicts, **limits):
        return parse(to_html(page(replace(reuse_comparison, verdicts=verdicts), **limits)))

    return rendered


def classes(node):
    return (node.attributes.get("class") or "").split()


def test_each_section_is_linked_and_none_takes_an_id_that_the_script_looks_for(reuse_document):
    sections = [node.attributes["id"] for node in reuse_document.all("section")]
    links = [node.attributes["href"] for node in reuse_document.all("a")]
    assert links == [f"#{name}" for name in sections]
    assert not {"controls", "pairs", "search", "shown", "order"} & set(sections)


def test_warnings_stand_in_a_box_of_their_own_with_its_verdict(reuse_document):
    (box,) = (n for n in reuse_document.section("answer").all("div") if "warning" in classes(n))
    assert box.attributes["role"] == "note"
    assert "Warning" in box.words
    assert len(box.all("li")) == 2


def test_many_warnings_are_folded_after_the_first_five(render):
    answer = render(replace(related(), warnings=tuple(f"warning {n}" for n in range(9))))
    folded = answer.section("answer").all("details")[0]
    assert folded.all("summary")[0].words == "4 more"
    assert [node.words for node in folded.all("li")] == [f"warning {n}" for n in range(5, 9)]


def test_the_set_of_sources_is_said_in_words(reuse_document, render):
    words = reuse_document.section("answer").words
    assert f"The suspect is found related to {OURS}." in words
    assert f"It is found not related to {THEIRS}." in words
    assert f"It is undecided whether it is related to {OLD}." in words
    none = render(not_related(), undecided()).section("answer").words
    assert "The suspect is found related to none of the references." in none


def test_a_single_reference_needs_no_set_no_correction_and_no_headings(render):
    document = render(related())
    assert "The set of sources" not in document.words
    assert "Holm’s correction" not in document.words
    assert "Compared with" not in document.words


def test_the_suspect_is_drawn_and_ranked_among_the_controls(reuse_document):
    section = reuse_document.section("standings")
    drawings = [n for n in section.walk() if n.attributes.get("role") == "img"]
    assert len(drawings) == 3
    assert "the suspect at 6.500, where 0 controls" in drawings[0].attributes["aria-label"]
    assert "0 of 5 controls are at least as similar to the reference" in section.words
    table = section.all("table")[1].cells()
    assert table[4] == ["4", f"{SUSPECT} (suspect)", "1.250"]
    assert "With 3 controls no p-value by rank can be smaller than 0.250" in section.words


def test_the_paired_test_is_a_sentence(reuse_document):
    words = reuse_document.section("standings").words
    assert (
        "Question by question, the suspect is more similar to the reference than the control near, "
        "which is at the dashed line: the difference is +3.750 [+3.625, +3.875] (n = 40) on the "
        "joint scale. If the two were equally similar to the reference, a difference at least "
        "as large would have p < 0.001, one at most as large p = 1.000."
    ) in words
    assert "the suspect is no more similar to the reference than the control near" in words


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
    assert "The suspect has no joint statistic." in document.section("standings").words
    assert not [n for n in document.walk() if n.attributes.get("role") == "img"]
    assert "none (α" in document.section("answer").words


def test_items_show_every_answer_and_fold_long_texts(reuse_document):
    long, city, _, against = reuse_document.section("informative").all("article")
    assert "question q1 · expected 6.2 % · weight +2.750" in city.words
    assert city.cells()[1] == ["Denver", "Paris", "Paris the same as the reference’s"]
    assert len(long.all("details")) == 4
    assert long.all("details")[0].all("bdi")[1].text == LONG
    assert against.cells()[1][0] == "not known"
    assert against.cells()[1][2].endswith("not the reference’s")


def test_a_cap_on_items_says_how_many_are_shown(render):
    section = render(related(), max_items=1).section("informative")
    assert "Shown are 1 of 4 questions; all are in result.json." in section.words
    assert len(section.all("article")) == 1


def test_controls_are_listed_with_their_flags(reuse_document):
    section = reuse_document.section("checks")
    assert f"Compared with {OURS} and {THEIRS}" in section.words
    assert "2 of 5 controls have a flag; 5 are comparable with the suspect." in section.words
    rows = section.all("table")[0].cells()
    assert rows[1][:2] == [f"{SUSPECT} (suspect)", "0.625"]
    assert rows[2] == ["alone", "0.500", "[0.375, 0.625]", "40", "100.0 %", "yes", ""]
    assert rows[3][6].endswith("⚑ answers seldom")


def test_the_limits_say_what_would_change_it_and_what_not_related_means(reuse_document):
    words = reuse_document.section("limits").words
    assert "Why it is not clearer there are 3 controls; 4 are needed" in words
    assert "What would change it 1 more control" in words
    assert (
        "A suspect that took 12.5 % of its answers from the reference would rank above the "
        "controls. “Not related” means no more than this"
    ) in words
    assert "it might miss even a copy of the reference." in words
    assert "It does not show the cause of the similarity" in words
    assert "the same public base model" in words
    assert "is exchangeable with the controls" in words
    assert "at most about 60 are called related" in words


def test_the_batches_of_a_sequential_test_are_listed(reuse_document, render):
    rows = reuse_document.section("looks").cells()
    assert rows[1:] == [["500", "0.500", "no"], ["1,500", "0.125", "yes"]]
    assert "looks" not in [n.attributes["id"] for n in render(undecided()).all("section")]


def test_a_comparison_without_a_verdict_says_so(render):
    document = render()
    assert "No verdict was reached." in document.section("answer").words
    assert "Limits of the test" in document.section("limits").words
