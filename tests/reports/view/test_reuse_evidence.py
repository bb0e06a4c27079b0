from dataclasses import replace

import pytest
from made_up_reuse_comparison import CONTROLS, SUSPECT, related, undecided

from reports.view.reuse_evidence import evidence_section
from reports.view.reuse_words import kind_name

KINDS = (
    "shared_mistakes",
    "log_probabilities",
    "hard_scope",
    "soft_scope",
    "capa",
    "capa_discrete",
    "error_consistency",
)


@pytest.fixture
def rows():
    return evidence_section((related(),)).tables[0].rows


@pytest.mark.parametrize("key", KINDS)
def test_every_kind_of_evidence_has_words(key):
    name = kind_name(key)
    assert name.meaning
    assert name.label != key


def test_an_unknown_kind_shows_its_key(rows):
    assert rows[2].kind.heading == "invented <script>alert(1)</script>"
    assert rows[2].kind.meaning is None


def test_parameters_and_capability_stand_beside_the_label(rows):
    assert rows[1].kind.label == "Soft-SCoPE"
    assert rows[1].kind.parameters == "tolerance=0.1, cutoff=1.0"
    assert rows[1].capability.startswith("synonym")


def test_the_suspect_stands_beside_the_range_of_the_controls(rows):
    first = rows[0]
    assert (first.cell.value, first.cell.interval) == ("0.625", "[0.500, 0.750]")
    # The controls' joint statistics by 16: 1.25, -0.5, 2.75, 0.25, 1.5.
    assert (first.controls.lowest, first.controls.median, first.controls.highest) == (
        "−0.031",
        "0.078",
        "0.172",
    )
    assert (first.p_value, first.decides) == ("0.167", True)
    assert rows[3].decides is False


def test_a_strip_holds_the_controls_and_the_suspect_with_its_interval(rows):
    strip = rows[0].strip
    assert (strip.suspect.value, strip.low, strip.high) == (0.625, 0.5, 0.75)
    assert len(strip.controls) == 5
    assert strip.label == (
        "Shared mistakes: the suspect at 0.625; 0 of 5 controls reach that; the numbers are in "
        "the tables"
    )
    assert "5 of 5 controls reach that" in rows[3].strip.label


def test_without_a_value_or_without_controls_there_is_no_strip(rows):
    assert (rows[1].cell.value, rows[1].strip, rows[1].p_value) == ("undefined", None, "none")
    assert (rows[2].controls, rows[2].strip) == (None, None)


def test_every_models_values_are_listed_the_suspect_first():
    models = evidence_section((related(),)).tables[0].models
    assert [name for name, _ in models] == [SUSPECT, *CONTROLS]
    assert models[0][1] == ("0.625", "undefined", "0.250", "−0.250")
    assert models[1][1] == ("0.078", "0.078", "", "0.078")
    assert models[2][1] == ("−0.031", "", "", "−0.031")


def test_each_kind_is_explained_once_and_verdicts_without_evidence_have_no_table():
    section = evidence_section((related(), undecided(), replace(related(), evidence=())))
    assert [kind.label for kind in section.kinds] == ["Shared mistakes", "Soft-SCoPE", "CAPA"]
    assert len(section.tables) == 2
