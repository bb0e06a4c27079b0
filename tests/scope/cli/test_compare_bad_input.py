"""Every mistake in a comparison ends in one screen that says what was found and how to fix it.

Each goes through the command in this process.
"""

import json

import pytest
from tiny_heads import write_tiny_bert_qa

READER, SKIMMER = "python:toy_answerers:Reader", "python:toy_answerers:Skimmer"


def rows(path, *given):
    path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    return path


@pytest.fixture
def choices(tmp_path):
    """Four questions with two options, under ids of their own."""
    return rows(
        tmp_path / "choices.jsonl",
        *(
            {"id": f"q{place}", "question": f"Is it {place}?", "options": ["yes", "no"]}
            for place in range(4)
        ),
    )


def compare(task, data, *models, more=()):
    named = [word for one in models for word in ("--model", one)]
    return ["compare", "--task", task, "--data", data, *named, "--encoder", "none", *more]


def test_a_checkpoint_without_the_role_is_refused_with_its_roles(refused, choices, tmp_path):
    write_tiny_bert_qa(tmp_path / "reads")
    message = refused(*compare("choice", choices, tmp_path / "reads", READER))
    assert "with the roles: answerer" in message
    assert "a model in the role of choice_scorer" in message


@pytest.mark.parametrize("letters", ["ABB", "ABBAB"])
def test_a_table_of_another_length_than_the_data_is_refused(refused, choices, tmp_path, letters):
    (tmp_path / "answers.tsv").write_text(f"first\t{letters}\nsecond\t{letters}\n")
    message = refused(*compare("choice", choices, "predictions:answers.tsv#*"))
    assert "4 rows in " in message
    assert f"answers.tsv with {len(letters)} answers a model, by row" in message


def test_a_table_answers_data_with_ids_of_their_own(command, tmp_path):
    data = rows(
        tmp_path / "data.jsonl",
        *(
            {"id": place + 1, "question": f"Is it {place}?", "options": ["yes", "no"], "answer": it}
            for place, it in enumerate("ABBA")
        ),
    )
    (tmp_path / "answers.tsv").write_text("right\tABBA\nwrong\tBAAB\n")
    done = command(*compare("choice", data, "predictions:answers.tsv#*"), "--json-full")
    assert done.returncode == 0, done.stderr
    comparison = json.loads(done.stdout)
    accuracy = {
        one["target"]: one["estimate"]["value"]
        for one in comparison["measurements"]
        if one["metric"] == "accuracy"
    }
    assert accuracy == {"right": 1.0, "wrong": 0.0}
    # A result names questions by their ids: rows would only make it longer.
    assert all("row" not in one["question"] for one in comparison["tasks"][0]["items"])


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("classify", "the prompt `classify`, which none of the tasks uses"),
        ("choice", "the prompt's file `/nonexistent` cannot be read"),
    ],
)
def test_a_prompt_that_is_of_no_use_is_refused(refused, choices, name, found):
    more = ("--prompt", f"{name}=/nonexistent")
    assert found in refused(*compare("choice", choices, READER, SKIMMER, more=more))
