"""A pair's numbers in the schema of Every Eval Ever."""

import json


def test_without_questions_the_file_is_refused_before_the_run(command, tmp_path):
    texts = tmp_path / "texts.jsonl"
    rows = [
        {"text": f"text {place}", "label": ("negative", "positive")[place % 2]}
        for place in range(60)
    ]
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    models = [f"python:toy_models:{name}" for name in ("Reference", "Student")]
    done = command("pair", *models, "--data", texts, "--eee", "eee.json", "--run", "none")
    assert done.returncode == 2, done.stderr
    assert "found:    --eee without a comparison of answers: comparison of" in done.stderr
    assert "expected: data with questions" in done.stderr
    assert "fix:      give such data, or omit --eee" in done.stderr
    assert not (tmp_path / "runs/none").exists()
