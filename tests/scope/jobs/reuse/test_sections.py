"""The smaller sections of a test of reuse, and which of them a page has."""

from dataclasses import replace

from made_up_reuse_comparison import (
    CONTROLS,
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
    Card,
    Cards,
    Fold,
    Heading,
    Paragraph,
    Passage,
    Table,
    within,
)
from reports.prose import plain, written
from scope.jobs.reuse.sections import BEGINNING, page, passage


def made(*verdicts, **limits):
    return page(replace(build_comparison(), verdicts=verdicts), **limits)


def blocks_of(page, anchor, kind):
    (section,) = (one for one in page.sections if one.anchor == anchor)
    return [block for block in within(section.blocks) if isinstance(block, kind)]


def shown(table):
    return [[plain(written(cell)) for cell in row.cells] for row in table.rows]


def anchors(result):
    return [section.anchor for section in page(result).sections]


def test_verdicts_that_share_their_controls_share_a_table():
    whole = made(related(), not_related(), undecided())
    shared, other = blocks_of(whole, "checks", Table)
    titles = [plain(one.text) for one in blocks_of(whole, "checks", Heading)]
    assert titles[0] == f"Compared with {REFERENCES[0]} and {REFERENCES[1]}"
    assert titles[1] == f"Compared with {REFERENCES[2]}"
    assert [row[0] for row in shown(shared)] == [f"{SUSPECT} (suspect)", *CONTROLS]
    assert len(other.rows) == 4


def test_a_control_is_shown_with_skill_share_answered_and_flags():
    whole = made(related())
    (table,) = blocks_of(whole, "checks", Table)
    suspect, _, far, _, _, last = shown(table)
    assert suspect[1].startswith("0.625")
    assert far[1].startswith("0.562")
    assert far[2] == "87.5\u00a0%"
    assert far[4].endswith("⚑ answers seldom")
    assert last[1].startswith("undefined")
    lines = [plain(one.text) for one in blocks_of(whole, "checks", Paragraph)]
    assert lines[1] == "2 of 5 controls have a flag; 5 are comparable with the suspect."


def test_limits_carry_reasons_changes_and_what_would_have_been_seen():
    first = blocks_of(made(related()), "limits", Bullets)[0]
    assert plain(first.items[0]).startswith("a control from the same base")
    lines = [plain(one.text) for one in blocks_of(made(related()), "limits", Paragraph)]
    assert lines[0].startswith("A suspect that took 31.2\u00a0% of its answers")
    reasons, _ = blocks_of(made(not_related()), "limits", Bullets)
    assert plain(reasons.items[0]).startswith("three controls")
    (line,) = (plain(one.text) for one in blocks_of(made(undecided()), "limits", Paragraph))
    assert "might miss even a copy" in line


def test_looks_mark_the_p_values_that_are_small_enough_for_all_references():
    (found,) = blocks_of(made(related(), not_related(), undecided()), "looks", Table)
    assert shown(found) == [["500", "0.500", "no"], ["1,500", "0.125", "yes"]]
    assert plain(found.columns[2].heading) == "At most 0.2"
    (alone,) = blocks_of(made(related()), "looks", Table)
    assert [row.chosen for row in alone.rows] == [True, True]


def test_numbers_name_what_each_model_was_compared_with():
    found = page(build_comparison())
    clean, choice = blocks_of(found, "numbers", Table)
    titles = [plain(one.title) for one in blocks_of(found, "numbers", Fold)]
    assert titles == ["original texts: 1 of 1 estimates", "choice: 3 of 3 estimates"]
    assert shown(clean)[0][2] == REFERENCES[0]
    assert [row[2] for row in shown(choice)] == [REFERENCES[0], REFERENCES[0], "gold"]
    assert shown(choice)[1][3].startswith("undefined")


def test_the_hash_of_each_references_questions_is_kept_whole():
    fingerprints = shown(blocks_of(page(build_comparison()), "reproduce", Table)[-1])
    assert fingerprints[-3:] == [
        [f"questions, fixed in advance, for {name}", "abcdef0123456789" * 4] for name in REFERENCES
    ]


def test_sections_without_content_are_left_out():
    assert anchors(build_comparison()) == [
        "answer",
        "standings",
        "evidence",
        "informative",
        "checks",
        "looks",
        "limits",
        "asked",
        "numbers",
        "answered",
        "reproduce",
    ]
    bare = replace(build_comparison(), verdicts=(), measurements=(), outcomes=())
    assert anchors(bare) == ["answer", "limits", "asked", "reproduce"]


def test_what_a_search_found_is_not_counted_as_answers():
    manifest = build_comparison().manifest
    searched = replace(manifest, settings={**manifest.settings, "trials": 3})
    assert "answered" in anchors(build_comparison())
    assert "answered" not in anchors(replace(build_comparison(), manifest=searched))


def ids(cards):
    return [plain(card.note).removeprefix("question ").split()[0].split('"')[0] for card in cards]


def test_the_strongest_questions_are_first_those_for_reuse_before_those_against():
    found = made(related(), undecided())
    groups = [ids(one.cards) for one in blocks_of(found, "informative", Cards)]
    assert groups == [["q3", "q1", "q4"], ["q2"]]
    titles = [plain(one.text) for one in blocks_of(found, "informative", Heading)]
    assert titles[1:] == ["For reuse", "Against reuse"]


def test_a_question_is_written_with_its_numbers_and_answers():
    first, against = blocks_of(made(related()), "informative", Cards)
    city, other = first.cards[1], against.cards[0]
    assert plain(city.note) == "question q1 · expected 6.2\u00a0% · weight +2.750"
    assert answers(city) == ["Denver", "Paris", "Paris the same as the reference’s"]
    assert plain(other.note).endswith("weight −0.750")
    assert answers(other)[0] == "not known"
    assert answers(other)[2].endswith("not the reference’s")


def answers(card: Card):
    return shown(card.blocks[1])[0]


def test_a_limit_keeps_the_strongest_and_is_shared_between_verdicts():
    (cards,) = blocks_of(made(related(), max_items=2), "informative", Cards)
    assert ids(cards.cards) == ["q3", "q1"]
    both = made(related(), replace(related(), reference="other"), max_items=4)
    assert [len(one.cards) for one in blocks_of(both, "informative", Cards)] == [2, 2]
    notes = [plain(one.text) for one in blocks_of(both, "informative", Paragraph) if one.note]
    assert notes == ["Shown are 2 of 4 questions; all are in result.json."] * 2


def test_long_texts_are_folded_behind_a_beginning_on_one_line():
    folded = passage("word\n" * 200)
    assert plain(folded.blocks[0].text) == "word\n" * 200
    assert len(plain(folded.title)) == BEGINNING + 1
    assert "\n" not in plain(folded.title)
    assert plain(passage(LONG).title).endswith("…")
    assert isinstance(passage("w" * 500), Passage)


def test_every_measurement_is_a_row_of_the_data_frame():
    first, undefined, gold, clean = build_comparison().rows()
    assert first[:6] == ("choice", "capa", SUSPECT, REFERENCES[0], "", 0.75)
    assert (undefined.value, undefined.reason[:16]) == (None, "undefined (none ")
    assert gold.against == "(gold)"
    assert (clean.capability, clean.against, clean.n) == ("", "", 40)
    assert len(build_comparison().to_frame()) == 4
