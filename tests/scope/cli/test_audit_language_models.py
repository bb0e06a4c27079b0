"""Language models through the command: by their next token, and by label words."""

import json
import re

import pytest


@pytest.fixture
def arguments(sentences_csv):
    def make(reference, target, *more):
        models = ("--reference", f"python:toy_models:{reference}")
        targets = ("--target", f"python:toy_models:{target}")
        data = ("--data", sentences_csv, "--n", 6, "--capability", "typo")
        return ("audit", *models, *targets, *data, *more)

    return make


def test_next_tokens_are_audited_and_the_printed_command_goes_on(command, arguments, tmp_path):
    given = arguments("Speaker", "YoungSpeaker", "--role", "next_token", "--next-tokens", 3)
    done = command(*given, "--json-full", "--run", "mine")
    assert done.returncode == 0, done.stderr
    comparison = json.loads(done.stdout)
    assert comparison["manifest"]["settings"]["next_tokens"] == 3
    assert len(comparison["examples"][0]["reference"]["tokens"]) == 3
    said = comparison["manifest"]["command"].split()[1:]
    assert said[said.index("--role") :][:2] == ["--role", "next_token"]
    again = command(*said, "--run", "mine", "--json-full")
    assert again.returncode == 0, again.stderr
    assert re.search(r"typo: texts: ([1-9]\d*)/\1,", again.stderr)
    assert json.loads(again.stdout)["measurements"] == comparison["measurements"]
    assert (tmp_path / "runs/mine/report.html").exists()


def test_language_models_classify_with_label_words_and_a_prompt(command, arguments, tmp_path):
    (tmp_path / "mine.txt").write_text("{text}\nIs it {labels}?\n", encoding="utf-8")
    words = ("--label-word", "negative=bad", "--label-word", "positive=very good")
    done = command(
        *arguments(
            "Chooser", "OtherChooser", "--prompt", "classify=mine.txt", *words, "--json-full"
        )
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)["manifest"]["command"]
    assert "--prompt classify=mine.txt" in said
    assert "--label-word negative=bad --label-word 'positive=very good'" in said
