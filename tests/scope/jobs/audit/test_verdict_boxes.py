"""The box of each verdict: its word and sign, what carries it, a text, and what would decide it."""

from dataclasses import replace

import pytest
from made_up_comparison import LABELS, build_comparison, estimate, found

from reports.blocks import Callout, Fold, Table, Terms, within
from reports.prose import plain
from scope.jobs.audit import telling_text
from scope.jobs.audit.page import page
from scope.records import Endpoint, Replacement

SIGNS = [
    ("may replace", "student may replace teacher", "✓", "good"),
    ("may not", "student may not replace teacher", "✗", "bad"),
    ("not shown", "It is not shown that student may replace teacher", "?", "undecided"),
]
CHANGED = (
    found("typo", "e1", "a fien film", 0.25, 0.75, 0.75),
    found("typo", "e2", "nothing of it", 0.7, 0.75, 0.75),
    found("synonym", "e1", "a good film", 0.05, 0.95, 0.75),
)


def page_of(decision, *, name="reach on typo", targets=("student",), **options):
    ends = (Endpoint(name=name, estimate=estimate(0.0), limit=0.5),)
    names = {"beyond": (name,) * (decision == "may not"), "open": (name,) * (decision != "may not")}
    verdicts = tuple(
        Replacement(target=target, decision=decision, endpoints=ends, **names) for target in targets
    )
    return page(replace(build_comparison(), verdicts=verdicts, candidates=CHANGED, **options))


def boxes(made):
    return [block for block in within(made.sections[0].blocks) if isinstance(block, Callout)]


def facts(made):
    (terms,) = (block for block in within(boxes(made)[0].blocks) if isinstance(block, Terms))
    return {plain(name): plain(value) for name, value in terms.pairs}


@pytest.mark.parametrize(("decision", "opening", "sign", "kind"), SIGNS)
def test_a_box_has_the_verdict_with_a_sign_and_its_numbers_with_limits(
    decision, opening, sign, kind
):
    (box,) = boxes(page_of(decision))
    assert (box.kind, plain(box.blocks[0].text)) == (kind, f"{sign} {opening}")
    (table,) = (block for block in within(box.blocks) if isinstance(block, Table))
    assert plain(table.rows[0].cells[0]) == "reach on typo"
    assert table.rows[0].cells[1:4] == ("0.00 [−0.12, 0.12]", "0.5", 4)


def test_a_box_says_why_with_the_farthest_text_and_that_no_more_are_needed():
    said = facts(page_of("may not"))
    assert said["Why"].startswith("Its answers follow teacher's too little on typo (reach ")
    assert said["Unchanged texts"] == "same answer on 100.0\xa0% [87.5, 100.0] of 4"
    # The farthest of its capability, with what is changed in it.
    assert said["Example"] == (
        f"“a fine fien film” teacher changes its answer: {LABELS[1]} .75 → negative .75; "
        f"student keeps its answer: {LABELS[1]} .75 → {LABELS[1]} .75. Gold: {LABELS[1]}."
    )
    assert said["How sure"] == "Decided, at a nominal error rate of 2.5\xa0% for one run."
    assert said["More texts"] == "None needed."


def test_an_open_box_says_what_would_decide_it():
    said = facts(page_of("not shown"))
    assert said["Why"] == (
        "Reach on typo is too uncertain (0.00 [−0.12, 0.12] on 4 texts, at least 0.5 is required)."
    )
    assert said["How sure"] == "Open: neither may replace nor may not is shown."
    assert said["More texts"] == (
        "How many texts decide is not known: reach on typo is open, for which none can be planned."
    )
    looked = facts(page_of("may not", earlier_looks=("monday",)))
    assert looked["How sure"].startswith("Not stated: an earlier run (monday) ")


LONG = " ".join(f"w{place}" for place in range(30))


@pytest.mark.parametrize(
    ("changed", "marked"),
    [
        (f"A B C D E F {LONG}", [("inserted", "A B C D E F")]),
        (f"{LONG} and more", [("inserted", "and more")]),
        (LONG.replace("w5 w6", "w5x"), [("deleted", "w5 w6"), ("inserted", "w5x")]),
        (LONG, []),
    ],
)
def test_only_what_differs_is_marked_wherever_it_stands(changed, marked):
    shown = telling_text._marked(LONG, changed)
    assert [(span.style, span.text) for span in shown if span.style != "plain"] == marked
    assert len(plain(shown).split()) <= 26


def test_where_no_unchanged_text_differs_an_accuracy_has_no_example():
    assert "Example" not in facts(page_of("may not", name="accuracy"))


def test_numbers_of_many_targets_are_behind_a_line():
    three = boxes(page_of("may not", targets=("student",) * 3))
    assert [isinstance(box.blocks[-1], Fold) for box in three] == [True] * 3


def test_the_terminal_begins_with_the_whole_sentence():
    first, *_ = page_of("may not").brief
    assert plain(first.text).startswith(
        "✗ student may not replace teacher: its answers follow teacher's too little on typo "
    )
