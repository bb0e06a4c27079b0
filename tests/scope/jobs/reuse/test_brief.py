"""What the terminal shows of a test of reuse."""

from dataclasses import replace

import pytest
from made_up_cases import judged, make_case, probabilities_of, strangers, taking
from made_up_reuse_comparison import build_comparison, not_related, related, undecided

from reports.blocks import Table, within
from reports.renderers.terminal import to_text
from scope.jobs.pages import page_of
from scope.records import InformativeItem


def shown(*verdicts, width=80):
    return to_text(page_of(replace(build_comparison(), verdicts=verdicts)).brief, width=width)


def unwrapped(text):
    return " ".join(text.split())


def cells(text, name):
    row = next(line for line in text.splitlines() if name in line and "│" in line)
    return [cell.strip() for cell in row.split("│")[1:-1]]


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


def test_its_tables_are_those_of_the_page():
    page = page_of(build_comparison())
    tables = [block for block in within(page.brief) if isinstance(block, Table)]
    assert len(tables) == 3
    assert {id(one) for one in tables} <= {id(one) for one in page.blocks()}


def test_every_kind_of_evidence_is_a_row():
    text = shown(related(), width=160)
    # Values of the controls are -0.5, 0.25, 1.25, 1.5 and 2.75 sixteenths.
    first = ["Shared mistakes", "0.625  n=40", "0.078 (n\u00a0=\u00a05)", "0.167", "yes"]
    assert cells(text, "Shared mistakes") == first
    assert "−0.031 to 0.172" in text
    assert "[0.500, 0.750]" in text
    assert cells(text, "CAPA")[3:] == ["1.000", "no"]
    assert cells(text, "invented")[2] == "none"
    soft = cells(text, "Soft-SCoPE")
    assert soft[0] == "Soft-SCoPE tolerance=0.1, cutoff=1.0"
    assert soft[1].startswith("undefined (no probabilities")


def test_what_it_rests_on_and_what_would_change_it_follow():
    text = unwrapped(shown(related(), width=200))
    assert "Questions: 1,200 answered by both; the suspect was asked 1,500 times" in text
    assert "the difference is +3.750 [+3.625, +3.875] (n = 40) on the joint scale" in text
    assert "dashed line" not in text
    assert "would change it: a control from the same base" in text
    assert "warning: the control far is related" in text
    assert "Question by question" not in shown(replace(related(), paired=None))


def test_the_corrected_p_value_stands_behind_that_of_the_verdict_with_several_references():
    verdict = real_verdict()
    assert "Holm" not in shown(verdict)
    both = (replace(verdict, p_adjusted=0.0875), replace(not_related(), alpha=0.05))
    several = unwrapped(shown(*both))
    assert "; after Holm’s correction over the references 0.087 (α = 0.05)" in several


def test_of_many_warnings_some_are_shown_and_the_others_counted():
    many = replace(related(), warnings=tuple(f"number {place}" for place in range(8)))
    text = shown(many)
    assert [f"number {place}" in text for place in range(8)] == [True] * 5 + [False] * 3
    assert "warning: 3 more in the report" in text
    five = shown(replace(many, warnings=many.warnings[:5]))
    assert "more in the report" not in five


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
    assert {line[-1] for line in lines if line.startswith("│")} == {"│"}
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


def test_square_brackets_are_words_and_no_orders():
    verdict = real_verdict(suspect="[bold]loud[/bold]", reference="[red]")
    assert "[bold]loud[/bold] is related to [red]" in unwrapped(shown(verdict, width=200))
