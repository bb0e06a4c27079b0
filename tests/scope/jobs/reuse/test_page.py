"""The smaller sections of a test of reuse, and which of them a page has."""

import re
from dataclasses import replace

from made_up_reuse_comparison import (
    CONTROLS,
    SUSPECT,
    build_comparison,
    not_related,
    related,
)

from reports.blocks import Table, Terms, within
from reports.prose import plain, written
from scope.jobs.reuse.page import page


def made(*verdicts):
    return page(replace(build_comparison(), verdicts=verdicts))


def blocks_of(page, anchor, kind):
    (section,) = (one for one in page.sections if one.anchor == anchor)
    return [block for block in within(section.blocks) if isinstance(block, kind)]


def anchors(result):
    return [section.anchor for section in page(result).sections]


def test_what_a_search_found_is_not_counted_as_answers():
    manifest = build_comparison().manifest
    searched = replace(manifest, settings={**manifest.settings, "trials": 3})
    assert "answered" in anchors(build_comparison())
    assert "answered" not in anchors(replace(build_comparison(), manifest=searched))


def test_models_without_a_rank_stand_last():
    whole = related()
    (table,) = blocks_of(made(replace(whole, standings=whole.standings[2:])), "checks", Table)
    last = [[plain(written(cell)) for cell in row.cells[:2]] for row in table.rows[-2:]]
    assert last == [["", f"{SUSPECT} (suspect)"], ["", CONTROLS[0]]]


def test_derivatives_are_listed_and_a_copy_is_named():
    (facts,) = blocks_of(made(not_related()), "pvalues", Terms)
    (words,) = (plain(fact) for term, fact in facts.pairs if "derivatives" in plain(term))
    assert re.findall(r"\d+\.?\d*\u00a0%(?:, a copy)?", words) == [
        "75\u00a0%",
        "99.0\u00a0%, a copy",
    ]
