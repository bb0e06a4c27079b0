from dataclasses import replace

from made_up_reuse_comparison import REFERENCES, SUSPECT, not_related, undecided

from reports.view.reuse_verdict import reuse_headline


def with_verdicts(comparison, *verdicts):
    return reuse_headline(replace(comparison, verdicts=verdicts))


def test_the_title_names_the_suspect_and_every_reference(reuse_comparison):
    title = reuse_headline(reuse_comparison).title
    assert title == f"SCoPE reuse: {SUSPECT} against {', '.join(REFERENCES)}"


def test_every_decision_has_a_word_a_shape_and_a_colour_of_its_own(reuse_comparison):
    marks = [line.mark for line in reuse_headline(reuse_comparison).verdicts]
    assert [(mark.word, mark.glyph, mark.style) for mark in marks] == [
        ("related", "◆", "related"),
        ("not related", "○", "not-related"),
        ("undecided", "?", "undecided"),
    ]


def test_a_verdict_carries_the_numbers_that_it_rests_on(reuse_comparison):
    first, second, third = reuse_headline(reuse_comparison).verdicts
    assert (first.p_value, first.p_adjusted, first.alpha) == ("0.167", "0.500", "0.6")
    assert (first.controls, first.needed, first.shared, first.queries) == (5, 4, 1200, 1500)
    assert len(first.warnings) == 2
    assert second.p_value == "0.667"
    assert (third.p_adjusted, third.controls) == ("none", 3)


def test_the_sources_are_those_that_are_related(reuse_comparison):
    sources = reuse_headline(reuse_comparison).sources
    assert [(group.decision, group.names) for group in sources] == [
        ("related", ((REFERENCES[0], ""),)),
        ("not related", ((REFERENCES[1], ""),)),
        ("undecided", ((REFERENCES[2], ""),)),
    ]


def test_no_source_is_said_and_so_are_several(reuse_comparison):
    none = with_verdicts(reuse_comparison, not_related(), undecided()).sources
    assert [(group.decision, len(group.names)) for group in none] == [
        ("related", 0),
        ("not related", 1),
        ("undecided", 1),
    ]
    three = with_verdicts(
        reuse_comparison, *(replace(undecided(), reference=name) for name in "abc")
    )
    assert three.sources[1].names == (("a", ", "), ("b", " and "), ("c", ""))


def test_a_single_reference_needs_no_set_and_no_correction(reuse_comparison):
    alone = with_verdicts(reuse_comparison, replace(not_related(), p_adjusted=2 / 3))
    assert alone.sources == ()
    assert alone.verdicts[0].p_adjusted == ""


def test_controls_without_a_place_are_counted(reuse_comparison):
    whole = not_related()
    line = with_verdicts(reuse_comparison, replace(whole, standings=whole.standings[:4]))
    assert (line.verdicts[0].controls, line.verdicts[0].skipped) == (5, 2)


def test_a_missing_p_value_is_said(reuse_comparison):
    line = with_verdicts(reuse_comparison, replace(undecided(), p_value=None)).verdicts[0]
    assert line.p_value == "none"
