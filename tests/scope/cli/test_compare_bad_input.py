"""Every mistake in a comparison ends in one screen that says what was found and how to fix it.

Each goes through the command in this process.
"""

import json

import pytest
from stub_server import refuse, stub_server
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


def test_a_classifier_fills_no_blanks(refused, tmp_path):
    path = tmp_path / "book.txt"
    path.write_text("The old house by the river was sold to a painter last winter.\n")
    models = (READER, "python:toy_models:Reference")
    message = refused(*compare("cloze", f"text:{path}", *models))
    assert "with the roles: classifier" in message
    assert "a model in the role of mask_filler" in message


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"options": ["yes"]}, "line 3 of choices.jsonl: 1 option"),
        ({"options": []}, "line 3 of choices.jsonl: 0 options"),
        ({"answer": 2}, "line 3 of choices.jsonl: the answer is the option 2, counted from 0"),
        ({"answer": "C"}, "line 3 of choices.jsonl: the answer is the option C of 2"),
    ],
)
def test_a_question_that_cannot_be_asked_is_told_by_its_line(refused, tmp_path, change, found):
    good = {"question": "Is it?", "options": ["yes", "no"], "answer": 1}
    path = rows(tmp_path / "choices.jsonl", good, good, good | change)
    assert found in refused(*compare("choice", path, READER, SKIMMER))


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ({"probabilities": [0.5, 0.4]}, "line 2 of saved.jsonl: `probabilities` is [0.5, 0.4]"),
        ({"answer": "C"}, "line 2 of saved.jsonl: the answer is the option C of 2"),
        (
            {"answer": 0, "probabilities": [0.1, 0.9]},
            "line 2 of saved.jsonl: the answer is the option 0, counted from 0, where",
        ),
    ],
)
def test_a_saved_answer_that_is_none_is_told_by_its_line(refused, choices, tmp_path, row, found):
    saved = [{"id": f"q{place}", "answer": 1} for place in range(4)]
    saved[1] = {"id": "q1"} | row
    path = rows(tmp_path / "saved.jsonl", *saved)
    assert found in refused(*compare("choice", choices, READER, f"predictions:{path}"))


def test_ids_that_differ_between_two_files_of_answers_are_counted_and_named(
    refused, choices, tmp_path
):
    def saved(name, *ids):
        path = rows(tmp_path / f"{name}.jsonl", *({"id": one, "answer": 0} for one in ids))
        return f"predictions:{path}"

    models = (saved("a", "q0", "q1", "q2", "q3"), saved("b", "q0", "Q1", "q2", "Q3"))
    message = refused(*compare("choice", choices, *models))
    assert "b.jsonl has no answer to 2 of 4 questions: `q1`, `q3`" in message
    assert "2 rows under other ids: `Q1`, `Q3`" in message


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


def test_an_endpoint_that_wants_a_key_names_the_variable(refused, choices):
    with stub_server() as stub:
        stub.models = refuse(401, "no key")
        stub.check = lambda body: refuse(401, "no key")
        message = refused(
            *compare("choice", choices, READER, f"openai:{stub.url}#stub-model"), OPENAI_API_KEY=""
        )
    assert "OPENAI_API_KEY" in message


def test_an_endpoint_that_is_not_there_is_named(refused, choices):
    more = ("--retries", "0")
    message = refused(
        *compare("choice", choices, READER, "openai:http://127.0.0.1:9/v1#x", more=more)
    )
    assert "http://127.0.0.1:9/v1" in message


def test_next_tokens_of_an_endpoint_without_log_probabilities_are_refused(refused, sentences_csv):
    with stub_server() as stub:
        stub.logprobs = False
        spec = f"openai:{stub.url}#stub-model"
        message = refused(
            *("audit", "--role", "next_token", "--reference", spec, "--target", spec),
            *("--data", sentences_csv, "--n", 4, "--capability", "typo"),
        )
    assert "gives no log-probabilities" in message


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


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (
            "return [Answer(choice=0) for _ in questions]",
            "`mine` answers with Answer(text=None, choice=0",
        ),
        (
            "return 1 / 0",
            "`python:mine:Model` failed in `choose`: ZeroDivisionError: division by zero",
        ),
        (
            "yield 0, Answer(choice=0, probabilities=(float('nan'), 1.0))",
            "`mine` answers 'Is it 0?' with the probabilities (nan, 1.0) for 2 options",
        ),
    ],
)
def test_a_users_own_object_that_answers_wrongly_is_told(refused, choices, tmp_path, body, found):
    (tmp_path / "mine.py").write_text(
        "from scope.records import Answer\n"
        "class Model:\n"
        "    spec = fingerprint = 'mine'\n"
        f"    def choose(self, questions):\n        {body}\n"
    )
    asked = compare("choice", choices, READER, "python:mine:Model")
    assert found in refused(*asked, keeps_answers=True)
