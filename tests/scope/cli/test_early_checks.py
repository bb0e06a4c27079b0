"""What can be known before a model is loaded is checked before.

The model's file begins as a GGUF file and holds nothing else: whoever loads it says that it is
damaged, and not what the test waits for.
"""

import json

import pytest

MODEL = "gguf:model.gguf"
WORDS = ("--label-word", "positive=good", "--label-word", "negative=bad")
AUDIT = ("audit", "--reference", MODEL, "--target", "gguf:other.gguf")
REUSE = ("reuse", "--suspect", "gguf:other.gguf", "--reference", MODEL)
CONTROLS = ("--control", "python:toy_models:Student", "--control", "python:toy_models:Stranger")
COMPARE = ("compare", "--model", MODEL, "--model", "gguf:other.gguf", "--task", "choice")


@pytest.fixture
def refused(refused, tmp_path):
    """Runs a command on models that cannot be loaded; gives its message."""
    for name in ("model.gguf", "other.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    (tmp_path / "data.csv").write_text("text,label\na fine film,positive\na dull one,negative\n")
    (tmp_path / "others.csv").write_text("text,label\na fine film,fine\na dull one,dull\n")
    saved = {"text": "a fine film", "probabilities": [0.5, 0.5], "labels": ["fine", "dull"]}
    (tmp_path / "saved.jsonl").write_text(json.dumps(saved))
    question = {"id": "q1", "question": "Who?", "options": ["Ann", "Bob"]}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question))
    (tmp_path / "answers.jsonl").write_text('{"id": "q2", "answer": 0}')
    (tmp_path / "file").touch()

    def run(*arguments):
        message = refused(*arguments)
        assert "GGUF" not in message
        return message

    return run


@pytest.mark.parametrize("job", [AUDIT, (*REUSE, *CONTROLS)], ids=["audit", "reuse"])
@pytest.mark.parametrize(
    ("more", "found"),
    [
        (("--data", "data.csv", *WORDS[:2]), "with 1 label word"),
        (("--data", "others.csv", *WORDS), "gold labels that do not align"),
        (("--data", "data.csv", *WORDS, "--label-map", "x"), "the label map `x`"),
        (("--data", "data.csv", *WORDS, "--capability", "tpyo"), "did you mean `typo`"),
        (("--data", "data.csv", *WORDS, "--setting", "letters=1"), "the setting `letters`"),
        (("--data", "data.csv", *WORDS, "--run", "./file"), "is a file"),
    ],
)
def test_texts_labels_and_settings_are_checked_first(refused, job, more, found):
    assert found in refused(*job, *more)


@pytest.mark.parametrize(
    ("more", "found"),
    [
        (("--candidates", "0", "--gate", "concordance[typo]>=0.4"), "leave out --candidates 0"),
        (("--candidates", "0", "--fail-on", "beyond"), "an audit without verdicts"),
        (("--gate", "soft_scope(cutoff=0.5)>=0.4"), "add --metric 'soft_scope(tolerance=0.1, cut"),
        (("--min-similarity", "2"), "at least -1 and at most 1"),
        (("--baseline", MODEL), "the reference itself as the baseline"),
    ],
)
def test_what_an_audit_leaves_out_is_known_first(refused, more, found):
    assert found in refused(*AUDIT, "--data", "data.csv", *WORDS, *more)


def test_labels_of_saved_predictions_are_compared_first(refused):
    message = refused(*AUDIT, "--target", "predictions:saved.jsonl", "--data", "data.csv", *WORDS)
    assert "labels that do not align" in message


def test_a_missing_file_of_any_model_is_noticed_first(refused):
    message = refused(*AUDIT, "--target", "gguf:none.gguf", "--data", "data.csv", *WORDS)
    assert "no file `none.gguf`" in message


@pytest.mark.parametrize(
    ("more", "found"),
    [
        (("--gate", "capa[nobody]>=0.5"), "`nobody`"),
        (("--model", "predictions:answers.jsonl"), "no answer to 1 of 1 questions"),
        (("--model", "gguf:none.gguf"), "no file `none.gguf`"),
    ],
)
def test_a_comparison_checks_gates_saved_answers_and_files_first(refused, more, found):
    assert found in refused(*COMPARE, "--data", "questions.jsonl", *more)
