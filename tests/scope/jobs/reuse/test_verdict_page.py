"""The verdict on the page and in the terminal, with the numbers that it rests on."""

from dataclasses import replace

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
from scope.jobs.reuse.page import verdict_section
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


def test_the_p_values_the_independent_controls_and_the_derivatives_are_stated_where_known():
    agreement = Agreement(suspect=1.0, controls=(), independent=3.25, p_value=0.25)
    shown = facts(replace(not_related(), p_rank=1 / 6, p_value=0.25, agreement=agreement))
    assert shown["p-value of related"].startswith(
        "0.250 (α = 0.6): 0.167 by rank, 0.250 by agreement"
    )
    assert shown["Controls"].endswith("; all together count as 3.2 independent ones")
    assert shown["p-value of not related"] == "0.500"
    assert shown["Derivatives"] == "1, at least 1 are needed"


def test_the_threshold_names_the_share_of_the_error_rate():
    verdicts = (related(), not_related(), replace(undecided(), threshold=None))
    charts = [figure.chart for figure in of_kind(Figure, *verdicts)]
    guides = [[(guide.start[0], guide.name) for guide in chart.guides] for chart in charts]
    assert guides == [[(2.75, "p ≤ 0.2 beyond this")]] * 2 + [[]]


def test_a_suspect_without_a_value_has_no_place():
    whole = related()
    gone = Undefined(reason="nothing shared")
    bare = (replace(kind, suspect=gone, controls=()) for kind in whole.evidence)
    lacking = replace(whole, standings=whole.standings[1:], p_value=None, skill=gone)
    lacking = replace(lacking, evidence=tuple(bare))
    assert replace(build_comparison(), verdicts=(lacking,)).html()
    assert facts(lacking)["p-value of related"].startswith("none (α")
    assert plain(of_kind(Paragraph, lacking)[-1].text) == "The suspect has no joint statistic."
    (figure,) = of_kind(Figure, replace(lacking, threshold=None))
    assert [key.name for key in figure.chart.legend] == ["control"]
    assert of_kind(Figure, replace(whole, standings=())) == []


def test_a_verdict_has_at_most_25_lines():
    rows, gold = strangers(0, controls=20, items=100)
    rows = taking(rows, 1.0)
    real = judged(make_case(rows, gold, probabilities=probabilities_of(rows)))
    for verdicts in ((real,), (related(), not_related(), undecided())):
        page = page_of(replace(build_comparison(), verdicts=verdicts))
        assert len(to_text(page.brief, width=80).splitlines()) <= 25
