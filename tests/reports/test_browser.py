"""The page in a real browser: its controls work, and no text of the comparison runs."""

from opened_page import choose, shown


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


def test_pairs_are_searched_for_every_word_in_either_text_filtered_and_sorted(opened, page):
    with opened(page) as tab:
        before = shown(tab)
        tab.fill("#search", "FILM movie")
        assert shown(tab) == [("e1", "2")]
        assert tab.inner_text("#shown") == "1 of the 5 examples here"
        tab.fill("#search", "رائع")
        assert shown(tab) == [("e3", "1")]
        tab.fill("#search", "")
        assert shown(tab) == before

        choose(tab, "#by-capability", "synonym")
        assert shown(tab) == [("e1", "2"), ("e2", "1"), ("e1", "1")]
        choose(tab, "#by-lost", "any differs")
        assert shown(tab) == [("e1", "2"), ("e2", "1")]
        choose(tab, "#by-lost", "student differs")
        assert shown(tab) == [("e2", "1")]
        choose(tab, "#by-lost", "none differs")
        assert shown(tab) == [("e1", "1")]
        tab.select_option("#by-lost", "")
        tab.select_option("#by-capability", "")
        choose(tab, "#by-label", "no label")
        assert shown(tab) == [("e3", "1")]
        tab.select_option("#by-label", "")

        tab.select_option("#order", "distance")
        read = "pairs => pairs.map(pair => Number(pair.dataset.distance))"
        distances = tab.eval_on_selector_all(".pair", read)
        assert distances == sorted(distances, reverse=True)
        assert shown(tab) != before
        tab.select_option("#order", "order")
        assert shown(tab) == before


def test_a_link_opens_a_folded_section(opened, page):
    with opened(page) as tab:
        table = tab.locator("#estimates table").first
        assert not table.is_visible()
        tab.click("nav a[href='#estimates']")
        table.wait_for()


def test_filters_are_named_in_the_address_cleared_and_safe_from_letters(opened, page):
    with opened(page, "#examples?lost=student&capability=synonym") as tab:
        assert shown(tab) == [("e2", "1")]
        assert tab.url.endswith("#examples?capability=synonym&lost=student")
        tab.focus("#by-lost")
        tab.keyboard.type("nap")
        assert tab.input_value("#by-lost") == "0"
        tab.fill("#search", "nowhere")
        assert tab.inner_text("#shown") == "None of the 5 examples here matches; clear the filters."
        tab.click("#clear")
        assert len(shown(tab)) == 5
        assert (tab.url.partition("#")[2], tab.locator("#clear").is_hidden()) == ("examples", True)
        # Links of earlier releases.
        tab.evaluate("location.hash = '#examples?lost=0'")
        tab.wait_for_function("document.querySelectorAll('.pair').length === 1")
        assert shown(tab) == [("e2", "1")]


def test_the_keyboard_reaches_the_answer_first(opened, page):
    with opened(page) as tab:
        tab.keyboard.press("Tab")
        assert tab.locator(":focus").inner_text() == "Skip to the answer"
        tab.keyboard.press("Enter")
        assert tab.url.endswith("#answer")
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.closest('nav')") is None


def questions(tab):
    """The ids of the visible questions, in the order of the page."""
    notes = tab.locator("#pairs > .pair:visible > .note:first-child").all_text_contents()
    return [note.split(" · ")[1].split()[1] for note in notes]


def test_answers_are_searched_in_all_texts_filtered_and_sorted_by_disagreement(opened, pages):
    with opened(pages["compare"]) as tab:
        before = questions(tab)
        assert before == ["q3", 'q4"', "c2", "q1", "q2", "c1", "c3", "c0"]
        tab.fill("#search", "DENVER lived")
        assert questions(tab) == ["q1"]
        assert tab.inner_text("#shown") == "1 of the 8 questions here"
        tab.fill("#search", "five")
        assert questions(tab) == ['q4"']
        tab.fill("#search", "")

        tab.select_option("#order", "alike")
        assert questions(tab) == ["c0", "q1", "q2", "c1", "c3", "q3", 'q4"', "c2"]
        tab.select_option("#order", "order")
        assert questions(tab) == before

        choose(tab, "#by-task", "choice")
        assert questions(tab) == ["c2", "c1", "c3", "c0"]
        choose(tab, "#by-state", "models disagree")
        # To the last no model has an answer, which equals no other.
        assert questions(tab) == ["c2", "c1", "c3"]
        choose(tab, "#by-category", "no category")
        assert questions(tab) == ["c3"]


def names(tab):
    """The visible models of a fleet, by their first words."""
    return [name.split()[0] for name in tab.locator("#pairs tr:visible th.text").all_inner_texts()]


def test_models_of_a_fleet_are_found_by_name(opened, pages):
    with opened(pages["fleet-map"]) as tab:
        tab.click("#numbers summary")
        assert names(tab) == ["far", "near", "alone", "late", "old", "odd"]
        tab.fill("#search", "LATE")
        assert names(tab) == ["late"]
        assert tab.inner_text("#shown") == "1 of the 6 models here"
