"""Relative links in the README and the documentation lead somewhere, headings included."""

import re
import tomllib

import pytest
from source.imports import ROOT

DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
LINK = re.compile(r"\]\((?!\w+:)([^)\s]*)\)")
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_relative_link_leads_to_a_file_and_a_heading_and_stays_inside_the_site(page):
    assert list(broken_links(page)) == []
    inside = page.is_relative_to(DOCS)
    assert not inside or all(target.is_relative_to(DOCS) for target, _ in links(page))


def test_every_page_is_in_the_navigation_of_the_site():
    project = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    listed = sorted(DOCS / name for name in leaves(project["nav"]))
    # The generated list of decisions links to each of them.
    apart = {*(DOCS / "decisions").glob("[0-9]*.md")}
    assert listed == [page for page in PAGES if page.is_relative_to(DOCS) and page not in apart]


def test_a_broken_link_and_a_missing_heading_are_found(tmp_path):
    (tmp_path / "a.md").write_text("# A b\n[x](b.md) [y](#a-b) [z](#c) `[w](v.md)`")
    assert list(broken_links(tmp_path / "a.md")) == ["b.md", "#c"]


def links(page):
    """The file and the link as it is written, of each relative link outside code."""
    text = CODE.sub("", page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        path = link.partition("#")[0]
        yield ((page.parent / path).resolve() if path else page), link


def broken_links(page):
    for target, link in links(page):
        heading = link.partition("#")[2]
        if not target.exists() or (heading and heading not in headings(target)):
            yield link


def headings(page):
    """The anchors of a page's headings, as the site makes them."""
    text = CODE.sub(lambda code: "" if "\n" in code[0] else code[0][1:-1], page.read_text())
    found = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", title).strip().lower().replace(" ", "-") for title in found}


def leaves(entry):
    if isinstance(entry, str):
        yield entry
    else:
        for inner in entry.values() if isinstance(entry, dict) else entry:
            yield from leaves(inner)
