"""Which models an audit takes, and in which role."""

import pytest
from estimates import main_estimates

from scope.errors import SpecError
from scope.models import ModelOptions

WORDS = {"negative": "bad", "positive": "good"}


def chooser_audit(toy_audit, tmp_path, **options):
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("{text} - {labels}?", encoding="utf-8")
    return toy_audit(
        "OtherChooser",
        "Student",
        **{
            "reference": "python:toy_models:Chooser",
            "capabilities": ["typo"],
            "label_column": "none",
            "model_options": ModelOptions(label_words=WORDS, prompts={"classify": prompt}),
            **options,
        },
    )


def test_language_models_with_label_words_are_audited_beside_classifiers(toy_audit, tmp_path):
    comparison = chooser_audit(toy_audit, tmp_path)
    reference, other, student = comparison.manifest.models
    assert reference.labels == other.labels == student.labels == ("negative", "positive")
    assert main_estimates(comparison, "hard_scope").keys() == {
        ("typo", "toy_models:OtherChooser"),
        ("typo", "toy_models:Student"),
    }
    command = comparison.manifest.command
    assert f"--prompt classify={tmp_path / 'prompt.txt'}" in command
    assert "--label-word negative=bad --label-word positive=good" in command


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"role": "next_tokn"}, "--role 'next_tokn'"),
        ({"role": "next_token", "label_map": ["a=b"]}, "--label-map in the role next_token"),
        ({"role": "next_token", "label_column": "label"}, "--label-column in the role"),
        (
            {
                "role": "next_token",
                "model_options": ModelOptions(label_words=WORDS, prompts={"classify": "{text}"}),
            },
            "--label-word and --prompt in the role",
        ),
        ({"model_options": ModelOptions(label_words=WORDS)}, "no language model among"),
        (
            {"model_options": ModelOptions(prompts={"classify": "{text} {labels}"})},
            "no language model among",
        ),
        ({"model_options": ModelOptions(prompts={"classify": "words"})}, "the prompt classify"),
        ({"role": "next_token", "targets": []}, "no target"),
    ],
)
def test_what_does_not_fit_the_role_is_refused_before_any_work(
    toy_audit, tmp_path, options, message
):
    with pytest.raises(SpecError) as caught:
        toy_audit("Student", **options)
    assert message in str(caught.value)
    assert not (tmp_path / "runs").exists()
