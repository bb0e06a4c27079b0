"""Many examples in a real browser: addresses, compressed cards, keys, copies."""

import json
from dataclasses import replace

import pytest
from claims_corpus import comparison as runs_compared, runs
from kept_results import CLOSING, IMAGE, TARGETS, found
from opened_page import choose, opening, shown

MANY = 45


@pytest.fixture(scope="module")
def address(tmp_path_factory, comparison):
    """A page with many pairs; only the second and the last one are lost, and one is hostile."""

    def pair(number):
        foreign = {30: CLOSING, 31: IMAGE}.get(number, "")
        student = 0.25 if number in (2, MANY) else 0.75
        plain = found("typo", "e1", f"text {number} {foreign}", 0.75, student, 0.75, trial=number)
        return replace(plain, perturbation=replace(plain.perturbation, similarity=number / 100))

    pairs = tuple(map(pair, range(1, MANY + 1)))
    path = tmp_path_factory.mktemp("many") / "report.html"
    path.write_text(replace(comparison, perturbations=pairs, candidates=()).html(), "utf-8")
    return path.as_uri()


def trials(tab):
    return [int(trial) for _, trial in shown(tab)]


def focused(tab):
    return tab.evaluate("document.activeElement.id")


def test_a_link_shows_an_example_beyond_the_first_ones(browser, address):
    with opening(browser, f"{address}#example-e1-40-typo") as tab:
        assert focused(tab) == "example-e1-40-typo"
        assert len(shown(tab)) == MANY
        assert tab.locator("#example-e1-40-typo").bounding_box()["y"] < 800
        tab.evaluate("location.hash = '#example-e1-7-typo'")
        tab.wait_for_selector("#example-e1-7-typo:focus")


@pytest.mark.slow
def test_options_say_how_many_they_leave_and_kept_shares_follow_the_similarity(browser, address):
    with opening(browser, address, viewport={"width": 1280, "height": 900}) as tab:
        assert tab.inner_text("#by-lost option[value=any]") == "any differs (2)"
        tab.fill("#search", "text 45")
        assert tab.inner_text("#by-lost option[value=any]") == "any differs (1)"
        assert tab.inner_text("#by-lost option[value=none]") == "none differs (0)"
        assert tab.locator("#more").is_hidden()
        tab.fill("#search", "")
        # Contents and filters stay in sight.
        tab.locator(".pair").nth(15).scroll_into_view_if_needed()
        assert 0 <= tab.locator("nav").bounding_box()["y"] < 10
        assert 0 < tab.locator("#controls").bounding_box()["y"] < 60

        def kept(student):
            return tab.inner_text("#kept").replace("\u00a0", " ") == (
                f"Kept, exploratory: student {student} %, {TARGETS[1]} 100.0 %, mean of 1 "
                "texts chosen"
            )

        assert kept("95.6")


def test_filters_search_and_order_live_in_the_address_and_survive_a_reload(browser, address):
    with opening(browser, address) as tab:
        choose(tab, "#by-lost", "none differs")
        tab.fill("#search", "text 4")
        tab.select_option("#order", "moved")
        before = trials(tab)
        assert tab.url.endswith("#examples?search=text+4&lost=none&order=moved")
        tab.reload()
        tab.wait_for_selector("body[data-ready]")
        assert (trials(tab), tab.input_value("#search")) == (before, "text 4")
        assert before == [4, 14, 24, 34, *range(40, MANY)]


@pytest.mark.slow
def test_keys_go_from_difference_to_difference(browser, address):
    with opening(browser, address) as tab:
        tab.select_option("#order", "distance")
        tab.locator("h1").click()
        tab.keyboard.press("n")
        assert focused(tab) == "example-e1-2-typo"
        tab.keyboard.press("n")
        assert focused(tab) == f"example-e1-{MANY}-typo"
        tab.keyboard.press("n")
        assert focused(tab) == f"example-e1-{MANY}-typo"
        tab.keyboard.press("p")
        assert focused(tab) == "example-e1-2-typo"
        tab.focus("#search")
        tab.keyboard.type("no")
        assert tab.input_value("#search") == "no"


def test_packed_cards_are_as_those_in_the_page_and_hostile_text_in_them_is_inert(browser, address):
    with opening(browser, address) as tab:
        tab.fill("#search", "text 30")
        packed = tab.locator(".pair")
        assert CLOSING in packed.text_content()
        assert tab.evaluate("typeof window.injected") == "undefined"
        tab.fill("#search", "text 31")
        assert tab.evaluate("document.images.length") == 0
        shape = "card => card.innerHTML.replace(/[^<>]+(?=<|$)|example[-\\w]*/g, '')"
        tab.fill("#search", "text 29")
        second = tab.locator(".pair").evaluate(shape)
        tab.fill("#search", "")
        assert second == tab.locator("#example-e1-3-typo").evaluate(shape)


@pytest.mark.slow
def test_shown_examples_are_copied_as_csv_that_starts_no_formula_and_as_json(browser, address):
    how = {"permissions": ["clipboard-read", "clipboard-write"]}
    with opening(browser, address, **how) as tab:
        tab.fill("#search", "text 45")
        tab.click("#copy-json")
        tab.wait_for_selector("#shown:has-text('1 examples copied as JSON')")
        rows = json.loads(tab.evaluate("navigator.clipboard.readText()"))
        assert [row["Model"] for row in rows][:2] == ["teacher (reference)", "student"]
        assert rows[1]["id"] == "example-e1-45-typo"
        assert (rows[1]["text 2"].strip(), rows[1]["Invariance"]) == ("text 45", "lost")
        tab.evaluate("document.querySelector('.pair .text').textContent = '=1+1'")
        tab.click("#copy-csv")
        tab.wait_for_selector("#shown:has-text('1 examples copied as CSV')")
        head, first, *_ = tab.evaluate("navigator.clipboard.readText()").split("\r\n")
        assert head.startswith('"id","about","text 1","text 2","Model","Label"')
        assert '"\'=1+1"' in first


def test_twenty_are_shown_more_on_demand_and_the_first_ones_on_paper(browser, address):
    with opening(browser, address) as tab:
        assert len(shown(tab)) == 20
        assert tab.inner_text("#shown") == "45 of the 45 examples here"
        tab.click("#more")
        tab.locator(".pair").nth(20).wait_for(state="attached")
        tab.emulate_media(media="print")
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert tab.locator(".pair:visible").count() == 20
        assert tab.locator("#unshown").is_visible()
        tab.evaluate("dispatchEvent(new Event('afterprint'))")
        assert tab.locator(".pair").count() == 40


def test_a_cell_of_two_models_leads_to_its_questions(browser, tmp_path):
    path = tmp_path / "two.html"
    path.write_text(runs_compared(*runs(lost=3, gained=2, n=60, wrong=12)).html(), "utf-8")
    with opening(browser, path.as_uri()) as tab:
        tab.click("#answer a:text-is('3')")
        tab.wait_for_function("location.hash.startsWith('#answers?')")
        assert tab.inner_text("#shown").startswith("3 of the 60")
