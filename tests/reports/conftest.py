"""The made-up comparisons, their pages, and the pages as trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from kept_results import kept
from opened_page import CHROMIUM, opening
from parsed_page import Node, parse

from scope.records import AuditResult


@pytest.fixture(scope="module")  # while it is open an event loop runs in this thread
def browser() -> Iterator[Any]:
    """A real browser, for tests of what a reader does."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on the path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Callable[..., Any]:
    """Opens a page, given as HTML, at a place in it and with options of the browser."""

    def open_page(page: str, place: str = "", **how: Any) -> Any:
        path = tmp_path / "page.html"
        path.write_text(page, encoding="utf-8")
        return opening(browser, f"{path.as_uri()}{place}", **how)

    return open_page


@pytest.fixture(scope="session")
def axe() -> str:
    """The script that examines a page for barriers to people."""
    found = find_spec("axe_playwright_python")
    if found is None or found.origin is None:
        pytest.skip("axe-playwright-python is not installed")
    return (Path(found.origin).parent / "axe.min.js").read_text(encoding="utf-8")


class ByJob(dict[str, Any]):
    """What is made of each job, when it is first asked for."""

    def __init__(self, make: Callable[[str], Any]) -> None:
        self.make = make

    def __missing__(self, job: str) -> Any:
        self[job] = self.make(job)
        return self[job]


@pytest.fixture(scope="session")
def results() -> ByJob:
    """The made-up result of each job."""
    return ByJob(kept)


@pytest.fixture(scope="session")
def pages(results: ByJob) -> ByJob:
    return ByJob(lambda job: results[job].html())


@pytest.fixture(scope="session")
def documents(pages: ByJob) -> ByJob:
    return ByJob(lambda job: parse(pages[job]))


@pytest.fixture(scope="session")
def comparison(results: ByJob) -> AuditResult:
    return results["audit"]


@pytest.fixture(scope="session")
def page(pages: ByJob) -> str:
    return pages["audit"]


@pytest.fixture(scope="session", name="parse")
def parse_fixture() -> Callable[[str], Node]:
    return parse
