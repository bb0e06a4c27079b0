"""The verdict on the page and in the terminal, with the numbers that it rests on."""

from dataclasses import replace

import pytest
from made_up_cases import judged, make_case, probabilities_of, strangers, taking
from made_up_reuse_comparison import (
    build_comparison,
    not_related,
    related,
    undecided,
)

from reports.blocks import Bullets, Callout, Figure, Fold, within
from reports.prose import plain
from reports.renderers.terminal import to_text
from scope.jobs.pages import page_of
from scope.jobs.reuse.models_page import at_least
from scope.jobs.reuse.verdict_page import sources, threshold_of, verdict_facts, verdict_section
from scope.records import Agreement, InformativeItem, ModelScore


def facts(verdict, *, several=False):
    terms = verdict_facts(verdict, several=several)
    return {plain(term): plain(meaning).replace("\u00a0", " ") for term, meaning in terms.pairs}


def of_kind(kind, *verdicts):
    return [block for block in within(verdict_section(verdicts).blocks) if isinstance(block, kind)]


def words(*verdicts):
    """The sentences below the pictures."""
    return plain(verdict_section(verdicts).blocks[-1].text)


def test_many_warnings_are_folded_after_the_first():
    (box,) = of_kind(Callout, replace(related(), warnings=tuple(map(str, range(9)))))
    shown, folded = (
        one for one in within(box.blocks) if isinstance(one, Bullets) and len(one.items) > 1
    )
    assert [plain(one) for one in (*shown.items, *folded.items)] == list(map(str, range(9)))
    assert "7 more warnings" in [plain(one.title) for one in box.blocks if isinstance(one, Fold)]


def test_the_two_p_values_and_the_independent_controls_are_stated_where_known():
    agreement = Agreement(suspect=1.0, controls=(), independent=3.25, p_value=0.25)
    one = replace(related(), p_rank=1 / 6, agreement=agreement, assume_no_label_training=True)
    shown = facts(one)
    assert shown["p-value of the verdict"] == ("0.167 (α = 0.6): 0.167 by rank, 0.250 by agreement")
    assert shown["Controls"].endswith("; all together count as 3.2 independent ones")
    assert shown["Assumed"] == "the suspect was not trained on answers of the reference"


def test_controls_without_a_rank_are_counted():
    assert facts(not_related())["p-value of the verdict"] == "0.667 (α = 0.6)"
    whole = related()
    fewer = replace(whole, standings=whole.standings[:-2])
    assert "; 2 have no usable answers, or guess;" in facts(fewer)["Controls"]


def standings(*values):
    return [ModelScore(model=str(place), value=value) for place, value in enumerate(values)]


@pytest.mark.parametrize(
    ("count", "alpha", "place"),
    [(19, 0.05, 18.0), (18, 0.05, None), (38, 0.05, 37.0), (39, 0.05, 37.0), (0, 0.5, None)],
)
def test_the_threshold_is_the_control_that_may_just_not_be_reached(count, alpha, place):
    assert threshold_of(alpha, standings(*map(float, range(count)))) == place


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3, 0.6])
def test_beyond_the_threshold_the_p_value_is_small_enough_and_on_it_it_is_not(alpha):
    for count in range(1, 60):
        controls = standings(*((7 * place) % 5 for place in range(count)))
        place = threshold_of(alpha, controls)
        if place is None:
            assert 1 / (count + 1) > alpha
        else:
            beyond, on_it = (
                (1 + at_least(value, controls)) / (count + 1) for value in (place + 1e-9, place)
            )
            assert beyond <= alpha + 1e-12 < on_it


def test_several_references_share_the_error_rate():
    charts = [one.chart for one in of_kind(Figure, related(), not_related(), undecided())]
    guides = [[(guide.start[0], guide.name) for guide in chart.guides] for chart in charts]
    # 0.6 alone would let two of five controls stand above; a third of it lets none.
    assert guides == [[(2.75, "p ≤ 0.2 beyond this")]] * 2 + [[]]
    (alone,) = of_kind(Figure, related())
    assert [guide.start[0] for guide in alone.chart.guides] == [1.25]


def test_too_few_controls_say_what_p_they_allow():
    assert words(replace(undecided(), alpha=0.2)).endswith(
        "So few controls allow no p-value by rank below 0.250: 4 are needed."
    )


def test_a_suspect_without_a_value_has_no_place():
    whole = related()
    lacking = replace(whole, standings=whole.standings[1:], p_value=None)
    assert "The suspect has no joint statistic." in words(lacking)
    (figure,) = of_kind(Figure, replace(lacking, alpha=0.1))
    assert "the suspect has none" in figure.chart.label
    assert [key.name for key in figure.chart.legend] == ["control"]
    assert of_kind(Figure, replace(whole, standings=())) == []


def told(*verdicts):
    return [plain(one) for one in sources(verdicts)]


def test_the_sources_are_those_that_are_related():
    three = (replace(related(), reference=name) for name in "abc")
    assert told(*three) == ["The suspect is found related to a, b and c."]
    assert told(related()) == []


def test_a_page_without_a_verdict_says_so():
    (block,) = verdict_section(()).blocks
    assert plain(block.text) == "No verdict was reached."


def shown(*verdicts, width=80):
    return to_text(page_of(replace(build_comparison(), verdicts=verdicts)).brief, width=width)


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
