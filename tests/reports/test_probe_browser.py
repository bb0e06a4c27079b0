"""The page of a probe in a real browser: no text runs, and it can be read by everyone."""

import shutil

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the path")


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@pytest.fixture
def address(tmp_path, probe_page):
    path = tmp_path / "probe.html"
    path.write_text(probe_page, encoding="utf-8")
    return path.as_uri()


def test_no_text_of_a_probe_runs_and_its_numbers_unfold(browser, address):
    complaints, requests = [], []
    tab = browser.new_page()
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(address)
    assert tab.evaluate("typeof window.injected") == "undefined"
    assert tab.evaluate("[document.scripts.length, document.images.length]") == [1, 0]
    numbers = tab.locator("#layers")
    assert not numbers.locator("table").is_visible()
    numbers.locator("summary").click()
    assert numbers.locator("table").is_visible()
    assert complaints == []
    assert requests == [address]
    tab.close()


def test_without_javascript_every_section_can_be_read(browser, address):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address)
    assert tab.locator("section:visible").count() == 9
    tab.locator("#alignments summary").click()
    assert tab.locator(".grid td:visible").count() == 540
    context.close()


def test_a_narrow_screen_needs_no_sideways_scrolling_of_the_page(browser, address):
    tab = browser.new_page(viewport={"width": 400, "height": 800})
    tab.goto(address)
    for details in tab.locator("summary").all():
        details.click()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
    tab.close()


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
