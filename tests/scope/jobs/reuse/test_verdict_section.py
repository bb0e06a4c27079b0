"""The verdict first: a frame, a sign and a word each, and the numbers it rests on."""

from dataclasses import replace

from made_up_reuse_comparison import (
    REFERENCES,
    SUSPECT,
    build_comparison,
    not_related,
    related,
    undecided,
)

from reports.blocks import Bullets, Callout, Figure, Fold, Heading, within
from reports.prose import plain
from scope.jobs.reuse.sections import page
from scope.jobs.reuse.verdict_section import sources, verdict_facts, verdict_section
from scope.records import Agreement


def facts(verdict, *, several=False):
    terms = verdict_facts(verdict, several=several)
    return {plain(term): plain(meaning).replace("\u00a0", " ") for term, meaning in terms.pairs}


def of_kind(kind, *verdicts):
    return [block for block in within(verdict_section(verdicts).blocks) if isinstance(block, kind)]


def words(*verdicts):
    """The sentences below the pictures."""
    return plain(verdict_section(verdicts).blocks[-1].text)


def test_the_title_names_the_suspect_and_every_reference():
    title = page(build_comparison()).title
    assert title == f"SCoPE reuse: {SUSPECT} against {', '.join(REFERENCES)}"


def test_every_decision_has_a_word_a_shape_and_a_colour_of_its_own():
    boxes = of_kind(Callout, related(), not_related(), undecided())
    assert [(box.kind, plain(box.blocks[0].text).split(" to ")[0]) for box in boxes] == [
        ("related", "◆ related"),
        ("not-related", "○ not related"),
        ("undecided", "? undecided"),
    ]


def test_what_would_change_a_verdict_stands_right_below_its_sentence():
    (box,) = of_kind(Callout, related())
    assert [type(one) for one in box.blocks[2:4]] == [Heading, Bullets]
    assert plain(box.blocks[2].text) == "What would change it"
    assert plain(box.blocks[3].items[0]).startswith("a control from the same base")
    (undone,) = of_kind(Callout, undecided())
    assert plain(undone.blocks[2].text) == "Why it is not clearer"


def test_many_warnings_are_folded_after_the_first():
    (box,) = of_kind(Callout, replace(related(), warnings=tuple(map(str, range(9)))))
    shown, folded = (
        one for one in within(box.blocks) if isinstance(one, Bullets) and len(one.items) > 1
    )
    assert [plain(one) for one in (*shown.items, *folded.items)] == list(map(str, range(9)))
    assert "7 more warnings" in [plain(one.title) for one in box.blocks if isinstance(one, Fold)]


def test_a_verdict_carries_the_numbers_that_it_rests_on():
    assert facts(related(), several=True) == {
        "p-value of the verdict": (
            "0.167; after Holm’s correction over the references 0.500 (α = 0.6)"
        ),
        "Controls": (
            "5, at least 4 are needed; 5 comparable with the suspect, at least 0 are needed"
        ),
        "Questions": "1,200 answered by both; the suspect was asked 1,500 times",
    }
    assert facts(not_related())["p-value of the verdict"] == "0.667 (α = 0.6)"


def test_the_two_p_values_and_the_independent_controls_are_stated_where_known():
    agreement = Agreement(suspect=1.0, controls=(), independent=3.25, p_value=0.25)
    one = replace(related(), p_rank=1 / 6, agreement=agreement, assume_no_label_training=True)
    shown = facts(one)
    assert shown["p-value of the verdict"] == ("0.167 (α = 0.6): 0.167 by rank, 0.250 by agreement")
    assert shown["Controls"].endswith("; they count as 3.2 independent ones")
    assert shown["Assumed"] == "the suspect was not trained on answers of the reference"


def test_controls_without_a_rank_are_counted():
    whole = related()
    fewer = replace(whole, standings=whole.standings[:-2])
    assert "; 2 have no usable answers, or guess;" in facts(fewer)["Controls"]


def test_several_references_share_the_error_rate():
    charts = [one.chart for one in of_kind(Figure, related(), not_related(), undecided())]
    assert {chart.rate for chart in charts} == {"0.2"}
    # 0.6 alone would let two of five controls stand above; a third of it lets none.
    assert [chart.threshold for chart in charts] == [2.75, 2.75, None]
    (alone,) = of_kind(Figure, related())
    assert alone.chart.threshold == 1.25


def test_below_the_picture_is_the_place_of_the_suspect_and_the_closest_control():
    assert words(not_related()) == (
        "3 of 5 controls are at least as similar to the reference as the suspect. Question by "
        "question it is no more similar to the reference than the control near: difference −1.50 "
        "[−1.62, −1.38] (p = 0.125)."
    )
    assert words(related()).endswith("difference 3.75 [3.62, 3.88] (p < 0.001).")


def test_too_few_controls_say_what_p_they_allow():
    assert words(replace(undecided(), alpha=0.2)).endswith(
        "So few controls allow no p-value by rank below 0.250: 4 are needed."
    )


def test_a_suspect_without_a_value_has_no_place():
    whole = related()
    lacking = replace(whole, standings=whole.standings[1:], p_value=None)
    assert "The suspect has no joint statistic." in words(lacking)
    assert of_kind(Figure, replace(whole, standings=())) == []


def told(*verdicts):
    return [plain(one) for one in sources(verdicts)]


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


def test_a_page_without_a_verdict_says_so():
    (block,) = verdict_section(()).blocks
    assert plain(block.text) == "No verdict was reached."
