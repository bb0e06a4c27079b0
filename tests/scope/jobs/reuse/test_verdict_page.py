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

from reports.blocks import Figure, Paragraph, Terms, within
from reports.prose import plain
from reports.renderers.terminal import to_text
from scope.jobs.pages import page_of
from scope.jobs.reuse.page import threshold_of, verdict_section
from scope.records import Agreement, Undefined


def facts(*verdicts):
    """The numbers of the first of the verdicts."""
    terms = of_kind(Terms, *verdicts)[1]
    return {plain(term): plain(meaning).replace("\u00a0", " ") for term, meaning in terms.pairs}


def of_kind(kind, *verdicts):
    return [block for block in within(verdict_section(verdicts).blocks) if isinstance(block, kind)]


def test_warnings_after_the_first_are_counted_and_folded():
    remarks, folded = of_kind(Terms, replace(related(), warnings=tuple(map(str, range(9)))))
    shown, more = (
        [plain(text) for term, text in terms.pairs if plain(term).lower() == "warning"]
        for terms in (remarks, folded)
    )
    assert shown == ["0", "1", "7 more: below"]
    assert more == list(map(str, range(2, 9)))


def test_the_two_p_values_and_the_independent_controls_are_stated_where_known():
    agreement = Agreement(suspect=1.0, controls=(), independent=3.25, p_value=0.25)
    one = replace(undecided(), p_rank=1 / 6, agreement=agreement, assume_no_label_training=True)
    shown = facts(one)
    assert shown["p-value of the verdict"] == "0.250 (α = 0.6): 0.167 by rank, 0.250 by agreement"
    assert shown["Controls"].endswith("; all together count as 3.2 independent ones")
    assert shown["Assumed"] == "the suspect was not trained on answers of the reference"


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3, 0.6])
def test_beyond_the_threshold_the_p_value_is_small_enough_and_on_it_it_is_not(alpha):
    for count in range(1, 60):
        controls = [(7 * place) % 5 for place in range(count)]
        place = threshold_of(alpha, controls)
        if place is None:
            assert 1 / (count + 1) > alpha
        else:
            beyond, on_it = (
                (1 + sum(control >= value for control in controls)) / (count + 1)
                for value in (place + 1e-9, place)
            )
            assert beyond <= alpha + 1e-12 < on_it


def test_several_references_share_the_error_rate():
    charts = [one.chart for one in of_kind(Figure, related(), not_related(), undecided())]
    guides = [[(guide.start[0], guide.name) for guide in chart.guides] for chart in charts]
    # 0.6 alone would let two of five controls stand above; a third of it lets none.
    assert guides == [[(2.75, "p ≤ 0.2 beyond this")]] * 2 + [[]]
    (alone,) = of_kind(Figure, related())
    assert [guide.start[0] for guide in alone.chart.guides] == [1.25]


def test_a_suspect_without_a_value_has_no_place():
    whole = related()
    gone = Undefined(reason="nothing shared")
    bare = (replace(one, suspect=gone, controls=(), p_value=None) for one in whole.evidence)
    lacking = replace(whole, standings=whole.standings[1:], p_value=None, skill=gone)
    lacking = replace(lacking, evidence=tuple(bare))
    assert replace(build_comparison(), verdicts=(lacking,)).html()
    assert facts(lacking)["p-value of the verdict"].startswith("none (α")
    assert plain(of_kind(Paragraph, lacking)[-1].text) == "The suspect has no joint statistic."
    (figure,) = of_kind(Figure, replace(lacking, alpha=0.1))
    assert [key.name for key in figure.chart.legend] == ["control"]
    assert of_kind(Figure, replace(whole, standings=())) == []


def test_a_verdict_has_at_most_25_lines():
    rows, gold = strangers(0, controls=20, items=100)
    rows = taking(rows, 1.0)
    real = judged(make_case(rows, gold, probabilities=probabilities_of(rows)))
    for verdicts in ((real,), (related(), not_related(), undecided())):
        page = page_of(replace(build_comparison(), verdicts=verdicts))
        assert len(to_text(page.brief, width=80).splitlines()) <= 25
