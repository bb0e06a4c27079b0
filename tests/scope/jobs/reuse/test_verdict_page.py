"""The verdict on the page and in the terminal, with the numbers that it rests on."""

from dataclasses import replace

import pytest
from kept_results import kept
from made_up_cases import judged, make_case, probabilities_of, strangers, taking

from reports.blocks import Figure, Paragraph, Terms, within
from reports.prose import plain
from reports.text import to_text
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


def test_warnings_are_counted_at_once_and_all_are_folded():
    verdict = replace(RELATED, warnings=tuple(map(str, range(9))))
    texts = [plain(block.text) for block in of_kind(Paragraph, verdict)]
    assert "The command; 9 warnings: tests." in texts
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
    assert {*verdict.changes} <= {plain(block.text) for block in of_kind(Paragraph, verdict)}


def test_the_first_screen_has_the_strongest_questions_of_either_side():
    texts = [plain(block.text) for block in of_kind(Paragraph, RELATED)]
    assert "Both answer Paris, as 6.2\u00a0% of unrelated models would. Right: Denver." in texts
    (other,) = (text for text in texts if text.startswith("ours answers "))
    assert ", as 50\u00a0% of unrelated models would; suspect" in other


def test_the_mistakes_of_the_reference_are_counted_with_what_is_expected():
    rows, gold = strangers(0, controls=20)
    for share, chance in ((1.0, False), (0.0, True)):
        verdict = judged(make_case(taking(rows, share), gold))
        wrong = rows[0] != gold
        assert verdict.mistakes.n == wrong.sum()
        same = (taking(rows, share)[1] == rows[0])[wrong].mean()
        assert verdict.mistakes.same == pytest.approx(same, abs=1e-6)
        assert 0 < verdict.mistakes.expected < 0.5
        (text,) = (
            plain(block.text)
            for block in of_kind(Paragraph, verdict)
            if "too; an" in plain(block.text)
        )
        assert f"’s {wrong.sum()} wrong answers, too;" in text
        assert ("may be chance" in text) == chance


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
    assert shown["Same answers of derivatives"].startswith("tuned")


def test_the_threshold_names_the_share_of_the_error_rate():
    verdicts = (RELATED, NOT_RELATED, replace(UNDECIDED, threshold=None))
    charts = [figure.chart for figure in of_kind(Figure, *verdicts)]
    guides = [[(guide.start[0], guide.name) for guide in chart.guides] for chart in charts]
    assert guides == [[(2.75, "at most 20\u00a0% of all pairs of models lie beyond")]] * 2 + [[]]


def test_a_suspect_without_a_value_has_no_place():
    whole = RELATED
    gone = Undefined(reason="nothing shared")
    bare = (replace(kind, suspect=gone, controls=()) for kind in whole.evidence)
    lacking = replace(whole, standings=whole.standings[1:], p_value=None, skill=gone)
    lacking = replace(lacking, evidence=tuple(bare))
    assert kept("reuse", verdicts=(lacking,)).html()
    assert facts(lacking)["p-value of related"].startswith("none (α")
    (figure,) = of_kind(Figure, replace(lacking, threshold=None))
    assert [key.name for key in figure.chart.legend] == ["other models (controls)"]
    assert of_kind(Figure, replace(whole, standings=())) == []


def test_a_verdict_has_at_most_25_lines():
    rows, gold = strangers(0, controls=20, items=100)
    rows = taking(rows, 1.0)
    real = judged(make_case(rows, gold, probabilities=probabilities_of(rows)))
    for verdicts in ((real,), (RELATED, NOT_RELATED, UNDECIDED)):
        assert len(to_text(page_with(*verdicts).brief, width=80).splitlines()) <= 25
