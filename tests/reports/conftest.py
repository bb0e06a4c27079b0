"""The made-up comparison, its page, and the page as a tree."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from made_up_comparison import build_comparison
from parsed_page import Node, parse

from reports.html import HtmlRenderer
from scope.records import Comparison


@pytest.fixture(scope="session")
def comparison() -> Comparison:
    return build_comparison()


@pytest.fixture(scope="session")
def page(comparison: Comparison) -> str:
    return HtmlRenderer().render(comparison)


@pytest.fixture(scope="session")
def document(page: str) -> Node:
    return parse(page)


@pytest.fixture(scope="session", name="parse")
def parse_fixture() -> Callable[[str], Node]:
    return parse
