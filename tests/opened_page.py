"""A page opened in a real browser, and what a reader does with it."""

import shutil
from contextlib import contextmanager

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def opening(browser, address, **how):
    """The open page; on leaving, anything that it complained of or asked for is an error."""
    complaints, requests = [], []
    context = browser.new_context(**how)
    tab = context.new_page()
    tab.on("console", lambda message: complaints.append(message.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    tab.on("request", lambda request: requests.append(request.url.partition("#")[0]))
    tab.goto(address)
    tab.wait_for_function(
        "!document.getElementById('controls') || 'ready' in document.body.dataset"
    )
    yield tab
    assert complaints == []
    assert set(requests) == {address.partition("#")[0]}
    context.close()


def shown(tab):
    """Example and trial of the visible pairs, in the order of the page."""
    notes = tab.locator(".pair:visible > .note:first-child").all_text_contents()
    return [tuple(part.split()[1] for part in note.split(" · ")[2:4]) for note in notes]


def choose(tab, select, words):
    """Choose the option of these words, whatever count stands behind them."""
    options = tab.locator(f"{select} option").all_inner_texts()
    (label,) = (one for one in options if one.rpartition(" (")[0] == words)
    tab.select_option(select, label=label)
