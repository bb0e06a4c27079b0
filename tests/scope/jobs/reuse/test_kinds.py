import pytest

from scope.jobs.reuse.kinds import explained_kinds, kind_heading, kind_name
from scope.records import Evidence, Undefined

KINDS = (
    "shared_mistakes",
    "log_probabilities",
    "hard_scope",
    "soft_scope",
    "capa",
    "capa_discrete",
    "error_consistency",
)


def evidence(kind):
    return Evidence(kind=kind, suspect=Undefined(reason="none"), controls=())


@pytest.mark.parametrize("key", KINDS)
def test_every_kind_of_evidence_has_words(key):
    name = kind_name(key)
    assert name.meaning
    assert name.label != key


def test_an_unknown_kind_shows_its_spelling_once():
    name = kind_name("invented(k=2)")
    assert (name.label, name.meaning) == ("invented(k=2)", None)
    assert kind_heading("invented(k=2)") == "invented(k=2)"


def test_each_kind_is_explained_once():
    given = ("capa", "invented", "soft_scope(cutoff=1.0)", "soft_scope(cutoff=0.5)", "capa")
    assert [one.label for one in explained_kinds(map(evidence, given))] == ["CAPA", "Soft-SCoPE"]
