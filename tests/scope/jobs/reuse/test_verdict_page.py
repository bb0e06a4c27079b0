"""The verdict on the page and in the terminal, with the numbers that it rests on."""

from dataclasses import replace

import pytest
from kept_results import kept
from made_up_cases import judged, make_case, probabilities_of, strangers, taking

from reports.blocks import Bullets, Figure, Paragraph, Terms, within
from reports.prose import plain
from reports.renderers.terminal import to_text
from scope.jobs.pages import page_of
from scope.records import Agreement, Undefined

RELATED, NOT_RELATED, UNDECIDED = kept("reuse").verdicts
SUSPECT = RELATED.suspect


def page_with(*verdicts):
    return page_of(kept("reuse", verdicts=verdicts))


def facts(verdict):
    """The numbers of the verdict."""
    (terms,) = of_kind(Terms, verdict, anchor="pvalues")
    return {plain(term): plain(meaning).replace("\u00a0", " ") for term, meaning in terms.pairs}


def of_kind(kind, *verdicts, anchor="answer"):
    (section,) = (x for x in page_with(*verdicts).sections if x.anchor == anchor)
    return [block for block in within(section.blocks) if isinstance(block, kind)]


def test_the_first_warnings_are_shown_at_once_and_all_are_folded():
    verdict = replace(RELATED, warnings=tuple(map(str, range(9))))
    texts = [plain(block.text) for block in of_kind(Paragraph, verdict)]
    assert [text for text in texts if "Warning" in text] == ["Warning: 0.", "Warning: 1."]
    (terms,) = of_kind(Terms, verdict, anchor="pvalues")
    warnings = [plain(text) for term, text in terms.pairs if plain(term) == "Warning"]
    assert warnings == list(map(str, range(9)))


@pytest.mark.parametrize(
    ("verdict", "heading"),
    [
        (RELATED, f"{SUSPECT} is related to ours: derived from it, or of a common"),
        (NOT_RELATED, f"{SUSPECT} is not a derivative of theirs"),
        (UNDECIDED, "? It is too early"),
    ],
)
def test_the_heading_decides_and_the_first_screen_says_what_to_do(verdict, heading):
    assert plain(page_with(verdict).heading).startswith(heading)
    to_do = [plain(text) for block in of_kind(Bullets, verdict) for text in block.items]
    assert to_do == list(verdict.changes)


def test_the_first_screen_has_the_strongest_questions_of_either_side():
    texts = [plain(block.text) for block in of_kind(Paragraph, RELATED)]
    shared = [text for text in texts if "Shared: both answer " in text]
    assert len(shared) == 2
    assert (
        "” Shared: both answer Paris; 6.2\u00a0% of unrelated models are expected to" in shared[0]
    )
    (other,) = (text for text in texts if "Not shared: the suspect answers red " in text)
    assert "as 50\u00a0% of unrelated models are expected to. Right: not known." in other


def test_each_model_stands_in_its_row_by_its_likeness():
    tuned = replace(NOT_RELATED.derivatives[0], value=4.5)
    (figure,) = of_kind(Figure, replace(NOT_RELATED, derivatives=(tuned,)))
    controls, suspect, derivatives = figure.chart.series
    assert [(dot.x, dot.y) for dot in (*suspect.dots, *derivatives.dots)] == [(1.25, 1), (4.5, 0)]
    assert [dot.x for dot in controls.dots] == [2.75, 1.5, 1.25, 0.25, -0.5]


def test_the_p_values_the_independent_controls_and_the_derivatives_are_stated_where_known():
    agreement = Agreement(suspect=1.0, controls=(), independent=3.25, p_value=0.25)
    shown = facts(replace(NOT_RELATED, p_rank=1 / 6, p_value=0.25, agreement=agreement))
    assert shown["p-value of related"].startswith(
        "0.250 (α = 0.6): 0.167 by rank, 0.250 by agreement"
    )
    assert shown["Controls"].endswith("; all together count as 3.2 independent ones")
    assert shown["p-value of not related"] == "0.500"
    assert shown["Derivatives"] == "1, at least 1 are needed"


def test_the_threshold_names_the_share_of_the_error_rate():
    verdicts = (RELATED, NOT_RELATED, replace(UNDECIDED, threshold=None))
    charts = [figure.chart for figure in of_kind(Figure, *verdicts)]
    guides = [[(guide.start[0], guide.name) for guide in chart.guides] for chart in charts]
    assert guides == [[(2.75, "beyond: at most 1 of 5 pairs of models")]] * 2 + [[]]


def test_a_suspect_without_a_value_has_no_place():
    whole = RELATED
    gone = Undefined(reason="nothing shared")
    bare = (replace(kind, suspect=gone, controls=()) for kind in whole.evidence)
    lacking = replace(whole, standings=whole.standings[1:], p_value=None, skill=gone)
    lacking = replace(lacking, evidence=tuple(bare))
    assert kept("reuse", verdicts=(lacking,)).html()
    assert facts(lacking)["p-value of related"].startswith("none (α")
    shown = [plain(block.text) for block in of_kind(Paragraph, lacking)]
    assert "The suspect has no joint statistic." in shown
    (figure,) = of_kind(Figure, replace(lacking, threshold=None))
    assert [key.name for key in figure.chart.legend] == ["unrelated models (controls)"]
    assert of_kind(Figure, replace(whole, standings=())) == []


def test_a_verdict_has_at_most_25_lines():
    rows, gold = strangers(0, controls=20, items=100)
    rows = taking(rows, 1.0)
    real = judged(make_case(rows, gold, probabilities=probabilities_of(rows)))
    for verdicts in ((real,), (RELATED, NOT_RELATED, UNDECIDED)):
        assert len(to_text(page_with(*verdicts).brief, width=80).splitlines()) <= 25
