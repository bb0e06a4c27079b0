"""What holds for the page of every job in a real browser."""

import pytest
from kept_results import FLEET

JOBS = ("audit", "compare", "reuse", "pair", "probe", *FLEET)
EXAMINED = ("pair", "fleet-map")
"""Pages that hold nearly every kind of block between them; the others are examined as slow."""


@pytest.mark.parametrize("job", JOBS)
def test_no_foreign_text_runs_a_phone_scrolls_down_alone_and_paper_has_no_controls(
    pages, opened, job
):
    with opened(pages[job], viewport={"width": 390, "height": 844}) as tab:
        assert tab.evaluate("typeof window.injected") == "undefined"
        assert tab.evaluate("[document.scripts.length, document.images.length]") == [1, 0]
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        # All but the answer, a sheet of its own, is unfolded.
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.locator("main > :not(:first-child) details:not([open])").count() == 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        letters = tab.evaluate(
            "[...document.querySelectorAll('svg text')].map(text => Math.hypot("
            "text.getScreenCTM().a, text.getScreenCTM().b)"
            " * parseFloat(getComputedStyle(text).fontSize))"
        )
        assert min(letters, default=12) >= 11
        tab.emulate_media(media="print")
        assert tab.locator("button:visible, form:visible, nav:visible").count() == 0


# Rows are built alike: the first of each table are examined.
TOO_MANY = ".pair:nth-of-type(n + 4), tbody tr:nth-of-type(n + 4)"


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "job", [one if one in EXAMINED else pytest.param(one, marks=pytest.mark.slow) for one in JOBS]
)
def test_nothing_keeps_people_from_reading(pages, opened, axe, job, scheme):
    with opened(pages[job], color_scheme=scheme) as tab:
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        tab.evaluate(f"document.querySelectorAll('{TOO_MANY}').forEach(part => part.remove())")
        tab.evaluate(axe)
        found = tab.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
        worst = [one for one in found if one["impact"] in ("serious", "critical")]
        assert [(one["id"], one["nodes"][0]["html"]) for one in worst] == []


def test_dark_colours_differ_enough_to_be_read(opened, page, axe):
    with opened(page, color_scheme="dark") as tab:
        tab.evaluate(axe)
        found = tab.evaluate("axe.run({runOnly: ['color-contrast']})")["violations"]
        assert [one["nodes"][0]["html"] for one in found] == []
