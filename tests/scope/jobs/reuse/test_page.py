"""The smaller sections of a test of reuse, and which of them a page has."""

import re
from dataclasses import replace

from kept_results import kept

from reports.blocks import Table, Terms, within
from reports.prose import plain, written
from scope.jobs.reuse.page import page

RELATED, NOT_RELATED, UNDECIDED = kept("reuse").verdicts
SUSPECT = RELATED.suspect


def made(*verdicts):
    return page(kept("reuse", verdicts=verdicts))


def blocks_of(page, anchor, kind):
    (section,) = (one for one in page.sections if one.anchor == anchor)
    return [block for block in within(section.blocks) if isinstance(block, kind)]


def anchors(result):
    return [section.anchor for section in page(result).sections]


def test_what_a_search_found_is_not_counted_as_answers():
    manifest = kept("reuse").manifest
    searched = replace(manifest, settings={**manifest.settings, "trials": 3})
    assert "answered" in anchors(kept("reuse"))
    assert "answered" not in anchors(kept("reuse", manifest=searched))


def test_models_without_a_rank_stand_last():
    whole = RELATED
    (table,) = blocks_of(made(replace(whole, standings=whole.standings[2:])), "checks", Table)
    last = [[plain(written(cell)) for cell in row.cells[:2]] for row in table.rows[-2:]]
    assert last == [["", f"{SUSPECT} (suspect)"], ["", "alone"]]


def test_derivatives_are_listed_and_a_copy_is_named():
    (facts,) = blocks_of(made(NOT_RELATED), "pvalues", Terms)
    (words,) = (plain(fact) for term, fact in facts.pairs if "derivatives" in plain(term))
    assert re.findall(r"\d+\.?\d*\u00a0%(?:, a copy)?", words) == [
        "75\u00a0%",
        "99.0\u00a0%, a copy",
    ]
