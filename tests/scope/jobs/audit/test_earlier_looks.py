"""An audit that is planned after another on the same texts is exploratory."""

import shutil

import pytest

from reports.blocks import Paragraph
from reports.prose import plain
from scope.jobs.audit.page import page


@pytest.fixture(scope="module")
def first(audit_toys, tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    return audit_toys(runs, "Student", capabilities=["typo"], run="first")


@pytest.fixture
def audited(toy_audit, tmp_path, first):
    """Audits again, in a folder with the first audit."""
    shutil.copytree(first.folder, tmp_path / "first")

    def audit(run, n=8, **options):
        return toy_audit("Student", capabilities=["typo"], runs=tmp_path, run=run, n=n, **options)

    return audit


def notes(result):
    (section,) = (one for one in page(result).sections if one.anchor == "answer")
    texts = [plain(one.text) for one in section.blocks if isinstance(one, Paragraph)]
    return [text for text in texts if text.startswith("Exploratory")]


def test_a_larger_sample_after_a_look_is_exploratory_and_a_page_says_so(first, audited):
    second = audited("second", n=12)
    assert (first.earlier_looks, second.earlier_looks) == ((), ("first",))
    assert notes(first) == []
    (note,) = notes(second)
    assert [one.sentence for one in first.verdict_lines() if "Exploratory" in one.sentence] == []
    assert all("Exploratory" in one.sentence for one in second.verdict_lines())
    assert note.startswith("Exploratory: first asked about the same texts with another plan")
    assert audited("third", concordance_margin=0.2).earlier_looks == ("first", "second")


@pytest.mark.parametrize("options", [{}, {"trials": 2}, {"seed": 1, "n": 12}])
def test_the_same_plan_or_another_seed_is_no_look(audited, options):
    assert audited("second", **options).earlier_looks == ()


def test_an_unfinished_or_damaged_run_is_no_look(audited, tmp_path):
    audited("third", n=10)
    (tmp_path / "first" / "result.json").unlink()
    (tmp_path / "third" / "manifest.json").write_text("{", encoding="utf-8")
    assert audited("second", n=12).earlier_looks == ()
