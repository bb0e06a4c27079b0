"""The smaller sections of a test of reuse, and which of them a page has."""

from dataclasses import replace

from made_up_reuse_comparison import (
    CONTROLS,
    LONG,
    REFERENCES,
    SUSPECT,
    build_comparison,
    related,
)

from reports.blocks import Cards, Passage, Table, within
from reports.prose import plain, written
from scope.jobs.reuse.page import BEGINNING, page, passage


def made(*verdicts):
    return page(replace(build_comparison(), verdicts=verdicts))


def blocks_of(page, anchor, kind):
    (section,) = (one for one in page.sections if one.anchor == anchor)
    return [block for block in within(section.blocks) if isinstance(block, kind)]


def anchors(result):
    return [section.anchor for section in page(result).sections]


def test_the_strongest_questions_of_either_side_are_shown_and_the_others_folded():
    shown, folded = blocks_of(made(related()), "findings", Cards)
    assert [len(cards.cards) for cards in (shown, folded)] == [3, 1]
    sides = [plain(card.note).split(":")[0] for card in (*shown.cards, *folded.cards)]
    assert sides == ["For reuse", "For reuse", "Against", "For reuse"]


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


def test_models_without_a_rank_stand_last():
    whole = related()
    (table,) = blocks_of(made(replace(whole, standings=whole.standings[2:])), "checks", Table)
    last = [[plain(written(cell)) for cell in row.cells[:2]] for row in table.rows[-2:]]
    assert last == [["", f"{SUSPECT} (suspect)"], ["", CONTROLS[0]]]
