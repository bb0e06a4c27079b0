"""``scope compare`` as a user meets it, on made-up questions and toy models.

Most commands run in this process; what a shell sees is tested where it matters.
"""

import json

import pytest
from killing import stored

COLOURS = ("red", "green", "blue", "white", "black", "brown")


@pytest.fixture
def choices(tmp_path):
    """Forty questions with three or four options and a right one."""
    path = tmp_path / "choices.jsonl"
    rows = [
        {
            "question": f"Which colour has house {place}?",
            "options": [COLOURS[(place + step) % 6] for step in range(3 + place % 2)],
            "answer": place % 3,
        }
        for place in range(40)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def passages(tmp_path):
    """Thirty questions on short passages; every third has no answer."""
    path = tmp_path / "passages.jsonl"
    rows = [
        {
            "question": f"What colour is house {place}?",
            "context": f"House {place} is {COLOURS[place % 6]} and stands by road {place + 7}",
            "answers": [] if place % 3 == 0 else [COLOURS[place % 6]],
        }
        for place in range(30)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def compared(once, choices, passages):
    return once(
        *("compare", "--model", "python:toy_answerers:Reader"),
        *("--model", "python:toy_answerers:Skimmer", "--encoder", "none"),
        *("--task", "choice", "--data", f"choice={choices.name}"),
        *("--task", "extractive_qa", "--data", f"extractive_qa={passages.name}", "--run", "mine"),
    )


def test_a_comparison_prints_a_table_and_writes_a_report(compared, tmp_path):
    assert "whether toy_answerers:Skimmer is" in " ".join(compared.stdout.split())
    assert "choice" in compared.stdout
    assert "extractive_qa" in compared.stdout
    assert "report: runs/mine/report.html" in compared.stderr
    report = (tmp_path / "runs/mine/report.html").read_text(encoding="utf-8")
    assert "Which colour has house 3?" in report


def test_the_command_in_the_result_asks_the_same_again(compared, command, tmp_path):
    result = (tmp_path / "runs/mine/result.json").read_text(encoding="utf-8")
    words = json.loads(result)["manifest"]["command"].split()[1:]
    again = command(*words, "--run", "again")
    assert again.returncode == 0, again.stderr
    assert stored(tmp_path / "runs/again") == stored(tmp_path / "runs/mine")


def test_what_a_model_prints_does_not_spoil_json(run_scope, choices, tmp_path):
    (tmp_path / "chatty.py").write_text(
        "from toy_answerers import Reader\n\n"
        "class Chatty(Reader):\n"
        "    def choose(self, questions):\n"
        "        print('thinking')\n"
        "        return super().choose(questions)\n",
        encoding="utf-8",
    )
    done = run_scope(
        *("compare", "--model", "python:chatty:Chatty", "--model", "python:toy_answerers:Skimmer"),
        *("--task", "choice", "--data", choices, "--json-full"),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["manifest"]["job"] == "compare"
    assert "thinking" in done.stderr


def test_a_table_answers_data_with_ids_of_their_own(command, tmp_path):
    data = tmp_path / "data.jsonl"
    rows = [
        {"id": place + 1, "question": f"Is it {place}?", "options": ["yes", "no"], "answer": letter}
        for place, letter in enumerate("ABBA")
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "answers.tsv").write_text("right\tABBA\nwrong\tBAAB\n")
    done = command(
        *("compare", "--task", "choice", "--data", data, "--encoder", "none"),
        *("--model", "predictions:answers.tsv#*", "--json-full"),
    )
    assert done.returncode == 0, done.stderr
    comparison = json.loads(done.stdout)
    accuracy = {
        row["target"]: row["estimate"]["value"]
        for row in comparison["measurements"]
        if row["metric"] == "accuracy"
    }
    assert accuracy == {"right": 1.0, "wrong": 0.0}
    # A result names questions by their ids: rows would only make it longer.
    assert all("row" not in item["question"] for item in comparison["tasks"][0]["items"])
