from dataclasses import replace

import pytest
from made_up_reuse_comparison import (
    REFERENCES,
    SUSPECT,
    build_comparison,
    not_related,
    related,
    undecided,
)

from reports.blocks import Callout
from reports.prose import plain
from scope.jobs.reuse.sections import page
from scope.jobs.reuse.verdict_section import sources, verdict_facts
from scope.records import Agreement


def facts(verdict, *, several=False):
    terms = verdict_facts(verdict, several=several)
    return {plain(term): plain(meaning).replace("\u00a0", " ") for term, meaning in terms.pairs}


def test_the_title_names_the_suspect_and_every_reference():
    title = page(build_comparison()).title
    assert title == f"SCoPE reuse: {SUSPECT} against {', '.join(REFERENCES)}"


def test_every_decision_has_a_word_a_shape_and_a_colour_of_its_own():
    answer = page(build_comparison()).sections[0]
    boxes = [block for block in answer.blocks if isinstance(block, Callout)]
    assert [(box.kind, plain(box.blocks[0].text).split(" compared")[0]) for box in boxes] == [
        ("related", "◆ related"),
        ("not-related", "○ not related"),
        ("undecided", "? undecided"),
    ]


def test_a_verdict_carries_the_numbers_that_it_rests_on():
    assert facts(related(), several=True) == {
        "p-value of the verdict": (
            "0.167; after Holm’s correction over the references 0.500 (α = 0.6)"
        ),
        "Controls": (
            "5, so that no p-value by rank is below 1/6; at least 4 are needed for this α; 5 are "
            "comparable with the suspect (at least 0 are needed)"
        ),
        "Questions": "1,200 answered by both; the suspect was asked 1,500 times",
    }
    assert facts(not_related())["p-value of the verdict"] == "0.667 (α = 0.6)"


def test_the_two_p_values_and_the_independent_controls_are_stated_where_known():
    agreement = Agreement(suspect=1.0, controls=(), independent=3.25, p_value=0.25)
    one = replace(related(), p_rank=1 / 6, agreement=agreement, assume_no_label_training=True)
    shown = facts(one)
    assert shown["p-value of the verdict"] == (
        "0.167 (α = 0.6); the greater of 0.167 by rank among the controls and 0.250 by agreement"
    )
    assert shown["Controls"].endswith(
        "; because some answer alike, they count as 3.2 independent ones"
    )
    assert shown["Assumed"] == "the suspect was not trained on answers of the reference"


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (1, "; 1 has no usable answers, or guesses, and no rank"),
        (2, "; 2 have no usable answers, or guess, and no rank"),
    ],
)
def test_controls_without_a_rank_are_counted(left, words):
    whole = related()
    fewer = replace(whole, standings=whole.standings[: len(whole.standings) - left])
    assert facts(fewer)["Controls"].endswith(words)


def told(*verdicts):
    return [plain(one.text) for one in sources(verdicts)]


def test_the_sources_are_those_that_are_related():
    assert told(related(), not_related(), undecided()) == [
        f"The suspect is found related to {REFERENCES[0]}.",
        f"It is found not related to {REFERENCES[1]}.",
        f"It is undecided whether it is related to {REFERENCES[2]}.",
    ]
    three = (replace(related(), reference=name) for name in "abc")
    assert told(*three) == ["The suspect is found related to a, b and c."]
    assert told(related()) == []


def test_no_source_is_said():
    first, *others = told(not_related(), undecided())
    assert first == "The suspect is found related to none of the references."
    assert len(others) == 2
