"""Kinds: hand-made folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from scope.errors import RunError
from scope.store import Run, RunEntry, list_runs


def test_runs_are_listed_by_name_with_what_they_ask(tmp_path: Path) -> None:
    question = {
        "job": "audit",
        "reference": {"spec": "hf:a", "fingerprint": "f"},
        "targets": ["hf:b", {"name": "c", "spec": "hf:c"}],
    }
    Run.open(tmp_path / "second", question).close()
    Run.open(tmp_path / "first", {"job": "reuse"}).close()
    (tmp_path / "second" / "comparison.json").write_text("{}")
    (tmp_path / "note.txt").touch()
    first, second = list_runs(tmp_path)
    assert first == RunEntry(name="first", job="reuse", size=first.size)
    assert second == RunEntry(
        name="second",
        job="audit",
        reference="hf:a",
        targets=("hf:b", "c"),
        finished=True,
        size=second.size,
    )
    files = [path for path in (tmp_path / "second").iterdir() if path.is_file()]
    assert second.size == sum(path.stat().st_size for path in files) > 0


@pytest.mark.parametrize(
    ("stated", "encoder", "shown"),
    [
        (["to the byte, at least 4 rows a product", "to the byte"], "", "to the byte"),
        (["to the byte", "to about 9e-07", "to about 1e-05"], "", "to about 1e-05"),
        (["to the byte"], "to about 2e-07", "to about 2e-07"),
        (["to the byte", ""], "", ""),
        ([], "", ""),
    ],
)
def test_a_run_is_as_reproducible_as_its_least_model_or_encoder(tmp_path, stated, encoder, shown):
    models = [{"reproducible": statement} for statement in stated]
    notes = {"models": models, "encoder_reproducible": encoder}
    Run.open(tmp_path / "mine", {"job": "audit"}, notes=notes).close()
    assert list_runs(tmp_path)[0].reproducible == shown


def test_broken_folders_are_listed_with_the_reason(tmp_path: Path) -> None:
    for name, content in {"a": None, "b": "{", "c": '{"format": 9, "question": {}}'}.items():
        (tmp_path / name).mkdir()
        if content is not None:
            (tmp_path / name / "manifest.json").write_text(content)
    (tmp_path / "d" / "manifest.json").mkdir(parents=True)
    reasons = [entry.broken for entry in list_runs(tmp_path)]
    assert reasons[0] == "it has no manifest.json"
    assert "is damaged: " in reasons[1]
    assert "has format 9" in reasons[2]
    assert "cannot be read" in reasons[3]


def test_a_question_of_unknown_shape_is_listed_all_the_same(tmp_path: Path) -> None:
    Run.open(tmp_path / "odd", {"job": 3, "reference": [1], "targets": "all"}).close()
    (entry,) = list_runs(tmp_path)
    assert (entry.job, entry.reference, entry.targets, entry.broken) == ("", "", (), None)


def test_a_root_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="Not a directory"):
        list_runs(tmp_path / "file")
