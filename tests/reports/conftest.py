"""The made-up comparisons, their pages, and the pages as trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import made_up_fleet_comparison
import made_up_pair_comparison
import made_up_probe_comparison
import made_up_reuse_comparison
import made_up_tasks_comparison
import pytest
from made_up_comparison import build_comparison
from opened_page import CHROMIUM, opening
from parsed_page import Node, parse

from scope.records import (
    AuditResult,
    CompareResult,
    FleetResult,
    PairResult,
    ProbeResult,
    ReuseResult,
)


@pytest.fixture(scope="module")
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
def comparison() -> AuditResult:
    return build_comparison()


@pytest.fixture(scope="session")
def page(comparison: AuditResult) -> str:
    return comparison.html()


@pytest.fixture(scope="session")
def document(page: str) -> Node:
    return parse(page)


@pytest.fixture(scope="session")
def tasks_comparison() -> CompareResult:
    return made_up_tasks_comparison.build_comparison()


@pytest.fixture(scope="session")
def tasks_page(tasks_comparison: CompareResult) -> str:
    return tasks_comparison.html()


@pytest.fixture(scope="session")
def tasks_document(tasks_page: str) -> Node:
    return parse(tasks_page)


@pytest.fixture(scope="session")
def reuse_comparison() -> ReuseResult:
    return made_up_reuse_comparison.build_comparison()


@pytest.fixture(scope="session")
def reuse_page(reuse_comparison: ReuseResult) -> str:
    return reuse_comparison.html()


@pytest.fixture(scope="session")
def reuse_document(reuse_page: str) -> Node:
    return parse(reuse_page)


@pytest.fixture(scope="session")
def fleet_comparisons() -> dict[str, FleetResult]:
    jobs = made_up_fleet_comparison.RECORDS
    return {job: made_up_fleet_comparison.build_comparison(job) for job in jobs}


@pytest.fixture(scope="session")
def fleet_pages(fleet_comparisons: dict[str, FleetResult]) -> dict[str, str]:
    return {job: found.html() for job, found in fleet_comparisons.items()}


@pytest.fixture(scope="session")
def fleet_documents(fleet_pages: dict[str, str]) -> dict[str, Node]:
    return {job: parse(page) for job, page in fleet_pages.items()}


@pytest.fixture(scope="session")
def probe_comparison() -> ProbeResult:
    return made_up_probe_comparison.build_comparison()


@pytest.fixture(scope="session")
def probe_page(probe_comparison: ProbeResult) -> str:
    return probe_comparison.html()


@pytest.fixture(scope="session")
def probe_document(probe_page: str) -> Node:
    return parse(probe_page)


@pytest.fixture(scope="session")
def pair_comparison() -> PairResult:
    return made_up_pair_comparison.build_comparison()


@pytest.fixture(scope="session")
def pair_page(pair_comparison: PairResult) -> str:
    return pair_comparison.html()


@pytest.fixture(scope="session")
def pair_document(pair_page: str) -> Node:
    return parse(pair_page)


@pytest.fixture(scope="session", name="parse")
def parse_fixture() -> Callable[[str], Node]:
    return parse
