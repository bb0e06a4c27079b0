"""The page of a probe in a real browser: no text runs, and it can be read by everyone."""

import pytest
from opened_page import opening


@pytest.fixture
def address(tmp_path, probe_page):
    path = tmp_path / "probe.html"
    path.write_text(probe_page, encoding="utf-8")
    return path.as_uri()


def test_the_numbers_of_a_probe_unfold(browser, address):
    with opening(browser, address) as tab:
        numbers = tab.locator("#layers")
        assert not numbers.locator("table").is_visible()
        numbers.locator("summary").click()
        assert numbers.locator("table").is_visible()


def test_without_javascript_every_section_can_be_read(browser, address):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address)
    assert tab.locator("section:visible").count() == 9
    tab.locator("#alignments summary").click()
    assert tab.locator(".grid td:visible").count() == 540
    context.close()


def test_on_a_wide_screen_no_table_of_steps_is_cut_off(browser, address):
    tab = browser.new_page(viewport={"width": 1100, "height": 800})
    tab.goto(address)
    tab.locator("#steps summary").click()
    fits = (
        "[...document.querySelectorAll('#steps .scroll')].map(x => x.scrollWidth <= x.clientWidth)"
    )
    assert tab.evaluate(fits) == [True, True]
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axes_have_the_colour_of_the_words(browser, address, scheme):
    tab = browser.new_page(color_scheme=scheme)
    tab.goto(address)
    words, axis = tab.evaluate(
        "[getComputedStyle(document.body).color,"
        " getComputedStyle(document.querySelector('#answer svg text')).fill]"
    )
    assert axis == words
    tab.close()
