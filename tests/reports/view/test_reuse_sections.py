"""The smaller sections of a test of reuse, and which of them a page has."""

from dataclasses import replace

from made_up_reuse_comparison import CONTROLS, REFERENCES, not_related, related, undecided

from reports.view.reuse import reuse_view
from reports.view.reuse_controls import control_tables
from reports.view.reuse_limits import limits
from reports.view.reuse_looks import looks
from reports.view.reuse_numbers import reuse_numbers, reuse_reproduce


def anchors(comparison):
    view = reuse_view(comparison, max_items=10)
    return [section.anchor for section in view.sections]


def test_verdicts_that_share_their_controls_share_a_table():
    shared, other = control_tables((related(), not_related(), undecided()))
    assert shared.references == ((REFERENCES[0], " and "), (REFERENCES[1], ""))
    assert [row.model for row in shared.rows] == list(CONTROLS)
    assert other.references == ((REFERENCES[2], ""),)
    assert len(other.rows) == 3


def test_a_control_is_shown_with_skill_share_answered_and_flags():
    (table,) = control_tables((related(),))
    assert (table.rows[1].skill.value, table.rows[1].given) == ("0.562", "87.5\u00a0%")
    assert table.rows[1].flags[1] == "answers seldom"
    assert table.rows[4].skill.value == "undefined"
    assert (table.flagged, table.skill.value) == (2, "0.625")


def test_limits_carry_reasons_changes_and_what_would_have_been_seen():
    first, second, third = limits((related(), not_related(), undecided()))
    assert (first.alpha, first.detectable, first.reasons) == ("60", "31.2", ())
    assert second.reasons[0].startswith("three controls")
    assert (third.detectable, third.changes) == (None, ("1 more control",))


def test_looks_mark_the_p_values_that_are_small_enough_for_all_references():
    (found,) = looks((related(), not_related(), undecided()))
    assert [(row.asked, row.p_value, row.reached) for row in found.rows] == [
        (500, "0.500", False),
        (1500, "0.125", True),
    ]
    assert found.rate == "0.2"
    (alone,) = looks((related(),))
    assert [row.reached for row in alone.rows] == [True, True]


def test_numbers_name_what_each_model_was_held_against(reuse_comparison):
    clean, choice = reuse_numbers(reuse_comparison).tables
    assert (clean.task, clean.rows[0].against) == ("original texts", REFERENCES[0])
    assert choice.task == "choice"
    assert [row.against for row in choice.rows] == [REFERENCES[0], REFERENCES[0], None]
    assert choice.rows[1].cell.value == "undefined"


def test_the_hash_of_each_references_questions_is_kept_whole(reuse_comparison):
    last = reuse_reproduce(reuse_comparison).fingerprints[-3:]
    assert [name for name, _ in last] == [
        f"questions, fixed in advance, for {name}" for name in REFERENCES
    ]
    assert {digest for _, digest in last} == {"abcdef0123456789" * 4}


def test_sections_without_content_are_left_out(reuse_comparison):
    assert anchors(reuse_comparison) == [
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
    bare = replace(reuse_comparison, verdicts=(), measurements=(), outcomes=())
    assert anchors(bare) == ["answer", "limits", "asked", "reproduce"]


def test_what_a_search_found_is_not_counted_as_answers(reuse_comparison):
    manifest = reuse_comparison.manifest
    searched = replace(
        reuse_comparison, manifest=replace(manifest, settings={**manifest.settings, "trials": 3})
    )
    assert "answered" in anchors(reuse_comparison)
    assert "answered" not in anchors(searched)
