"""Language models through the command, by label words."""

import json


def test_language_models_classify_with_label_words_and_a_prompt(command, sentences_csv, tmp_path):
    (tmp_path / "mine.txt").write_text("{text}\nIs it {labels}?\n", encoding="utf-8")
    words = ("--label-word", "negative=bad", "--label-word", "positive=very good")
    done = command(
        *("audit", "--reference", "python:toy_models:Chooser", "--data", sentences_csv),
        *("--target", "python:toy_models:OtherChooser", "--n", 6, "--capability", "typo"),
        *("--prompt", "classify=mine.txt", *words, "--json-full"),
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)["manifest"]["command"]
    assert "--prompt classify=mine.txt" in said
    assert "--label-word negative=bad --label-word 'positive=very good'" in said
