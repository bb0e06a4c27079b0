"""``scope compare`` as a user meets it, on made-up questions and toy models.

Most commands run in this process; what a shell sees is tested where it matters.
"""

import json

import pytest
from killing import stored
from tiny_heads import write_tiny_bert_qa

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


@pytest.mark.parametrize(
    ("changes", "found", "fix"),
    [
        ({"data": "missing.jsonl"}, "no file `missing.jsonl`", "did you mean `choices.jsonl`"),
        ({"model": "python:toy_answerers:TooFew"}, "39 answers to 40 questions", "fix the code"),
        ({"model": "python:toy_answerers:Wrong"}, "the option", "fix the model"),
        ({"model": "python:toy_answerers:Reader"}, "is listed twice", "leave one of them out"),
        ({"prompt": "answr=x.txt"}, "a prompt called `answr`", "--prompt answer=FILE"),
        ({"prompt": "classify=x.txt"}, "`classify`, which none of the tasks uses", "leave it out"),
        ({"prompt": "choice=x.txt"}, "the prompt's file `x.txt` cannot be read", "check"),
        ({"fail-under": "hard_scope=0.5"}, "the gate `hard_scope=0.5`", "accuracy"),
    ],
)
def test_a_mistake_ends_in_one_clear_message(refused, choices, changes, found, fix):
    options = {
        "model": "python:toy_answerers:Skimmer",
        "task": "choice",
        "data": choices,
        **changes,
    }
    message = refused(
        *("compare", "--model", "python:toy_answerers:Reader"),
        *(word for name, value in options.items() for word in (f"--{name}", value)),
        keeps_answers=True,
    )
    assert found in message
    assert fix in message


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


def test_a_file_without_its_scheme_is_told_apart_from_a_checkpoint(command, choices):
    asked = ("compare", "--model", "python:toy_answerers:Reader", "--task", "choice")
    done = command(*asked, "--model", choices, "--data", choices)
    assert done.returncode == 2
    assert f"did you mean predictions:{choices}?" in done.stderr
    assert "at least two models" in command(*asked, "--data", choices).stderr


def compare(data, *models):
    named = [word for model in models for word in ("--model", model)]
    return ["compare", "--task", "choice", "--data", data, *named, "--encoder", "none"]


def test_a_checkpoint_without_the_role_is_refused_with_its_roles(refused, choices, tmp_path):
    write_tiny_bert_qa(tmp_path / "reads")
    message = refused(*compare(choices, tmp_path / "reads", "python:toy_answerers:Reader"))
    assert "with the roles: answerer" in message
    assert "a model in the role of choice_scorer" in message


@pytest.mark.parametrize("letters", ["ABB", "ABBAB"])
def test_a_table_of_another_length_than_the_data_is_refused(refused, choices, tmp_path, letters):
    (tmp_path / "answers.tsv").write_text(f"first\t{letters}\nsecond\t{letters}\n")
    message = refused(*compare(choices, "predictions:answers.tsv#*"))
    assert "40 rows in " in message
    assert f"answers.tsv with {len(letters)} answers a model, by row" in message


def test_a_table_answers_data_with_ids_of_their_own(command, tmp_path):
    data = tmp_path / "data.jsonl"
    rows = [
        {"id": place + 1, "question": f"Is it {place}?", "options": ["yes", "no"], "answer": letter}
        for place, letter in enumerate("ABBA")
    ]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (tmp_path / "answers.tsv").write_text("right\tABBA\nwrong\tBAAB\n")
    done = command(*compare(data, "predictions:answers.tsv#*"), "--json-full")
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
