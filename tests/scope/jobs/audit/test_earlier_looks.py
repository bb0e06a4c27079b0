"""Looks at a verdict: planned ones, and those of earlier runs on the same texts."""

import shutil
from functools import partial

import pytest
import toy_models

from reports.blocks import Paragraph
from reports.prose import plain
from scope.errors import ScopeError
from scope.jobs.audit.page import page


@pytest.fixture(scope="module")
def first(audit_toys, tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    return audit_toys(runs, "Student", capabilities=["typo"], run="first")


@pytest.fixture
def audited(toy_audit, tmp_path, first):
    """Audits again, in a folder with the first audit."""
    shutil.copytree(first.folder, tmp_path / "first")

    def audit(run, *targets, **options):
        options = {"capabilities": ["typo"], "runs": tmp_path, "run": run, "n": 8, **options}
        return toy_audit(*(targets or ["Student"]), **options)

    return audit


def notes(result):
    texts = [plain(one.text) for one in page(result).brief if isinstance(one, Paragraph)]
    return [text for text in texts if "How sure? Not known" in text]


def names(result):
    return result.earlier_looks, result.combined_with


@pytest.mark.parametrize(
    ("targets", "options", "looks", "combined"),
    [
        ([], {}, (), ()),
        ([], {"trials": 2}, (), ()),
        ([], {"concordance_margin": 0.2}, ("first",), ()),
        ([], {"concordance_margin": 0.2, "seed": 1}, ("first",), ()),
        (["Stranger"], {"n": 12}, (), ()),
        (["Student", "Stranger"], {"n": 12}, ("first",), ()),
        ([], {"n": 12}, (), ("first",)),
        ([], {"seed": 1, "n": 12}, (), ("first",)),
    ],
)
def test_runs_on_the_same_texts_are_looks_and_one_of_the_same_plan_is_combined(
    audited, targets, options, looks, combined
):
    assert names(audited("second", *targets, **options)) == (looks, combined)


def test_each_direction_of_a_matrix_has_looks_of_its_own_and_is_a_look(audited):
    matrix = audited("matrix", both_directions=True, keeps_margin=0.1, n_search=4)
    assert [names(audit) for audit in matrix.audits] == [(("first",), ()), ((), ())]
    again = audited("matrix", both_directions=True, keeps_margin=0.1, n_search=4)
    assert again.audits == matrix.audits
    assert names(audited("second", keeps_margin=0.2)) == (("first", "matrix"), ())


def test_other_texts_are_no_look(audited):
    few = {"n_unchanged": 5, "n": 5, "least_agreement": 0.5}
    audited("second", **few)
    assert audited("third", **few, keeps_margin=0.1, seed=4).earlier_looks == ("first",)


def test_two_runs_are_judged_on_the_texts_of_both_and_a_third_is_exploratory(toy_audit, tmp_path):
    few = {"capabilities": ["typo"], "runs": tmp_path, "n_search": 4, "keeps_margin": 0.3}
    first = toy_audit("Student", **few, n=10, n_most=10, run="first")
    second_run = partial(toy_audit, "Student", **few, n=12, n_most=12, seed=1, run="second")
    second = second_run()
    (verdict,), (line,) = second.verdicts, second.verdict_lines()
    (keeps,) = (end for end in verdict.endpoints if end.measure == "keeps")
    before, now = (
        {id_ for row in run.measurements if row.metric == "base_rate" for id_ in row.example_ids}
        for run in (first, second)
    )
    assert keeps.estimate.n == len(before | now) > len(now)
    assert keeps.estimate.level > 0.95
    assert "on the texts of first, too; a model just beyond a limit gets a ✓ in ab" in line.sentence
    assert notes(second) == []
    assert verdict.if_equal is None

    third = toy_audit("Student", **few, seed=2, run="third")
    assert names(third) == (("first", "second"), ())
    (note,) = notes(third)
    assert "other runs (first, second) used these texts with another plan" in note
    assert all("Exploratory" in one.sentence for one in third.verdict_lines())

    # What had finished when a run began is settled.
    assert names(second_run()) == names(second)
    shutil.rmtree(first.folder)
    assert names(second_run()) == (("first",), ())


def test_an_unfinished_or_damaged_run_is_no_look(audited, tmp_path):
    audited("third", n=10)
    (tmp_path / "first" / "result.json").unlink()
    (tmp_path / "third" / "manifest.json").write_text("{", encoding="utf-8")
    assert audited("second", n=12).combined_with == ()


WIDE = {"n": 48, "n_search": 4, "accuracy_margin": 0.3, "keeps_margin": 0.3, "looks": 4}


def test_targets_are_asked_no_further_once_all_are_decided(toy_audit, asked, monkeypatch, bare):
    audit = partial(toy_audit, "Student", capabilities=["typo"], **WIDE)
    classify = toy_models.Student.classify

    def of_student():
        return {text for model, text in asked if model == "Student"}

    def dies_at_the_second_look(model, texts):
        assert len(of_student()) < 110
        return classify(model, texts)

    with monkeypatch.context() as patch:
        patch.setattr(toy_models.Student, "classify", dies_at_the_second_look)
        with pytest.raises(ScopeError):
            audit(run="killed")
    asked.clear()

    whole = audit(run="whole")
    (verdict,), texts = whole.verdicts, of_student()
    assert (verdict.decision, whole.look, whole.manifest.data[0].used) == ("may replace", 2, 24)
    assert "Decided at look 2, on 24 of 48 planned texts" in verdict.sentence
    assert bare(audit(run="killed")) == bare(whole)

    # An open verdict takes all looks.
    result = audit(run="open", **{**WIDE, "keeps_margin": 0.05})
    (verdict,) = result.verdicts
    assert (verdict.decision, result.look) == ("not shown", 4)
    assert {round(end.estimate.level, 3) for end in verdict.endpoints if end.limit} == {0.957}
    assert len(texts & {each.example.text for each in result.examples}) == 24
