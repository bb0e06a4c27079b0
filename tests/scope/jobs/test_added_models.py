"""A run takes further models under its own name, and searches and answers nothing twice."""

from functools import partial

import pytest
import toy_models
from made_up_suspects import write_world

import scope
from scope.errors import ModelError, RunError
from scope.progress import Lines
from scope.store import RunFolder

STUDENT, STRANGER = "Student", "Stranger"


@pytest.fixture
def audit(toy_audit):
    return partial(toy_audit, capabilities="typo", n=6, run="mine")


@pytest.mark.parametrize("targets", [(STUDENT, STRANGER), (STRANGER, STUDENT)])
def test_a_target_is_added_with_the_numbers_of_a_run_from_scratch(
    audit, tmp_path, monkeypatch, capsys, bare, targets
):
    audit(STUDENT)
    asked = []
    classify = toy_models.Reference.classify

    def counting(model, texts):
        if type(model) is toy_models.Reference:
            asked.extend(texts)
        return classify(model, texts)

    monkeypatch.setattr(toy_models.Reference, "classify", counting)
    grown = audit(*targets, progress=Lines())
    # One answer of a model that cannot be hashed.
    assert len(asked) == grown.clock.asked_again / 2 == 1
    assert "reuses 66 searches and " in capsys.readouterr().err
    assert bare(grown) == bare(audit(*targets, runs=tmp_path / "others"))
    names = [one.name for one in grown.manifest.targets]
    stored = RunFolder(tmp_path / "runs" / "mine").read_configuration()["targets"]
    assert [one["name"] for one in stored] == names


def test_targets_cannot_be_removed_or_reordered(audit):
    audit(STUDENT, STRANGER)
    for targets in ([STUDENT], [STRANGER, STUDENT], [STRANGER]):
        with pytest.raises(RunError, match="with different arguments: targets"):
            audit(*targets)


def test_a_session_that_fails_leaves_the_run_as_it_was(audit, bare):
    first = audit(STUDENT)
    with pytest.raises(ModelError):
        audit(STUDENT, "NotANumber")
    again = audit(STUDENT)
    assert bare(again) == bare(first)


def test_a_setting_and_a_target_at_once_are_refused(audit):
    audit(STUDENT)
    with pytest.raises(RunError, match=r"seed is 0 in the run, 1 here"):
        audit(STUDENT, STRANGER, seed=1)


def test_controls_are_added_to_a_test_of_reuse(tmp_path, without_pages, bare):
    write_world(tmp_path)
    names = [f"predictions:{tmp_path}/controls.tsv#c{number}" for number in range(5)]

    def reuse(controls, run):
        return scope.reuse(
            suspect=f"predictions:{tmp_path}/suspects.tsv#copy",
            references=f"predictions:{tmp_path}/suspects.tsv#ours",
            controls=controls,
            task="choice",
            data=str(tmp_path / "questions.jsonl"),
            n=40,
            run=run,
            runs=tmp_path / "runs",
        )

    reuse(names[1:], "mine")
    assert bare(reuse(names, "mine")) == bare(reuse(names, "scratch"))
    with pytest.raises(RunError, match="with different arguments: controls"):
        reuse(names[:-1], "mine")
