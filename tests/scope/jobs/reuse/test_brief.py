"""What the terminal shows of a test of reuse."""

import re
from dataclasses import replace

import pytest
from made_up_cases import judged, make_case, probabilities_of, strangers, taking
from made_up_reuse_comparison import build_comparison, not_related, related, undecided

from reports.renderers.terminal import to_text
from scope.jobs.pages import page_of
from scope.records import InformativeItem


def shown(*verdicts, width=80):
    return to_text(page_of(replace(build_comparison(), verdicts=verdicts)).brief, width=width)


def unwrapped(text):
    return " ".join(text.split())


def test_the_sentence_comes_first_and_the_decision_before_it():
    verdict = replace(related(), sentence="They are alike.")
    assert shown(verdict).splitlines()[0] == "RELATED: They are alike."
    assert shown(replace(not_related(), sentence="No.")).startswith("NOT RELATED: No.")
    assert shown(replace(undecided(), sentence="Who knows?")).startswith("UNDECIDED: Who knows?")


def test_of_several_references_it_is_said_first_which_are_sources():
    one, two, three = (
        replace(verdict, reference=name)
        for verdict, name in ((related(), "a"), (not_related(), "b"), (related(), "c"))
    )
    assert shown(one, two, three).startswith("The suspect is found related to a and c.\n")
    none = "The suspect is found related to none of the references.\n"
    assert shown(two, replace(two, reference="d")).startswith(none)
    assert "The suspect is found" not in shown(one)


def test_of_several_references_each_is_a_row():
    lines = shown(related(), not_related(), undecided(), width=120).splitlines()
    row = next(line for line in lines if line.startswith("ours  "))
    assert any(line.startswith("ours: a control from the same base") for line in lines)
    assert row.split() == ["ours", "related", "0.167", "0.500", "2"]
    assert not any("p-value of the verdict" in line for line in lines)


def test_every_kind_of_evidence_is_a_row():
    text = shown(related(), width=160)
    # Values of the controls are -0.5, 0.25, 1.25, 1.5 and 2.75 sixteenths.
    row = next(line for line in text.splitlines() if line.startswith("Shared mistakes"))
    assert re.split(r"  +", row.strip()) == [
        "Shared mistakes",
        "0.62 [0.50, 0.75]",
        "0.08 (−0.03 to 0.17)",
        "0.167",
        "yes",
    ]
    assert "undefined (no probabilities" in text


def test_what_would_change_it_stands_right_below_the_sentence():
    lines = shown(related(), width=200).splitlines()
    assert lines[1].startswith("would change it: a control from the same base")
    assert lines[2].startswith("warning: the control far is related")
    assert "p-value of the verdict: 0.167 (α = 0.6)" in unwrapped("\n".join(lines))


def test_of_many_warnings_some_are_shown_and_the_others_counted():
    many = replace(related(), warnings=tuple(f"number {place}" for place in range(8)))
    text = shown(many)
    assert [f"number {place}" in text for place in range(8)] == [True] * 2 + [False] * 6
    assert "warning: 6 more: --verbose" in text
    assert "more: --verbose" not in shown(replace(many, warnings=many.warnings[:2]))


def test_a_verdict_has_at_most_25_lines():
    assert len(shown(real_verdict()).splitlines()) <= 25
    assert len(shown(related(), not_related(), undecided()).splitlines()) <= 25


def real_verdict(**names):
    rows, gold = strangers(0, controls=20, items=100)
    rows = taking(rows, 1.0)
    return judged(make_case(rows, gold, probabilities=probabilities_of(rows), **names))


LONG = "an-organisation-with-a-name/" + "a-model-of-some-name-" * 5


@pytest.mark.parametrize(
    "verdicts",
    [
        (related(), not_related(), undecided()),
        (real_verdict(),),
        (real_verdict(suspect=LONG, reference=LONG[::-1], controls=(LONG,) * 20),),
    ],
)
def test_nothing_is_wider_than_a_usual_terminal_nor_cut_off(verdicts):
    lines = shown(*verdicts).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("…" in line for line in lines)


def test_names_cannot_move_the_cursor_nor_colour_the_screen():
    hostile = "\x1b[31mred\x1b[2J\r\u202eleft"
    verdict = real_verdict(suspect=hostile, reference=hostile, controls=(hostile,) * 20)
    verdict = replace(
        verdict,
        evidence=tuple(replace(one, capability=hostile) for one in verdict.evidence),
        changes=(hostile,),
        warnings=(hostile,) * 7,
        items=(
            InformativeItem(
                id=hostile,
                text=hostile,
                gold=None,
                reference=hostile,
                suspect=hostile,
                expected=0.5,
                weight=0.5,
            ),
        ),
    )
    for several in ((verdict,), (verdict, verdict)):
        text = shown(*several)
        assert not set("\x1b\r\u202e") & set(text)
        assert "x1b[31mred" in text.replace("\n", "")
