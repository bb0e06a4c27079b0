"""The smaller sections of a test of reuse, and which of them a page has."""

from dataclasses import replace

from made_up_reuse_comparison import (
    LONG,
    REFERENCES,
    SUSPECT,
    build_comparison,
    not_related,
    related,
    undecided,
)

from reports.blocks import (
    Bullets,
    Paragraph,
    Passage,
    Table,
    within,
)
from reports.prose import plain, written
from scope.jobs.reuse.page import BEGINNING, page, passage


def made(*verdicts):
    return page(replace(build_comparison(), verdicts=verdicts))


def blocks_of(page, anchor, kind):
    (section,) = (one for one in page.sections if one.anchor == anchor)
    return [block for block in within(section.blocks) if isinstance(block, kind)]


def shown(table):
    return [[plain(written(cell)) for cell in row.cells] for row in table.rows]


def anchors(result):
    return [section.anchor for section in page(result).sections]


def test_limits_say_how_much_reuse_would_have_been_seen():
    lines = [plain(one.text) for one in blocks_of(made(related()), "limits", Paragraph)]
    assert lines[0].startswith("A suspect that took 31.2\u00a0% of its answers")
    (line,) = (plain(one.text) for one in blocks_of(made(not_related()), "limits", Paragraph))
    assert line.startswith("A suspect that took 12.5\u00a0% of its answers")
    (line,) = (plain(one.text) for one in blocks_of(made(undecided()), "limits", Paragraph))
    assert "even a copy might be missed" in line
    last = blocks_of(made(related()), "limits", Bullets)[0].items[-1]
    assert "at most about 60 are called related" in plain(last)


def test_looks_are_compared_with_the_p_value_that_is_small_enough_for_all_references():
    (found,) = blocks_of(made(related(), not_related(), undecided()), "looks", Table)
    assert [row[3] for row in shown(found)] == ["no", "yes"]
    (alone,) = blocks_of(made(related()), "looks", Table)
    assert [row[3] for row in shown(alone)] == ["yes", "yes"]


def test_sections_without_content_are_left_out():
    bare = replace(build_comparison(), verdicts=(), measurements=(), outcomes=())
    assert anchors(bare) == ["answer", "limits", "asked", "reproduce"]


def test_what_a_search_found_is_not_counted_as_answers():
    manifest = build_comparison().manifest
    searched = replace(manifest, settings={**manifest.settings, "trials": 3})
    assert "answered" in anchors(build_comparison())
    assert "answered" not in anchors(replace(build_comparison(), manifest=searched))


def test_long_texts_are_folded_behind_a_beginning_on_one_line():
    folded = passage("word\n" * 200)
    assert plain(folded.blocks[0].text) == "word\n" * 200
    assert len(plain(folded.title)) == BEGINNING + 1
    assert "\n" not in plain(folded.title)
    assert plain(passage(LONG).title).endswith("…")
    assert isinstance(passage("w" * 300), Passage)


def test_every_measurement_is_a_row_of_the_data_frame():
    first, undefined, gold, clean = build_comparison().rows()
    assert first[:6] == ("choice", "capa", SUSPECT, REFERENCES[0], "", 0.75)
    assert (undefined.value, undefined.reason[:16]) == (None, "undefined (none ")
    assert gold.against == "(gold)"
    assert (clean.capability, clean.against, clean.n) == ("", "", 40)
    assert len(build_comparison().to_frame()) == 4
