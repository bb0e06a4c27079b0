"""The tables behind a verdict: evidence, and every model by rank."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from made_up_reuse_comparison import CONTROLS, SUSPECT, related, undecided

from reports.blocks import Heading, Table
from reports.prose import plain, written
from scope.jobs.reuse.models_page import controls_section, evidence_section, kind_name

KINDS = (
    "shared_mistakes",
    "log_probabilities",
    "hard_scope",
    "soft_scope",
    "capa",
    "capa_discrete",
    "error_consistency",
)


@pytest.mark.parametrize("key", KINDS)
def test_every_kind_of_evidence_has_words(key):
    name = kind_name(key)
    assert name.meaning
    assert name.label != key


def test_an_unknown_kind_shows_its_spelling():
    name = kind_name("invented(k=2)")
    assert (name.label, name.meaning) == ("invented(k=2)", None)


def result_of(*verdicts, stored=()):
    return SimpleNamespace(verdicts=verdicts, candidate_controls=stored)


def shown(row):
    return [plain(written(cell)) for cell in row.cells]


def of_kind(section, kind):
    return [block for block in section.blocks if isinstance(block, kind)]


def test_verdicts_without_evidence_have_no_table():
    section = evidence_section((related(), replace(undecided(), evidence=())))
    assert len(of_kind(section, Table)) == 1
    assert len(of_kind(section, Heading)) == 1
    assert evidence_section(()) is None


def rows_of(verdict):
    (table,) = of_kind(controls_section(result_of(verdict)), Table)
    return table.rows


def test_models_without_a_rank_stand_last():
    whole = related()
    rows = rows_of(replace(whole, standings=whole.standings[2:], p_value=None))
    assert [shown(row)[:2] for row in rows[-2:]] == [
        ["", f"{SUSPECT} (suspect)"],
        ["", CONTROLS[0]],
    ]
