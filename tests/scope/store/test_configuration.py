"""Kinds: hand-written messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scope.errors import RunError
from scope.store.folder import RunFolder, keep_configuration

QUESTION = {
    "job": "audit",
    "seed": 0,
    "targets": [{"spec": "hf:b", "fingerprint": "f"}],
    "tolerance": 0.1,
}


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "manifest.json"
    keep_configuration(path, QUESTION, {"versions": {"scope": "0.1"}})
    return path


def test_the_manifest_holds_question_and_notes(manifest: Path) -> None:
    assert json.loads(manifest.read_text(encoding="utf-8")) == {
        "format": 1,
        "notes": {"versions": {"scope": "0.1"}},
        "question": QUESTION,
    }
    assert RunFolder(manifest.parent).read_configuration() == QUESTION


def refused(path: Path, question: dict[str, object]) -> RunError:
    with pytest.raises(RunError) as caught:
        keep_configuration(path, question, {})
    return caught.value


@pytest.mark.parametrize(
    ("held", "given", "found"),
    [
        (
            QUESTION,
            {key: one for key, one in QUESTION.items() if key != "tolerance"}
            | {"seed": 1, "targets": [{"spec": "hf:c", "fingerprint": "f"}]},
            'seed is 0 in the run, 1 here; targets[0].spec is "hf:b" in the run, "hf:c" here; '
            "tolerance is 0.1 in the run, absent here",
        ),
        (
            QUESTION,
            QUESTION | {"targets": []},
            "targets is absent in the run, [] here; "
            'targets[0].fingerprint is "f" in the run, absent here; '
            'targets[0].spec is "hf:b" in the run, absent here',
        ),
        (
            {"settings": {"n": 1}},
            {"settings": {"k": True}},
            "k is absent in the run, true here; n is 1 in the run, absent here",
        ),
    ],
    ids=["several", "left out", "settings"],
)
def test_another_question_is_refused_with_all_that_differs(tmp_path, held, given, found) -> None:
    path = tmp_path / "manifest.json"
    keep_configuration(path, held, {})
    error = refused(path, given)
    run = f"run `{tmp_path.name}` was started with different arguments: "
    assert error.found == f"{run}{found}"
    assert error.fix == f"choose another name with --run, or delete the folder `{tmp_path}`"
    assert RunFolder(path.parent).read_configuration() == held


def test_models_that_change_the_form_of_the_question_are_refused_with_the_reason(tmp_path) -> None:
    path = tmp_path / "manifest.json"
    keep_configuration(path, {"targets": ["a"], "settings": {"n": 1}}, {})
    error = refused(path, {"targets": ["a", "b"], "settings": {"n": 1, "ask": "letters"}})
    assert "for words; with these models all would be asked for letters" in error.found
    assert "endpoints answer with letters alone" in error.expected


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "damaged: Expecting value"),
        (b"[1]", "damaged: it contains no configuration"),
        (b'{"format": 1}', "damaged: it contains no configuration"),
        (b"\xff\xfe", "damaged: it is not UTF-8 text"),
        (b'{"format": 2, "question": {}}', "has format 2"),
    ],
)
def test_an_unreadable_manifest_is_refused_and_kept(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(content)
    assert complaint in refused(path, QUESTION).found
    assert path.read_bytes() == content
