"""The page in a real browser: its controls work, and no text of the comparison runs."""

from dataclasses import replace

import pytest
from opened_page import choose, opening, shown


@pytest.fixture
def address(tmp_path, page):
    path = tmp_path / "report.html"
    path.write_text(page, encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def tasks_address(tmp_path, tasks_page):
    path = tmp_path / "compare.html"
    path.write_text(tasks_page, encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def reuse_address(tmp_path, reuse_page):
    path = tmp_path / "reuse.html"
    path.write_text(reuse_page, encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def fleet_address(tmp_path, fleet_pages):
    path = tmp_path / "fleet.html"
    path.write_text(fleet_pages["fleet-map"], encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser, address):
    with opening(browser, address) as tab:
        yield tab


@pytest.fixture
def tasks_opened(browser, tasks_address):
    with opening(browser, tasks_address) as tab:
        yield tab


def test_a_script_slipped_into_the_page_is_stopped_by_the_policy(browser, tmp_path, page):
    path = tmp_path / "tampered.html"
    slipped = "<main><script>window.injected = 1</script><b onclick='window.injected = 1'>x</b>"
    path.write_text(page.replace("<main>", slipped), encoding="utf-8")
    tab = browser.new_page()
    tab.goto(path.as_uri())
    tab.locator("main > b").click()
    assert tab.evaluate("typeof window.injected") == "undefined"
    assert len(shown(tab)) == 5
    tab.close()


def test_search_wants_every_word_in_either_text(opened):
    opened.fill("#search", "FILM movie")
    assert shown(opened) == [("e1", "2")]
    assert opened.inner_text("#shown") == "1 of the 5 examples here"
    opened.fill("#search", "رائع")
    assert shown(opened) == [("e3", "1")]
    opened.fill("#search", "")
    assert len(shown(opened)) == 5


def test_filters_narrow_together(opened):
    choose(opened, "#by-capability", "synonym")
    assert shown(opened) == [("e1", "2"), ("e2", "1"), ("e1", "1")]
    choose(opened, "#by-lost", "any differs")
    assert shown(opened) == [("e1", "2"), ("e2", "1")]
    choose(opened, "#by-lost", "student differs")
    assert shown(opened) == [("e2", "1")]
    choose(opened, "#by-lost", "none differs")
    assert shown(opened) == [("e1", "1")]
    opened.select_option("#by-lost", "")
    choose(opened, "#by-label", "negative")
    assert shown(opened) == [("e2", "1")]
    opened.select_option("#by-capability", "")
    choose(opened, "#by-label", "no label")
    assert shown(opened) == [("e3", "1")]


def test_pairs_are_sorted_by_distance_and_back(opened):
    before = shown(opened)
    opened.select_option("#order", "distance")
    distances = [
        float(value)
        for value in opened.eval_on_selector_all(
            ".pair", "pairs => pairs.map(pair => pair.dataset.distance)"
        )
    ]
    assert distances == sorted(distances, reverse=True)
    assert shown(opened) != before
    opened.select_option("#order", "order")
    assert shown(opened) == before


def test_twenty_pairs_are_shown_and_more_on_demand(browser, tmp_path, comparison):
    path = tmp_path / "many.html"
    many = replace(comparison, perturbations=comparison.perturbations * 9)
    path.write_text(many.html(), encoding="utf-8")
    with opening(browser, path.as_uri()) as tab:
        assert len(shown(tab)) == 20
        assert tab.inner_text("#shown") == "45 of the 45 examples here"
        tab.click("#more")
        tab.wait_for_function("document.querySelectorAll('.pair').length > 20")
        assert len(shown(tab)) == 40
        choose(tab, "#by-capability", "typo")
        assert len(shown(tab)) == 18
        assert tab.locator("#more").is_hidden()


def test_a_link_opens_a_folded_section(opened):
    table = opened.locator("#estimates table").first
    assert not table.is_visible()
    opened.click("nav a[href='#estimates']")
    table.wait_for()


def test_without_javascript_everything_can_be_read(browser, address):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address)
    assert tab.locator(".pair:visible").count() == 5
    assert tab.locator("#controls").is_hidden()
    context.close()


def test_folded_tables_are_opened_for_paper(opened):
    assert opened.locator("details[open]").count() == 0
    opened.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.locator("details:not([open])").count() == 0


def questions(tab):
    """The ids of the visible questions, in the order of the page."""
    notes = tab.locator("#pairs > .pair:visible > .note:first-child").all_text_contents()
    return [note.split(" · ")[1].split()[1] for note in notes]


def test_answers_are_searched_in_question_context_gold_and_answers(tasks_opened):
    tasks_opened.fill("#search", "DENVER lived")
    assert questions(tasks_opened) == ["q1"]
    assert tasks_opened.inner_text("#shown") == "1 of the 8 questions here"
    tasks_opened.fill("#search", "crimson")
    assert questions(tasks_opened) == ["q3"]
    tasks_opened.fill("#search", "five")
    assert questions(tasks_opened) == ['q4"']


def test_answers_are_filtered_by_task_category_and_state_together(tasks_opened):
    choose(tasks_opened, "#by-task", "choice")
    assert questions(tasks_opened) == ["c2", "c1", "c0", "c3"]
    choose(tasks_opened, "#by-state", "models disagree")
    assert questions(tasks_opened) == ["c2", "c1"]
    choose(tasks_opened, "#by-state", "at least one is wrong")
    assert questions(tasks_opened) == ["c2", "c1", "c3"]
    choose(tasks_opened, "#by-category", "no category")
    assert questions(tasks_opened) == ["c3"]
    tasks_opened.select_option("#by-category", "")
    choose(tasks_opened, "#by-state", "all alike, none wrong")
    assert questions(tasks_opened) == ["c0"]


def test_answers_are_sorted_by_disagreement(tasks_opened):
    before = questions(tasks_opened)
    assert before == ["q3", 'q4"', "c2", "q1", "q2", "c1", "c0", "c3"]
    tasks_opened.select_option("#order", "alike")
    assert questions(tasks_opened) == ["c0", "c3", "q1", "q2", "c1", "q3", 'q4"', "c2"]
    tasks_opened.select_option("#order", "order")
    assert questions(tasks_opened) == before


def test_no_text_of_a_test_of_reuse_runs_and_long_ones_unfold(browser, reuse_address):
    with opening(browser, reuse_address) as tab:
        assert tab.evaluate("typeof window.injected") == "undefined"
        assert tab.evaluate("document.scripts.length") == 1
        long = tab.locator("#findings .pair details").first
        assert not long.locator(".text").is_visible()
        long.locator("summary").click()
        assert long.locator(".text").is_visible()


def names(tab):
    """The visible models of a fleet, by their first words."""
    return [name.split()[0] for name in tab.locator("#pairs tr:visible th.text").all_inner_texts()]


def test_models_of_a_fleet_are_found_by_name_and_community_and_sorted(browser, fleet_address):
    with opening(browser, fleet_address) as tab:
        tab.click("#numbers summary")
        assert names(tab) == ["far", "near", "alone", "late", "old", "odd"]
        assert tab.evaluate("typeof window.injected") == "undefined"
        tab.fill("#search", "LATE")
        assert names(tab) == ["late"]
        assert tab.inner_text("#shown") == "1 of the 6 models here"
        tab.fill("#search", "")
        choose(tab, "#by-community", "7B")
        assert names(tab) == ["alone", "old"]
        choose(tab, "#by-community", "none")
        tab.select_option("#order", label="least accurate first")
        assert names(tab) == ["odd", "late"]


def test_on_a_wide_screen_no_table_of_steps_is_cut_off(browser, tmp_path, probe_page):
    path = tmp_path / "probe.html"
    path.write_text(probe_page, encoding="utf-8")
    with opening(browser, path.as_uri(), viewport={"width": 1100, "height": 800}) as tab:
        tab.locator("#steps summary").click()
        boxes = "[...document.querySelectorAll('#steps .scroll')]"
        assert tab.evaluate(f"{boxes}.map(x => x.scrollWidth <= x.clientWidth)") == [True, True]
