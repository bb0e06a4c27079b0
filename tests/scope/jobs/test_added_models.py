"""A run takes further models under its own name, and searches and answers nothing twice."""

from functools import partial

import pytest

from scope.errors import ModelError, RunError
from scope.progress import Lines
from scope.store.folder import RunFolder

STUDENT, STRANGER = "Student", "Stranger"


@pytest.fixture
def audit(toy_audit):
    return partial(toy_audit, capabilities="typo", n=6, run="mine")


@pytest.mark.parametrize("targets", [(STUDENT, STRANGER), (STRANGER, STUDENT)])
def test_a_target_is_added_with_the_numbers_of_a_run_from_scratch(
    audit, asked, tmp_path, capsys, bare, targets
):
    audit(STUDENT)
    asked.clear()
    grown = audit(*targets, progress=Lines())
    # Eight answers of each model that cannot be hashed.
    again = [text for name, text in asked if name == "Reference"]
    assert len(again) == grown.clock.asked_again / 2 == 8
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
    with pytest.raises(ModelError, match="fails at once"):
        audit(STUDENT, "Failing")
    assert bare(audit(STUDENT)) == bare(first)


def test_a_setting_and_a_target_at_once_are_refused(audit):
    audit(STUDENT)
    with pytest.raises(RunError, match=r"seed is 0 in the run, 1 here"):
        audit(STUDENT, STRANGER, seed=1)
