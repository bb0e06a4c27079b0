"""The box of each verdict: its word and sign, what carries it, a text, and what would decide it."""

from dataclasses import replace

import pytest
from made_up_comparison import LABELS, build_comparison, estimate, found

from reports.blocks import Callout, Fold, Terms, within
from reports.prose import plain
from scope.jobs.audit import verdict_words
from scope.jobs.audit.page import page
from scope.records import Endpoint, Replacement

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


def test_a_box_shows_the_farthest_text_of_its_capability_with_what_is_changed_in_it():
    assert facts(page_of("may not"))["Example"] == (
        f"“a fine fien film” teacher changes its answer: {LABELS[1]} .75 → negative .75; "
        f"student keeps its answer: {LABELS[1]} .75 → {LABELS[1]} .75. Gold: {LABELS[1]}."
    )


def test_where_no_more_texts_can_be_planned_or_no_error_rate_is_known_a_box_says_so():
    undecided = facts(page_of("not shown"))
    assert undecided["More texts"].endswith("reach on typo is open, for which none can be planned.")
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
    shown = verdict_words._marked(LONG, changed)
    assert [(span.style, span.text) for span in shown if span.style != "plain"] == marked
    assert len(plain(shown).split()) <= 26


def test_where_no_unchanged_text_differs_an_accuracy_has_no_example():
    assert "Example" not in facts(page_of("may not", name="accuracy"))


def test_numbers_of_many_targets_are_behind_a_line():
    three = boxes(page_of("may not", targets=("student",) * 3))
    assert [isinstance(box.blocks[-1], Fold) for box in three] == [True] * 3
