"""What holds for the page of every job in a real browser."""

import importlib.util
from pathlib import Path

import pytest
from opened_page import opening

JOBS = (
    "audit",
    "compare",
    "reuse",
    "pair",
    "probe",
    "embed",
    "forecast",
    "map",
    "predict",
    "route",
)
PAGES = {
    "audit": "page",
    "compare": "tasks_page",
    "reuse": "reuse_page",
    "pair": "pair_page",
    "probe": "probe_page",
}
FLEET = ("embed", "forecast", "map", "predict", "route")


@pytest.fixture(params=(*PAGES, *FLEET))
def address(request, tmp_path):
    """Where the page of a job lies."""
    job = request.param
    page = (
        request.getfixturevalue(PAGES[job])
        if job in PAGES
        else request.getfixturevalue("fleet_pages")[f"fleet-{job}"]
    )
    path = tmp_path / f"{job}.html"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def axe():
    """The script that examines a page for barriers to people."""
    found = importlib.util.find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("axe-playwright-python is not installed")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def test_no_foreign_text_runs(browser, address):
    with opening(browser, address) as tab:
        assert tab.evaluate("typeof window.injected") == "undefined"
        assert tab.evaluate("[document.scripts.length, document.images.length]") == [1, 0]


def test_a_phone_scrolls_no_page_sideways_and_shows_letters_of_charts(browser, address):
    with opening(browser, address, viewport={"width": 390, "height": 844}) as tab:
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")  # unfolds everything
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        letters = tab.evaluate(
            "[...document.querySelectorAll('svg text')].map(text => Math.hypot("
            "text.getScreenCTM().a, text.getScreenCTM().b)"
            " * parseFloat(getComputedStyle(text).fontSize))"
        )
        assert min(letters, default=12) >= 11


# Rows are built alike: the first of each table are examined.
TOO_MANY = ".pair:nth-of-type(n + 4), tbody tr:nth-of-type(n + 4)"


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_nothing_keeps_people_from_reading(browser, address, axe, scheme):
    with opening(browser, address, color_scheme=scheme) as tab:
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        tab.evaluate(f"document.querySelectorAll('{TOO_MANY}').forEach(part => part.remove())")
        tab.evaluate(axe)
        found = tab.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        worst = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(one["id"], one["nodes"][0]["html"]) for one in worst] == []


def test_on_paper_everything_is_unfolded_without_controls(browser, address):
    with opening(browser, address) as tab:
        tab.emulate_media(media="print")
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.locator("details:not([open])").count() == 0
        assert tab.locator("button:visible, form:visible, nav:visible").count() == 0


def test_dark_colours_differ_enough_to_be_read(browser, tmp_path, page, axe):
    path = tmp_path / "audit.html"
    path.write_text(page, encoding="utf-8")
    with opening(browser, path.as_uri(), color_scheme="dark") as tab:
        tab.evaluate(axe)
        found = tab.evaluate("axe.run({runOnly: ['color-contrast']})")["violations"]
        assert [one["nodes"][0]["html"] for one in found] == []
