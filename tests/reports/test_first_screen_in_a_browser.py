"""The first screen, and the dots of random changes, in a real browser and on paper."""

import json
import re
from dataclasses import replace

import pytest
from kept_results import CLOSING, interval, kept

from reports.blocks import Card, Cards, Column, Page, Section, Table
from reports.estimates import COLOURS, limit_strips
from reports.html import render
from reports.prose import prose
from reports.wording import short, short_points
from scope.jobs.pages import html_of, write_brief
from scope.records import Endpoint, Estimate

PHONE = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}


@pytest.fixture(scope="module")
def result():
    return kept("audit-reactions")


@pytest.fixture(scope="module")
def html(result):
    return html_of(result)


ENDS = (
    Endpoint(name="accuracy", estimate=interval(0.004, 9, 0.01, "t"), limit=-0.02, p_within=0.0),
    Endpoint(name="accuracy", estimate=interval(-0.06, 9, 0.01, "t"), limit=-0.02, p_adjusted=0.0),
    Endpoint(name="accuracy", estimate=interval(-0.015, 9, 0.01, "t"), limit=-0.02),
)

STRIPS = """cells => cells.map(cell => ({
    words: cell.querySelector('.words').textContent,
    verdict: cell.querySelector('.words').classList[1],
    value: parseFloat(cell.querySelector('circle').getAttribute('cx')),
    limit: parseFloat(cell.querySelector('.yes')?.getAttribute('x')),
    wide: cell.querySelector('svg').getBoundingClientRect().width,
    box: cell.querySelector('.words').getBoundingClientRect().height,
}))"""


def stored(endpoints):
    """What a strip of each stored endpoint says, by its words."""
    known = {}
    for end in endpoints:
        if "value" in end["estimate"]:
            estimate = Estimate(**end["estimate"])
            state = Endpoint(**{**end, "estimate": estimate}).state
            for write in (short, short_points):
                known[write(estimate)] = (estimate.value, end.get("limit"), COLOURS[state])
    return known


def check_strips(tab, endpoints):
    """Words and colours are those of the stored numbers, and dots lie on the side of their zone."""
    strips = tab.eval_on_selector_all("td:has(> .words)", STRIPS)
    known = stored(endpoints)
    for strip in strips:
        value, limit, verdict = known[strip["words"].removesuffix(" *")]
        assert strip["verdict"] == verdict
        assert strip["box"] < 30  # in one line
        assert strip["wide"] > 90
        if limit is not None:
            assert (strip["value"] >= strip["limit"]) == (value >= limit)
    return strips


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desk", "phone"])
def test_numbers_and_zones_of_limits_are_those_of_the_endpoints(opened, how):
    columns = (Column("Model", "name"), Column("Accuracy, points", "strip"))
    strips = limit_strips(ENDS, "Accuracy", in_points=True)
    table = Table.with_columns(columns, zip("abc", strips, strict=True))
    section = Section(anchor="answer", title="Answer", blocks=(table,))
    page = Page(title="limits", sections=(section,), heading=prose("One."))
    rows = [
        {
            "name": end.name,
            "estimate": {
                name: getattr(end.estimate, name)
                for name in ("value", "low", "high", "n", "method")
            },
            **{name: getattr(end, name) for name in ("limit", "p_within", "p_adjusted")},
        }
        for end in ENDS
    ]
    with opened(render(page), **how) as tab:
        strips = check_strips(tab, rows)
        assert [strip["verdict"] for strip in strips] == ["good", "bad", "open"]
        assert tab.evaluate("document.documentElement.scrollWidth") <= tab.viewport_size["width"]


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desk", "phone"])
def test_the_table_of_an_audit_has_the_numbers_and_zones_of_its_json(result, html, opened, how):
    verdicts = json.loads(result.to_json())["verdicts"]
    with opened(html, **how) as tab:
        if not tab.locator("#answer .limits").count():
            pytest.skip("the answer of an audit has no table of limits")
        assert check_strips(tab, [end for verdict in verdicts for end in verdict["endpoints"]])


def test_written_answers_are_read_on_a_phone_without_scrolling_aside(opened):
    columns = {"Model": "name", "Answer": "text", "Invariance": "text", "Distance": "number"}
    row = (
        "smollm2-135m-instruct (reference)",
        "The answer in a sentence. " * 4,
        "not moved",
        "0.123",
    )
    card = Card(note=prose("One."), blocks=(Table.of(columns, [row]),))
    section = Section(anchor="examples", title="Examples", blocks=(Cards(cards=(card,)),))
    with opened(render(Page(title="cards", sections=(section,))), **PHONE) as tab:
        table = tab.locator(".pair .scroll")
        assert table.evaluate("box => box.scrollWidth - box.clientWidth") <= 1
        answer = table.locator("tbody tr > :nth-child(2)").bounding_box()
        assert answer["width"] > 300


def dots(tab, panel):
    read = "dots => dots.map(dot => [dot.cx.baseVal.value, dot.cy.baseVal.value])"
    return tab.locator(".dots").nth(panel).locator("circle").evaluate_all(read)


@pytest.mark.parametrize("how", [{}, PHONE], ids=["desk", "phone"])
def test_a_click_on_a_dot_or_an_arrow_key_shows_its_text_as_text(result, html, opened, how):
    with opened(html, **how) as tab:
        card, chart = tab.locator(".change"), tab.locator(".dots").first
        tab.wait_for_selector(".hint:visible")
        assert card.is_hidden()
        box, places = chart.bounding_box(), dots(tab, 0)
        x, y = (side * box["width"] / 200 for side in places[4])
        chart.click(position={"x": x, "y": y})
        assert tab.locator("circle.chosen").count() == 2  # the same change in both panels
        chosen = int(chart.get_attribute("aria-valuenow")) - 1
        assert places[chosen] == places[4]
        said = card.inner_text()
        shown = re.search(
            r"e\d </script></style></title><script>window.injected=1</script> \d", said
        )
        assert shown[0] in {each.perturbation.text for each in result.candidates}
        assert CLOSING in said
        assert tab.evaluate("typeof window.injected") == "undefined"
        assert card.locator("ins").count() > 0
        names = card.locator("tbody th").all_inner_texts()
        assert names == [model.name for model in result.manifest.models]
        chart.press("ArrowRight")
        after = dots(tab, 0)[int(chart.get_attribute("aria-valuenow")) - 1]
        assert after[0] >= places[chosen][0]
        assert tab.evaluate("document.documentElement.scrollWidth") <= tab.viewport_size["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_charts_of_dots_keep_nobody_from_reading(html, opened, axe, scheme):
    with opened(html, color_scheme=scheme) as tab:
        tab.wait_for_selector(".hint:visible")
        tab.locator(".dots").first.press("ArrowLeft")
        tab.evaluate(axe)
        found = tab.evaluate("axe.run('#moves', {resultTypes: ['violations']})")["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


def test_a_brief_is_one_page_of_paper_and_the_report_begins_with_it(result, tmp_path, browser):
    folder = tmp_path / "run"
    folder.mkdir()
    path = write_brief(replace(result, folder=folder))
    tab = browser.new_page()
    tab.goto(path.as_uri())
    tab.wait_for_selector(".hint:visible")
    if not tab.locator(".heading").count():
        pytest.skip("the answer of an audit has no heading")
    pdf = tab.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) == 1
    tab.emulate_media(media="print")
    assert tab.locator(":is(.change, .hint, nav):visible").count() == 0
    tab.close()


def test_a_printed_report_begins_with_the_answer_on_a_sheet_of_its_own(html, opened):
    with opened(html) as tab:
        tab.emulate_media(media="print")
        read = "sections => sections.map(section => getComputedStyle(section).breakAfter)"
        breaks = tab.locator("main > section").evaluate_all(read)
        assert [place for place, kind in enumerate(breaks) if kind == "page"] == [1]
