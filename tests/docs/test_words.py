"""Pages written by hand use the field's words, not private ones."""

import re

import pytest
from source.imports import ROOT

PRIVATE = re.compile(
    r"\b(foret\w+|fix\w*|correctly|compared with|tested|casework|everybody)\b", re.IGNORECASE
)
DOCS = ROOT / "docs"
# The reference quotes the program, and decisions stay as they were taken.
QUOTED = {DOCS / "reference", DOCS / "decisions"}
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *(page for page in sorted(DOCS.rglob("*.md")) if page.parent not in QUOTED),
]
OUTPUT = re.compile(r"^```text\n.*?^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_uses_a_private_word(page):
    assert PRIVATE.findall(OUTPUT.sub("", page.read_text(encoding="utf-8"))) == []
