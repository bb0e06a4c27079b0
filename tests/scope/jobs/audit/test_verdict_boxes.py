"""The box of each verdict: its word and sign, what carries it, a text, and what would decide it."""

from dataclasses import replace

import pytest
from made_up_comparison import build_comparison, estimate, found

from reports.blocks import Callout, Fold, Terms, within
from reports.prose import plain
from scope.jobs.audit import verdict_words
from scope.jobs.audit.page import page
from scope.records import Endpoint, Replacement

CHANGED = (
    found("typo", "e1", "a fien film", 0.25, 0.75, 0.75),
    found("typo", "e2", "nothing of it", 0.7, 0.75, 0.75),
    found("synonym", "e1", "a good film", 0.05, 0.95, 0.75),
    found("synonym", "e1", "a great film", 0.95, 0.05, 0.75),
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


@pytest.mark.parametrize(
    ("name", "decision", "title", "shown"),
    [
        # The target moves less, and both have the label wrong.
        ("reach on typo", "may not", "Where they differ", "nothing of it” teacher keeps"),
        # The target alone is wrong; then the reference alone, which accuses no target.
        ("concordance on synonym", "may not", "Example", "“a fine great film” teacher keeps"),
        ("concordance on typo", "may not", None, ""),
        ("concordance on typo", "not shown", "Where they differ", "“a fine fien film” teacher cha"),
        ("accuracy", "may not", None, ""),
    ],
)
def test_a_box_shows_a_text_with_what_it_claims_and_accuses_no_target_of_anothers_error(
    name, decision, title, shown
):
    box = facts(page_of(decision, name=name))
    assert [key for key in box if key in ("Example", "Where they differ")] == [title] * bool(title)
    assert shown in box.get(title, "")


def test_where_no_more_texts_can_be_planned_or_no_error_rate_is_known_a_box_says_so():
    undecided = facts(page_of("not shown"))
    assert undecided["More texts"] == "How many would decide is not known."
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


def test_numbers_of_many_targets_are_behind_a_line():
    three = boxes(page_of("may not", targets=("student",) * 3))
    assert [isinstance(box.blocks[-1], Fold) for box in three] == [True] * 3
